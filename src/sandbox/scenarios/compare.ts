/** Where a value is another than it was to be. */
export interface Difference {
  /** `items.0.status`; empty for the whole. */
  readonly field: string;
  readonly expected: unknown;
  /** undefined where there is no such field. */
  readonly actual: unknown;
}

/** As many are told of one check. */
const mostTold = 20;

/** Where a value lacks what it must have: of an object these fields among others, of a list each of its rows. */
export const differences = (expected: unknown, actual: unknown): Difference[] =>
  [...compare(expected, actual, [])].slice(0, mostTold);

function* compare(expected: unknown, actual: unknown, path: readonly string[]): Generator<Difference> {
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    for (const [index, one] of expected.entries())
      yield* compare(one, actual[index], [...path, String(index)]);
    return;
  }
  if (isRecord(expected) && isRecord(actual)) {
    for (const [field, one] of Object.entries(expected))
      yield* compare(one, Object.hasOwn(actual, field) ? actual[field] : undefined, [...path, field]);
    return;
  }
  if (expected === actual) return;
  yield { field: path.join('.'), expected, actual };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
