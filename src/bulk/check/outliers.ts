import { formatMoney } from '../../format/money.ts';
import { rowsText } from './row-sample.ts';

/** Amounts are counted in classes. Amounts of one class differ by less than 1 %. */
const classWidth = Math.log(1.01);
/** Minimum number of rows that define a usual amount. */
const minRows = 4;
/** An outlier is at least this many times the median, or at most the median divided by this factor. */
const minFactor = 5;
/**
 * An outlier is also at least this many median absolute deviations away from the median, on a logarithmic scale. In a
 * normal distribution, this equals 5 standard deviations.
 */
const minDeviations = 5 * 1.4826;
/**
 * Maximum number of outliers: this many rows or this share of the file, whichever is more. If a file has more outliers,
 * all its amounts count as usual.
 */
const max = { rows: 3, share: 0.02 };
/** Maximum number of rows named in a message. */
const maxNamed = 3;

interface AmountRow {
  readonly row: number;
  readonly cents: number;
}

/** Rows with nearly equal amounts. */
interface AmountClass {
  count: number;
  min: number;
  max: number;
  readonly first: AmountRow[];
}

/** The usual range of a file's amounts, and the outliers, in cents. */
export interface TypicalRange {
  readonly min: number;
  readonly max: number;
  /** Number of outlier rows. */
  readonly farRows: number;
  /** The first outliers. */
  readonly far: readonly AmountRow[];
  isFar(cents: number): boolean;
}

/** Collects the amounts of a file in constant memory, whatever the number of rows. */
export class AmountSpread {
  readonly #classes = new Map<number, AmountClass>();
  #count = 0;

  add(row: number, cents: number): void {
    if (!(cents > 0)) return;
    this.#count += 1;
    const name = classOf(cents);
    const known = this.#classes.get(name);
    if (!known) {
      this.#classes.set(name, { count: 1, min: cents, max: cents, first: [{ row, cents }] });
      return;
    }
    known.count += 1;
    if (cents < known.min) known.min = cents;
    if (cents > known.max) known.max = cents;
    if (known.first.length < maxNamed) known.first.push({ row, cents });
  }

  /** Returns undefined if there are no outliers, or too many. */
  typicalRange(): TypicalRange | undefined {
    if (this.#count < minRows) return undefined;
    const classes = [...this.#classes].map(([name, found]) => ({ ...found, name }));
    const middle = middleOf(classes.map(({ name, count }) => ({ value: name, count })));
    const distance = (name: number): number => Math.abs(name - middle);
    const medianDistance = middleOf(classes.map(({ name, count }) => ({ value: distance(name), count })));
    const limit = Math.max(Math.log(minFactor) / classWidth, minDeviations * medianDistance);
    const far = classes.filter(({ name }) => distance(name) >= limit);
    const near = classes.filter(({ name }) => distance(name) < limit);
    const farRows = far.reduce((sum, { count }) => sum + count, 0);
    if (farRows === 0 || farRows > Math.max(max.rows, this.#count * max.share)) return undefined;
    return {
      min: Math.min(...near.map(({ min }) => min)),
      max: Math.max(...near.map((one) => one.max)),
      farRows,
      far: far
        .flatMap(({ first }) => first)
        .sort((one, other) => one.row - other.row)
        .slice(0, maxNamed),
      isFar: (cents) => cents > 0 && distance(classOf(cents)) >= limit,
    };
  }
}

const classOf = (cents: number): number => Math.floor(Math.log(cents) / classWidth);

/** The weighted median of values. */
function middleOf(values: readonly { readonly value: number; readonly count: number }[]): number {
  const half = values.reduce((sum, { count }) => sum + count, 0) / 2;
  let seen = 0;
  for (const { value, count } of values.toSorted((one, other) => one.value - other.value)) {
    seen += count;
    if (seen >= half) return value;
  }
  return 0;
}

/** Formats `which are between $45.00 and $60.00`. */
export const typicalRangeText = ({ min, max }: TypicalRange): string =>
  min === max
    ? `which are ${formatMoney(min)} each`
    : `which are between ${formatMoney(min)} and ${formatMoney(max)}`;

/** Warning about outlier ceilings; empty if there are none. */
export function farLines(spread: AmountSpread): string[] {
  const typicalRange = spread.typicalRange();
  const [first] = typicalRange?.far ?? [];
  if (!typicalRange || !first) return [];
  const { farRows, far } = typicalRange;
  const others = typicalRangeText(typicalRange);
  if (farRows === 1)
    return [`row ${first.row}: its ceiling of ${formatMoney(first.cents)} is far from the others, ${others}`];
  const rows = far.map(({ row, cents }) => `row ${row} ${formatMoney(cents)}`).join(', ');
  const start = farRows > far.length ? 'first ' : '';
  return [`${rowsText(farRows)}: ceilings far from the others, ${others}; ${start}${rows}`];
}
