import { plainHeading } from '../../api/bulk-columns.ts';
import { own, setOwn } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import { plainText } from '../../format/path.ts';
import { type Column, forTable, type ListResult, type Row } from '../../format/result.ts';
import type { Context } from '../../run/context.ts';
import { addedSums, type MoneyLine, type MoneySum } from '../../spending/money-lines.ts';
import { datesIn } from '../../spending/policy/policy.ts';
import type { RetailerNames } from '../../spending/report/read.ts';
import { amountOf, payerNames } from '../../spending/report/rows.ts';
import type { Batch } from '../upload/batch.ts';
import { cellUnder, noBatch, productLineOf, type ReportRow } from './rows.ts';

/** Groupings that do not depend on the file's columns. */
export const groupings = ['retailer', 'state', 'reason', 'day'] as const;

/** Prefix that selects a column of the file if a grouping has the same name. */
const fileColumn = 'column.';

/** The grouping that `--by` selects. */
export type Grouping =
  | { readonly kind: (typeof groupings)[number] }
  | { readonly kind: 'column'; readonly heading: string }
  | { readonly kind: 'metadata'; readonly key: string };

/**
 * Resolves a `--by` value. It is a grouping, or else a file column given by heading, or else `metadata.KEY`. Returns
 * undefined if none of these matches. Pure.
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

/** How to select a file column in spite of a grouping with the same name. */
export function hiddenColumn({ kind }: Grouping, headings: readonly string[]): string | undefined {
  const heading = kind === 'column' || kind === 'metadata' ? undefined : headingNamed(kind, headings);
  return heading === undefined ? undefined : `${fileColumn}${heading}`;
}

/** Group of a row; undefined if unknown. */
type GroupOfRow = (row: ReportRow) => string | undefined;

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

/** A group of rows. It covers a single payer and currency. */
export interface ReportGroup {
  readonly group: string | undefined;
  /** Number of rows whose goods this payer pays for: `rows` = `ordered` + `refused` + `waiting` + `left_out`. */
  readonly rows: number;
  readonly ordered: number;
  readonly refused: number;
  readonly waiting: number;
  readonly left_out: number;
  readonly sum: MoneySum;
  readonly byRule: ReadonlySet<MoneyLine['what']>;
}

/**
 * Groups rows. Days are sorted by date; other groups are sorted by cost, highest first. Pure. @throws UnavailableError.
 */
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

/** Totals of rows per payer and currency. Pure. @throws UnavailableError. */
export function totalsOf(rows: readonly ReportRow[], group?: string): ReportGroup[] {
  const sums = addedSums([
    ...rows.flatMap((row) => row.sums),
    ...(rows.some((row) => row.sums.length === 0) ? [nothing] : []),
  ]);
  return sums.map((sum) => {
    const count = { own: 0, refused: 0, waiting: 0, left_out: 0 };
    const byRule = new Set<MoneyLine['what']>();
    for (const row of rows) {
      const { rowStatus, sums: some } = row;
      if (some.some((one) => isSame(one, sum))) for (const what of row.byRule) byRule.add(what);
      if (!isSame(goodsOf(row) ?? nothing, sum)) continue;
      count.own += 1;
      if (rowStatus === 'refused' || rowStatus === 'waiting' || rowStatus === 'left_out')
        count[rowStatus] += 1;
    }
    const { own, ...notOrdered } = count;
    const ordered = own - notOrdered.refused - notOrdered.waiting - notOrdered.left_out;
    return { ...{ group, rows: own, ordered, ...notOrdered, sum }, byRule };
  });
}

const isSame = (one: MoneySum, other: MoneySum): boolean =>
  one.payer === other.payer && one.currency === other.currency;

/** The sum to use for rows that have no amounts. */
const nothing: MoneySum = {
  ...{ payer: 'wallet', currency: 'USD' },
  ...{ held: 0, charged: 0, fee: 0, refunded: 0, credited: 0, net: 0 },
};

