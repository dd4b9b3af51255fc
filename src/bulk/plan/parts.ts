import { isRetailer } from '../../journal/summed-limit.ts';
import { UsageError } from '../../platform/errors.ts';
import { isInShard, type Shard, shardLine } from '../check/check.ts';
import { rowsText } from '../check/row-sample.ts';
import { isNew, rangesText } from './file.ts';
import type { ReadPlan } from './read.ts';

export interface Part {
  /** Retailers, by host or name. */
  readonly only?: readonly string[] | undefined;
  /** Ranges of row numbers, such as `2-201` or `17`. */
  readonly rows?: readonly string[] | undefined;
  readonly shard?: Shard | undefined;
}

/**
 * Selects the rows of a plan by `--only`, `--rows` and `--shard`. A shard may contain no rows. @throws UsageError
 * naming the value that leaves no rows.
 */
export function chosenRows({ path, rows }: ReadPlan, { only, rows: ranges, shard }: Part): ReadPlan['rows'] {
  const numbers = ranges && chosenNumbers(path, rows, ranges);
  const names = only && chosenNames(path, rows, only);
  const chosen = rows.filter(
    ({ number, planned }) =>
      (!numbers || numbers.has(number)) &&
      (!names || names.some((name) => isRetailer(name, planned.retailers))),
  );
  if (chosen.length === 0) throw new UsageError(`--only and --rows together leave no row of ${path}`);
  return shard ? chosen.filter(({ key }) => isInShard(shard, key)) : chosen;
}

function chosenNumbers(path: string, rows: ReadPlan['rows'], ranges: readonly string[]): Set<number> {
  const chosen = new Set<number>();
  for (const range of ranges.map((one) => one.trim())) {
    const [, from = '', to = from] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range) ?? [];
    if (from === '' || Number(from) > Number(to))
      throw new UsageError(
        `--rows: "${range}" is not a row or a range of rows; write 17 or 2-201, as in 2,5-9`,
      );
    const found = rows.filter(({ number }) => number >= Number(from) && number <= Number(to));
    const ends = new Set(found.map(({ number }) => number));
    const missing = [from, to].map(Number).find((end) => !ends.has(end));
    if (missing !== undefined)
      throw new UsageError(
        `--rows: ${path} has no row ${found.length === 0 ? range : missing}; it has ${shortRanges(rows)}, as the file numbers them`,
      );
    for (const { number } of found) chosen.add(number);
  }
  return chosen;
}

/** Maximum length of the row ranges in a message, in characters. */
const maxLength = 100;

function shortRanges(rows: ReadPlan['rows']): string {
  const text = rangesText(rows.map(({ number }) => number));
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

function chosenNames(path: string, rows: ReadPlan['rows'], only: readonly string[]): string[] {
  const known = [...new Set(rows.flatMap(({ planned }) => planned.retailers))].sort();
  return only.map((given) => {
    const name = given.trim().toLowerCase();
    if (isRetailer(name, known)) return name;
    throw new UsageError(
      `--only: no row of ${path} is of "${given}"; its retailers are ${known.slice(0, 20).join(', ')}`,
    );
  });
}

/**
 * Describes the rest of the plan that remains after applying a part. @param sent holds the numbers of the rows that the
 * plan's upload has sent.
 */
export function restLine(
  read: ReadPlan,
  selected: ReadPlan['rows'],
  sent: ReadonlySet<number>,
  shard: Shard | undefined,
): string[] {
  if (shard) return [`${shardLine(shard, selected.length, read.rows.length)} of the plan`];
  const taken = new Set([...sent, ...selected.map(({ number }) => number)]);
  const rest = read.rows
    .filter(({ number, planned }) => isNew(planned) && !taken.has(number))
    .map(({ number }) => number);
  if (rest.length === 0) return [];
  return [
    `${rowsText(rest.length)} of the plan left out: ${rangesText(rest)}; the same plan applies them later`,
  ];
}
