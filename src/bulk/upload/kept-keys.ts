import { orderOfRow, rowReader } from '../../api/bulk-row.ts';
import { own } from '../../api/json.ts';
import { formatMoney } from '../../format/money.ts';
import { plainText } from '../../format/path.ts';
import { differingFields } from '../../journal/content.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { rowsText } from '../check/row-sample.ts';
import type { FileRow, UploadRow } from '../rows.ts';
import { rowsOf, stateOf } from './batch.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An earlier request sent with the same key. */
export interface SentBefore {
  /** Id of the resulting batch or order; null if unknown. */
  readonly madeId: string | null;
  /** Row index within its batch; undefined for a single order. */
  readonly place: number | undefined;
  /**
   * Cells of the row, or the order if the request was a single order; undefined if the content has not changed since.
   */
  readonly content: Fields | undefined;
}

/** A row whose key belongs to an order with different content. */
export interface KeptKey {
  readonly row: number;
  /** The differences, each such as `max_price $40.00, now $45.00`. */
  readonly changes: readonly string[];
}

/** Maximum number of batches to query to find out whether a row became an order. */
const maxBatches = 50;
/** Maximum number of rows to name, of differences to show per row, and of characters per value. */
const [maxNamed, maxChanges, maxValueLength] = [3, 2, 40];

export const orderOfCells = (row: UploadRow): Fields => {
  const { plan, values, row: read } = rowReader()(row);
  return { ...orderOfRow(plan, values, read) };
};

/** Describes how an order differs from the earlier order with the same key; empty if they are equivalent. Pure. */
export function changesOf(now: Fields, before: Fields): string[] {
  return differingFields('order.create', now, before).map((path) => {
    const [was, is] = [before, now].map((order) => path.reduce<unknown>(own, order));
    return changeText(path, was, is);
  });
}

/** Formats `max_price $40.00, now $45.00`. */
export const changeText = (path: readonly string[], was: unknown, is: unknown): string =>
  `${path.at(-1)} ${shown(path, was)}, now ${shown(path, is)}`;

function shown([field]: readonly string[], value: unknown): string {
  if (value === undefined || value === null || value === '') return 'empty';
  if (field === 'max_price' && typeof value === 'number') return formatMoney(value);
  const text = typeof value === 'object' ? JSON.stringify(value) : plainText(value);
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength - 1)}…` : text;
}

/**
 * Finds rows that reuse the key of an earlier request with different content, because the service will not order them
 * again.
 * @param sent holds the earlier requests with each row's key, by row number. @param rows the rows of the file, read a
 * second time.
 */
export async function keptKeys(
  context: Context,
  sent: ReadonlyMap<number, readonly SentBefore[]>,
  rows: AsyncIterable<readonly FileRow[]>,
): Promise<{ readonly ordered: readonly KeptKey[]; readonly unsure: readonly KeptKey[] }> {
  const edited: { row: number; now: Fields; before: readonly SentBefore[] }[] = [];
  for await (const part of rows)
    for (const { number, plan, cells, row } of part) {
      const before = sent.get(number) ?? [];
      if (before.length === 0) continue;
      const now = { ...orderOfRow(plan, cells, row) };
      if (before.some((one) => differs(now, one))) edited.push({ row: number, now, before });
    }
  const isOrder = await ordersAmong(
    context,
    edited.flatMap(({ before }) => before),
  );
  const [ordered, unsure]: [KeptKey[], KeptKey[]] = [[], []];
  for (const { row, now, before } of edited) {
    const sure = before.find((one) => isOrder(one) === true);
    const found = sure ?? before.find((one) => isOrder(one) === undefined);
    const was = found && contentOf(found);
    const changes = was ? changesOf(now, was) : [];
    if (changes.length > 0) (sure ? ordered : unsure).push({ row, changes });
  }
  return { ordered, unsure };
}

/**
 * The order requested earlier; undefined if it is identical. Uploads from this machine are journaled as cells, so their
 * rows are converted to orders.
 */
const contentOf = ({ content, place }: SentBefore): Fields | undefined =>
  place === undefined || content === undefined ? content : orderOfCells(content as UploadRow);

function differs(now: Fields, sent: SentBefore): boolean {
  const before = contentOf(sent);
  return before !== undefined && differingFields('order.create', now, before).length > 0;
}

/**
 * Returns a function that tells whether a request became an order. That function returns undefined if this is unknown.
 * Reads each batch once.
 */
async function ordersAmong(
  context: Context,
  all: readonly SentBefore[],
): Promise<(sent: SentBefore) => boolean | undefined> {
  const ids = new Set(
    all.flatMap(({ madeId, place }) => (madeId !== null && place !== undefined ? madeId : [])),
  );
  const known = new Map<string, boolean>();
  const asked = context.previewsRequests ? [] : [...ids].slice(0, maxBatches);
  try {
    for (const id of asked) {
      const { body } = await (await context.client()).call('bulk.get', { path: { batch_id: id } });
      for (const row of rowsOf(body)) known.set(`${id} ${row.index}`, isOrdered(stateOf(row, body)));
    }
  } catch (error) {
    // Leave unreadable batches unknown; the upload itself can continue.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
  }
  return ({ madeId, place }) => {
    if (madeId === null) return undefined;
    return place === undefined ? true : known.get(`${madeId} ${place}`);
  };
}

/**
 * A refused row left its key free; a row that matched an existing order is covered by the request that made that order.
 */
const isOrdered = (state: ReturnType<typeof stateOf>): boolean => state !== 'refused' && state !== 'before';

/** Warnings printed before the rows are sent. */
export const keptLines = ({ ordered, unsure }: Awaited<ReturnType<typeof keptKeys>>): string[] => [
  ...line(
    ordered,
    { one: 'an order placed before', several: 'orders placed before' },
    (is) => `${is} not ordered again`,
  ),
  ...line(
    unsure,
    { one: 'a row sent before', several: 'rows sent before' },
    (is) => `where that became an order, ${is} not ordered again`,
  ),
];

/** Warnings printed after the service has responded. */
export const keptLinesAfter = (kept: readonly KeptKey[]): string[] =>
  line(kept, { one: 'an order placed before', several: 'orders placed before' }, (is) =>
    is === 'it is' ? 'it was not ordered' : 'they were not ordered',
  );

function line(
  kept: readonly KeptKey[],
  whose: { readonly one: string; readonly several: string },
  what: (is: 'it is' | 'they are') => string,
): string[] {
  const [first] = kept;
  if (!first) return [];
  if (kept.length === 1)
    return [
      `row ${first.row} keeps the key of ${whose.one} with other content (${changesText(first)}): ${what('it is')}; give it a new key or leave its key empty`,
    ];
  const named = kept.slice(0, maxNamed).map((one) => `row ${one.row} (${changesText(one)})`);
  const more = kept.length > named.length ? ' …' : '';
  return [
    `${rowsText(kept.length)} keep the keys of ${whose.several} with other content: ${named.join(', ')}${more}: ${what('they are')}; give them new keys or leave their keys empty`,
  ];
}

/** Formats `max_price $40.00, now $45.00; city Austin, now Dallas and 2 more`. */
export function changesText({ changes }: Pick<KeptKey, 'changes'>): string {
  const more = changes.length - maxChanges;
  return changes.slice(0, maxChanges).join('; ') + (more > 0 ? ` and ${more} more` : '');
}