/** Lists groups. A table ends with the totals; other formats contain only the groups. */
export function groupList(
  { output }: Pick<Context, 'output'>,
  by: string,
  rows: readonly ReportRow[],
  groups: readonly ReportGroup[],
  hints: readonly string[],
): ListResult<Output<'BulkReportGroup'>> {
  const records = groups.map((group) => groupRecord(by, group));
  const isTable = output.format === 'table' && output.query === undefined;
  const totals = totalsOf(rows).map((total) => ({ ...groupRecord(by, total), group: 'total' }));
  return {
    kind: 'list',
    rows: isTable && records.length > 0 ? forTable([...records, ...totals]) : records,
    columns: isTable ? groupScreen(by, records) : groupColumns(by),
    id: 'group',
    empty: 'no row is there yet',
    hints: () => hints,
  };
}

/** A group, in the shape that all formats share. Pure. */
function groupRecord(by: string, { group, sum, byRule, ...counts }: ReportGroup): Output<'BulkReportGroup'> {
  return {
    by,
    group: group ?? null,
    paid_by: sum.payer,
    currency: sum.currency,
    ...counts,
    charged_cents: sum.charged,
    fees_cents: sum.fee,
    refunded_cents: sum.refunded,
    credited_cents: sum.credited,
    net_cents: sum.net,
    held_cents: sum.held,
    by_rule: [...byRule].map((what) => (what === 'charge' ? 'charged_cents' : amountOf[what])).sort(),
  };
}

const amounts = ['charged', 'fees', 'refunded', 'credited', 'net', 'held'] as const;
const counts = ['rows', 'ordered', 'refused', 'waiting', 'left_out'] as const;
const weights = { charged: 9, fees: 6, refunded: 8, credited: 8, net: 10, held: 7 } as const;
const countWeights = { rows: 9, ordered: 5, refused: 5, waiting: 4, left_out: 4 } as const;

const countName = (path: (typeof counts)[number]): string => path.replace('_', ' ');

/** Group columns for machine-readable output. All of them are always shown. */
const groupColumns = (by: string): readonly Column[] => [
  { name: by, path: 'group' },
  { name: 'paid by', path: 'paid_by' },
  { name: 'currency', path: 'currency' },
  ...counts.map((path): Column => ({ name: countName(path), path, kind: 'count' })),
  ...amounts.map((name): Column => ({ name, path: `${name}_cents`, kind: 'money', currency: 'currency' })),
  { name: 'by rule', path: 'by_rule', value: ({ by_rule: names }) => [names].flat().join(' ') },
];

/** Group columns for a TTY. Hides columns that are 0 in every group, and marks rule-based amounts with `*`. */
function groupScreen(by: string, records: readonly Row[]): readonly Column[] {
  const has = (path: string): boolean => records.some((record) => record[path] !== 0);
  const isRuled = (path: string): boolean =>
    records.some(({ by_rule: names }) => Array.isArray(names) && names.includes(path));
  const isMixed = new Set(records.map(({ paid_by: payer }) => payer)).size > 1;
  return [
    {
      name: by.replace(/^metadata\./, ''),
      path: 'group',
      weight: 12,
      value: ({ group }) => group ?? '(none)',
    },
    ...(isMixed ? [{ name: 'paid by', path: 'paid_by', weight: 11, value: payerIn }] : []),
    ...counts
      .filter((name) => name === 'rows' || name === 'ordered' || has(name))
      .map((path): Column => ({ name: countName(path), path, kind: 'count', weight: countWeights[path] })),
    ...amounts
      .map((name) => [name, `${name}_cents`] as const)
      .filter(([name, path]) => name === 'charged' || name === 'net' || has(path))
      .map(
        ([name, path]): Column => ({
          ...{ name: isRuled(path) ? `${name}*` : name, path, kind: 'money', currency: 'currency' },
          weight: weights[name],
        }),
      ),
  ];
}

const payerIn = ({ paid_by: payer }: Row): string =>
  Object.entries(payerNames).find(([key]) => key === payer)?.[1] ?? '';

/**
 * Record of a row, in the shape that all formats share. Amounts are in cents of `currency`, but the fee, credits and
 * wallet debits are in US dollars. Pure.
 */
