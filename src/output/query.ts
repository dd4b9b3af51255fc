import { compile, type JSONValue, TreeInterpreter } from '@jmespath-community/jmespath';
import { UsageError } from '../errors.ts';

export type Query = (value: unknown) => unknown;

/**
 * A JMESPath expression as a function of plain JSON.
 * @throws UsageError naming `--query`, at once for what cannot be parsed, when applied for what cannot be computed.
 */
export function compileQuery(expression: string): Query {
  const tree = guarded(expression, () => compile(expression));
  return (value) => guarded(expression, () => TreeInterpreter.search(tree, bare(value)));
}

function guarded<T>(expression: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // The request may well have been sent by now, so nothing is said about it.
    throw new UsageError(`--query ${JSON.stringify(expression)}: ${reason}`, {
      outcome: undefined,
      cause: error,
    });
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
