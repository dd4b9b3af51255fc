import { isScalar, type Scalar } from 'yaml';
import { UsageError } from '../platform/errors.ts';

/** An amount whose commas have made entries of its own digits: `{ per_month: $9,000,000 }`. */
interface CutAmount {
  readonly amount: string;
  /** Where it begins in the text. */
  readonly at: number;
}

/** An entry within braces or brackets; of a list the key is the value. */
interface Entry {
  readonly key: unknown;
  readonly value: unknown;
}

/** The first amount that is cut; undefined where there is none. @param isList an amount there has its currency. */
export function cutAmount(entries: readonly Entry[], isList = false): CutAmount | undefined {
  for (const [index, { value }] of entries.entries()) {
    const first = plain(value);
    if (!first || !(isList ? currencyFirst : anyDigits).test(first.source)) continue;
    const digits: string[] = [];
    for (let next = entries[index + 1]; next; next = entries[index + 1 + digits.length]) {
      const more = isList || isMissing(next.value) ? plain(next.key)?.source : undefined;
      if (more === undefined || !rest.test(more)) break;
      digits.push(more);
    }
    if (digits.length > 0) return { amount: [first.source, ...digits].join(','), at: first.at };
  }
  return undefined;
}

/** What a user can write in its place. */
export function commaWithin(
  where: 'braces' | 'brackets',
  name: string,
  text: string,
  { amount, at }: CutAmount,
): UsageError {
  const line = text.slice(0, at).split('\n').length;
  const bare = amount.replaceAll(',', '');
  const remedy = /^[\d,.+-]+$/.test(amount)
    ? `within ${where} write a number without commas: ${bare}`
    : `within ${where} an amount with a comma needs quotes: "${amount}"`;
  return new UsageError(`${name}, line ${line}: the comma ends the value of ${amount}; ${remedy}`);
}

const anyDigits = /^\D{0,5}\d{1,3}(?:\.\d{3})*$/;
const currencyFirst = /^(?:[$€£¥]|[A-Z]{3} ?)\d{1,3}(?:\.\d{3})*$/;
/** Three digits of a thousand, or the two of cents; a currency may stand behind the last. */
const rest = /^(?:\d{3}|\d{2})(?:\.\d{1,2})?(?: ?(?:[$€£¥]|[A-Z]{3}))?$/;

/** A key without a colon. */
const isMissing = (value: unknown): boolean => value === null || (isScalar(value) && value.source === '');

/** A scalar without quotes, as it is written. */
function plain(node: unknown): { readonly source: string; readonly at: number } | undefined {
  if (!isScalar(node) || (node.type satisfies Scalar.Type | undefined) !== 'PLAIN') return undefined;
  const { source, range } = node;
  return source === undefined || !range ? undefined : { source, at: range[0] };
}