export function recordOf(row: ReportRow): Output<'BulkReportRow'> {
  const { order, sums } = row;
  const quoted = order?.quoted;
  const goods = goodsOf(row);
  const wallet = walletOf(sums);
  const isPaid = sums.length > 0;
  const batchId = ofService(row.batch);
  return {
    row: row.number ?? null,
    batch_id: batchId,
    index: batchId === null ? null : (row.row?.index ?? null),
    own: cellsByHeading(row.own),
    order_state: row.state.text,
    order_id: row.orderId ?? null,
    order_status: order?.status ?? row.row?.orderStatus ?? null,
    attempts: row.attempts,
    met_by: metByOf(row),
    product: productLineOf(row),
    product_urls: row.urls,
    ceiling_cents: row.ceiling ?? null,
    quoted_cents: quoted?.cents ?? null,
    charged_cents: isPaid ? (goods?.charged ?? 0) : null,
    fee_cents: isPaid ? feeOf(row) : null,
    refunded_cents: isPaid ? (goods?.refunded ?? 0) : null,
    credited_cents: isPaid ? wallet.reduce((sum, { credited }) => sum + credited, 0) : null,
    from_wallet_cents: isPaid ? wallet.reduce((sum, { net }) => sum + net, 0) : null,
    held_cents: isPaid ? (goods?.held ?? 0) : null,
    currency: goods?.currency ?? quoted?.currency ?? null,
    paid_by: goods?.payer ?? null,
    tracking_numbers: order?.tracking ?? [],
    returns: [...row.returns],
    error_type: row.errorType === '' ? null : row.errorType,
    reason: row.reason === '' ? null : row.reason,
    orders: row.orders,
    amounts: sums,
    by_rule: byRuleOf(row),
  };
}

function cellsByHeading({ headings, cells }: ReportRow['own']): Record<string, string> {
  const byHeading: Record<string, string> = {};
  for (const [at, heading] of headings.entries()) setOwn(byHeading, heading, cells[at] ?? '');
  return byHeading;
}

/** Id of a batch; null if the batch is only the stand-in for single orders. */
const ofService = (batch: Batch | undefined): string | null =>
  batch === undefined || batch.id === noBatch ? null : batch.id;

/** The later attempt that met a row's need; null if there is none, or if the attempt has no live order. */
function metByOf({ later }: ReportRow): Output<'BulkReportRow'>['met_by'] {
  if (later?.state !== 'since') return null;
  const { orderId, upload, row } = later;
  return {
    order_id: orderId ?? null,
    upload: upload ?? null,
    batch_id: row?.batchId ?? null,
    index: row?.index ?? null,
  };
}

/** Adds the fields that the service's own results have. Pure. */
export const resultOf = (row: ReportRow): Row =>
  // The record is fresh. To add to it is much faster than to copy its many fields.
  Object.assign(recordOf(row), {
    status: statusOf(row),
    error: [row.errorType, row.reason].filter((part) => part !== '').join(': '),
  });

/** Status in the service's terms, with one exception: a row whose key already had an order is `placed`. */
function statusOf({ rowStatus, row }: ReportRow): string | null {
  const status = row?.status;
  if (rowStatus === 'left_out') return rowStatus;
  if (rowStatus === 'refused') return 'failed';
  if (rowStatus === 'waiting' || (status !== 'failed' && status !== 'pending')) return status ?? null;
  return 'placed';
}

/** The names of the amounts that are derived from rules. */
const byRuleOf = ({ byRule }: ReportRow): string[] => byRule.map((what) => ruled[what]).sort();

const ruled: Readonly<Record<MoneyLine['what'], string>> = {
  ...amountOf,
  charge: 'charged_cents',
  fee: 'fee_cents',
};

/** Sum for the payer of a row's goods. This is the payer of the row's latest order. */
function goodsOf({ order, sums }: ReportRow): MoneySum | undefined {
  if (sums.length < 2) return sums[0];
  const ofPayer = sums.filter(({ payer }) => order === undefined || payer === order.payer);
  return (
    ofPayer.find(({ charged, refunded }) => charged !== 0 || refunded !== 0) ??
    ofPayer.find(({ held }) => held !== 0) ??
    ofPayer[0] ??
    sums[0]
  );
}

/** Whether a row has costs in a second currency or for a second payer. The row's columns cannot show such costs. */
export const hasMore = (row: ReportRow): boolean => {
  const goods = goodsOf(row);
  return row.sums.some((sum) => sum !== goods && (sum.charged !== 0 || sum.refunded !== 0));
};

const walletOf = (sums: readonly MoneySum[]): readonly MoneySum[] =>
  sums.filter(({ payer, currency }) => payer === 'wallet' && currency === 'USD');

const feeOf = ({ sums }: ReportRow): number => sums.reduce((sum, { fee }) => sum + fee, 0);
