import { compile, type JSONValue, TreeInterpreter } from '@jmespath-community/jmespath';
import { OutputError, UsageError } from '../../platform/errors.ts';
import { syntaxProblem } from './query-error.ts';

export type Query = (value: unknown) => unknown;

/**
 * A JMESPath expression as a function of plain JSON.
 * @throws UsageError naming `--query` for what cannot be parsed; when applied, OutputError for what cannot be computed.
 */
export function compileQuery(expression: string): Query {
  const shown = JSON.stringify(expression);
  const tree = attempt(
    () => compile(expression),
    (cause) =>
      new UsageError(`--query ${shown} is not valid JMESPath: ${syntaxProblem(expression, textOf(cause))}`, {
        cause,
      }),
  );
  return (value) =>
    attempt(
      () => TreeInterpreter.search(tree, bare(value)),
      (cause) => new OutputError('usage', `--query ${shown}: ${textOf(cause)}`, { cause }),
    );
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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
