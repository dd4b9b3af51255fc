import { formatMoney } from '../../format/money.ts';
import { rowsText } from './spend.ts';

/** Two amounts of one class differ by less than a hundredth. */
const classWidth = Math.log(1.01);
/** Fewer rows have nothing that is usual. */
const leastRows = 4;
/** An amount is far from the others where it is so many times the one in the middle, or such a part of it. */
const leastFactor = 5;
/** And, where amounts differ anyhow, so many times as far from the middle as is usual: 5 standard deviations of a bell curve. */
const leastDeviations = 5 * 1.4826;
/** Where more rows are far off, their amounts are another kind of usual. */
const most = { rows: 3, share: 0.02 };
/** Rows that are named. */
const mostNamed = 3;

interface AmountRow {
  readonly row: number;
  readonly cents: number;
}

/** Rows whose amounts are nearly equal. */
interface AmountClass {
  count: number;
  least: number;
  most: number;
  readonly first: AmountRow[];
}

/** What is usual in a file, and what is far from it. Amounts in cents. */
export interface Usual {
  readonly least: number;
  readonly most: number;
  /** How many rows are far from it. */
  readonly farRows: number;
  /** The first of them. */
  readonly far: readonly AmountRow[];
  isFar(cents: number): boolean;
}

/** Gathers the amounts of a file: as much memory for a million rows as for a thousand. */
export class AmountSpread {
  readonly #classes = new Map<number, AmountClass>();
  #count = 0;

  add(row: number, cents: number): void {
    if (!(cents > 0)) return;
    this.#count += 1;
    const name = classOf(cents);
    const known = this.#classes.get(name);
    if (!known) {
      this.#classes.set(name, { count: 1, least: cents, most: cents, first: [{ row, cents }] });
      return;
    }
    known.count += 1;
    if (cents < known.least) known.least = cents;
    if (cents > known.most) known.most = cents;
    if (known.first.length < mostNamed) known.first.push({ row, cents });
  }

  /** Undefined where no amount is far from the others, or so many are that they are usual, too. */
  usual(): Usual | undefined {
    if (this.#count < leastRows) return undefined;
    const classes = [...this.#classes].map(([name, found]) => ({ ...found, name }));
    const middle = middleOf(classes.map(({ name, count }) => ({ value: name, count })));
    const distance = (name: number): number => Math.abs(name - middle);
    const usualDistance = middleOf(classes.map(({ name, count }) => ({ value: distance(name), count })));
    const limit = Math.max(Math.log(leastFactor) / classWidth, leastDeviations * usualDistance);
    const far = classes.filter(({ name }) => distance(name) >= limit);
    const near = classes.filter(({ name }) => distance(name) < limit);
    const farRows = far.reduce((sum, { count }) => sum + count, 0);
    if (farRows === 0 || farRows > Math.max(most.rows, this.#count * most.share)) return undefined;
    return {
      least: Math.min(...near.map(({ least }) => least)),
      most: Math.max(...near.map((one) => one.most)),
      farRows,
      far: far
        .flatMap(({ first }) => first)
        .sort((one, other) => one.row - other.row)
        .slice(0, mostNamed),
      isFar: (cents) => cents > 0 && distance(classOf(cents)) >= limit,
    };
  }
}

const classOf = (cents: number): number => Math.floor(Math.log(cents) / classWidth);

/** The value in the middle of some that occur several times each. */
function middleOf(values: readonly { readonly value: number; readonly count: number }[]): number {
  const half = values.reduce((sum, { count }) => sum + count, 0) / 2;
  let seen = 0;
  for (const { value, count } of values.toSorted((one, other) => one.value - other.value)) {
    seen += count;
    if (seen >= half) return value;
  }
  return 0;
}

/** `which are between $45.00 and $60.00`. */
export const usualText = ({ least, most }: Usual): string =>
  least === most
    ? `which are ${formatMoney(least)} each`
    : `which are between ${formatMoney(least)} and ${formatMoney(most)}`;

/** A line on the ceilings that are far from the others; none where there are none. */
export function farLines(spread: AmountSpread): string[] {
  const usual = spread.usual();
  const [first] = usual?.far ?? [];
  if (!usual || !first) return [];
  const { farRows, far } = usual;
  const others = usualText(usual);
  if (farRows === 1)
    return [`row ${first.row}: its ceiling of ${formatMoney(first.cents)} is far from the others, ${others}`];
  const rows = far.map(({ row, cents }) => `row ${row} ${formatMoney(cents)}`).join(', ');
  const start = farRows > far.length ? 'first ' : '';
  return [`${rowsText(farRows)}: ceilings far from the others, ${others}; ${start}${rows}`];
}
