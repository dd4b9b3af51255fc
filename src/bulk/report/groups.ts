import { plainHeading } from '../../api/bulk-columns.ts';
import { own } from '../../api/json.ts';
import { plainText } from '../../format/path.ts';
import { addedSums, type MoneyLine, type MoneySum } from '../../spending/money-lines.ts';
import { datesIn } from '../../spending/policy/periods.ts';
import type { RetailerNames } from '../../spending/report/retailers.ts';
import { cellUnder } from './file-rows.ts';
import { goodsOf } from './record.ts';
import type { ReportRow } from './rows.ts';

/** What rows are put together by besides the columns of their file. */
export const groupings = ['retailer', 'state', 'reason', 'day'] as const;

/** A column of the file that has the name of one of these. */
const fileColumn = 'column.';

/** What `--by` names. */
export type Grouping =
  | { readonly kind: (typeof groupings)[number] }
  | { readonly kind: 'column'; readonly heading: string }
  | { readonly kind: 'metadata'; readonly key: string };

/**
 * What a text names: one of the groupings, else a column of the file as it is headed there, else `metadata.KEY`. Undefined for
 * nothing of these. Pure.
 */
export function groupingNamed(text: string, headings: readonly string[]): Grouping | undefined {
  const kind = groupings.find((name) => name === text);
  if (kind) return { kind };
  const heading =
    headingNamed(text, headings) ??
    (text.startsWith(fileColumn) ? headingNamed(text.slice(fileColumn.length), headings) : undefined);
  if (heading !== undefined) return { kind: 'column', heading };
  const key = /^metadata\.(.{1,200})$/s.exec(text)?.[1];
  return key === undefined ? undefined : { kind: 'metadata', key };
}

const headingNamed = (text: string, headings: readonly string[]): string | undefined =>
  headings.find((heading) => heading === text) ??
  headings.find((heading) => plainHeading(heading) === plainHeading(text));

/** How the column of the file is named that a grouping of the same name hides. */
export function hiddenColumn({ kind }: Grouping, headings: readonly string[]): string | undefined {
  const heading = kind === 'column' || kind === 'metadata' ? undefined : headingNamed(kind, headings);
  return heading === undefined ? undefined : `${fileColumn}${heading}`;
}

/** The group of a row; undefined where nothing says it. */
export type GroupOfRow = (row: ReportRow) => string | undefined;

export function groupOfRow(
  by: Grouping,
  { timeZone, retailers }: { readonly timeZone: string; readonly retailers: RetailerNames },
): GroupOfRow {
  switch (by.kind) {
    case 'retailer':
      return ({ urls }) => [...new Set(urls.map(retailers))].sort().join(' + ') || undefined;
    case 'state':
      return ({ state }) => state.text;
    case 'reason':
      return ({ errorType }) => errorType || undefined;
    case 'day': {
      const dateAt = datesIn(timeZone);
      return ({ order }) => {
        const at = Date.parse(order?.createdAt ?? '');
        return Number.isNaN(at) ? undefined : dateAt(at);
      };
    }
    case 'column':
      return ({ own: cells }) => cellUnder(cells, by.heading) || undefined;
    case 'metadata':
      return ({ order }) => plainText(own(order?.metadata, by.key)) || undefined;
  }
}

/** Rows that have something in common, as far as one payer paid for them in one currency. */
export interface ReportGroup {
  readonly group: string | undefined;
  /** Of the rows whose goods this payer pays: `rows` = `ordered` + `refused` + `waiting`. */
  readonly rows: number;
  readonly ordered: number;
  readonly refused: number;
  readonly waiting: number;
  readonly sum: MoneySum;
  readonly byRule: ReadonlySet<MoneyLine['what']>;
}

/** Groups of rows, by time where they are days, else what cost most first. Pure. @throws UnavailableError. */
export function groupsOf(rows: readonly ReportRow[], groupOf: GroupOfRow, isByTime: boolean): ReportGroup[] {
  const groups = new Map<string | undefined, ReportRow[]>();
  for (const row of rows) {
    const name = groupOf(row);
    const group = groups.get(name) ?? [];
    groups.set(name, group);
    group.push(row);
  }
  const weight = ([, group]: [unknown, readonly ReportGroup[]]): number =>
    Math.max(...group.map(({ sum }) => sum.net + sum.held));
  return [...groups]
    .map(([name, group]): [string | undefined, ReportGroup[]] => [name, totalsOf(group, name)])
    .sort((one, other) =>
      isByTime ? compare(one[0], other[0]) : weight(other) - weight(one) || compare(one[0], other[0]),
    )
    .flatMap(([, group]) => group);
}

const compare = (one = '', other = ''): number => (one < other ? -1 : one > other ? 1 : 0);

/** What rows come to, for each payer and currency. Pure. @throws UnavailableError. */
export function totalsOf(rows: readonly ReportRow[], group?: string): ReportGroup[] {
  const sums = addedSums([
    ...rows.flatMap((row) => row.sums),
    ...(rows.some((row) => row.sums.length === 0) ? [nothing] : []),
  ]);
  return sums.map((sum) => {
    const own = rows.filter((row) => isSame(goodsOf(row) ?? nothing, sum));
    const count = (...standings: readonly ReportRow['standing'][]): number =>
      own.filter(({ standing }) => standings.includes(standing)).length;
    const [refused, waiting] = [count('refused'), count('waiting')];
    const ordered = own.length - refused - waiting;
    return {
      ...{ group, rows: own.length, ordered, refused, waiting, sum },
      byRule: new Set(rows.flatMap((row) => (row.sums.some((one) => isSame(one, sum)) ? row.byRule : []))),
    };
  });
}

const isSame = (one: MoneySum, other: MoneySum): boolean =>
  one.payer === other.payer && one.currency === other.currency;

/** What rows without any amount come to. */
const nothing: MoneySum = {
  ...{ payer: 'wallet', currency: 'USD' },
  ...{ held: 0, charged: 0, fee: 0, refunded: 0, credited: 0, net: 0 },
};
