import { UsageError } from '../../platform/errors.ts';
import type { Difference } from './differences.ts';
import { walletAccount } from './entry.ts';
import { type BooksFormat, type BooksRead, readable } from './format.ts';

/** What stands in a file, by the name that it was given. @throws UsageError for a file that is not ours, or not whole. */
export function standingIn(out: string, raw: string, format: BooksFormat, wallet: string): BooksRead {
  const text = readable(raw);
  const wrong = format.refuses(text, { wallet });
  if (wrong !== undefined)
    throw new UsageError(`--out ${out} ${wrong}; nothing was added to it`, {
      hint: 'Name another file, and include it in yours.',
    });
  const found = format.read(text);
  if (found.broken === undefined) return found;
  const { line, message } = found.broken;
  throw new UsageError(`${out}, line ${line}: ${message}`, { hint: 'Nothing was added to the file.' });
}

export const leftOutNote = (count: number): string =>
  `${count === 1 ? '1 entry is' : `${count} entries are`} left out: OFX is a statement of the wallet, and the wallet did not pay for ${count === 1 ? 'it' : 'them'}`;

export const othersNote = (count: number): string =>
  `${count === 1 ? '1 entry of your own moves' : `${count} entries of your own move`} ${walletAccount} too; the wallet by these entries is without ${count === 1 ? 'it' : 'them'}`;

/** Differences that are named one by one. */
const mostNamed = 5;

export function differenceNotes(out: string, differences: readonly Difference[]): string[] {
  const more = differences.length - mostNamed;
  return [
    ...differences.slice(0, mostNamed).map(({ line, message }) => `${out}, line ${line}: ${message}`),
    ...(more > 0 ? [`${more} more entries differ from what errand wrote`] : []),
  ];
}
