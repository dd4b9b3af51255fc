import { compile, type JSONValue, TreeInterpreter } from '@jmespath-community/jmespath';
import { type ErrorFacts, OutputError, UsageError } from '../errors.ts';

export type Query = (value: unknown) => unknown;

/**
 * A JMESPath expression as a function of plain JSON.
 * @throws UsageError naming `--query` for what cannot be parsed; when applied, OutputError for what cannot be computed.
 */
export function compileQuery(expression: string): Query {
  const wrong = (error: unknown): readonly [message: string, facts: ErrorFacts] => {
    const reason = error instanceof Error ? error.message : String(error);
    return [`--query ${JSON.stringify(expression)}: ${reason}`, { cause: error }];
  };
  const tree = attempt(
    () => compile(expression),
    (error) => new UsageError(...wrong(error)),
  );
  return (value) =>
    attempt(
      () => TreeInterpreter.search(tree, bare(value)),
      (error) => new OutputError('usage', ...wrong(error)),
    );
}

function attempt<T>(work: () => T, failed: (error: unknown) => Error): T {
  try {
    return work();
  } catch (error) {
    throw failed(error);
  }
}

/** A copy whose objects have no prototype: the library reads fields without asking whose they are. */
function bare(value: unknown): JSONValue {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value === 'object' && value !== null) {
    const copy: Record<string, JSONValue> = Object.create(null);
    for (const [key, member] of Object.entries(value)) copy[key] = bare(member);
    return copy;
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
