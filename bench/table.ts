/** A row of the table: a measurement and its target. */
export interface Row {
  readonly name: string;
  readonly figure: string;
  readonly aim?: string;
  /** Undefined if there is no target. */
  readonly isMet?: boolean;
}

/** A benchmark: measures in its own directory and returns its rows. */
export type Theme = (folder: string) => Promise<readonly Row[]>;

export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

export const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;

/** A time relative to that of an alternative. */
export function timeBeside(name: string, ms: number, other: { name: string; ms: number }, aim?: number): Row {
  const ratio = ms / other.ms;
  return {
    name,
    figure: `${spell(ms)}, ${ratio.toFixed(2)}x ${other.name} (${spell(other.ms)})`,
    ...(aim !== undefined && { aim: `${aim}x`, isMet: ratio <= aim }),
  };
}

/** A value with an upper bound. */
export const atMost = (name: string, value: number, aim: number, unit: string): Row => ({
  name,
  figure: `${value.toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`,
  aim: `${aim} ${unit}`,
  isMet: value <= aim,
});

export interface Effort {
  readonly ms: number;
  /** Peak memory, bytes. */
  readonly peak: number;
}

/** How time and memory scale with ten times the work. */
export function growth(name: string, one: Effort, ten: Effort): Row[] {
  const [time, memory] = [ten.ms / one.ms, ten.peak / one.peak];
  return [
    {
      name: `${name}: time, 1x to 10x`,
      figure: `${time.toFixed(1)}x (${spell(one.ms)} to ${spell(ten.ms)})`,
      aim: '11x',
      isMet: time <= 11,
    },
    {
      name: `${name}: memory, 1x to 10x`,
      figure: `${memory.toFixed(2)}x (${mebibytes(one.peak)} to ${mebibytes(ten.peak)})`,
      aim: '1.2x',
      isMet: memory <= 1.2,
    },
  ];
}

export const spell = (ms: number): string =>
  ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`;

/** Prints all rows as a Markdown table, as in README.md in this folder. */
export function printTable(rows: readonly Row[]): void {
  const cells = rows.map(({ name, figure, aim = '', isMet }) => [
    name,
    figure,
    aim,
    isMet === undefined ? '' : isMet ? 'met' : 'missed',
  ]);
  const all = [['what', 'measured', 'aim', ''], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`);
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  console.log([lines[0], rule, ...lines.slice(1)].join('\n'));
}
