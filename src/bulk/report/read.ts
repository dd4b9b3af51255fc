import { textIn } from '../../api/json.ts';
import { plainText } from '../../format/path.ts';
import type { Context } from '../../run/context.ts';
import { readWallet } from '../../spending/report/read.ts';
import { readOutcomes } from '../needs/later-attempts.ts';
import { type Batch, type BatchRow, rowsOf, withLater, withReturned } from '../upload/batch.ts';
import { metOrders, withOrders } from '../upload/met-orders.ts';
import { type NamedBatches, readBatches, uploadNames } from '../upload/named.ts';
import { readOrders } from './read-orders.ts';
import { type Attempt, attemptOf, chainsOf, fileRowsOf, type ReportRow, reportRows } from './rows.ts';

/** The outcome of batch rows. */
export interface Report {
  /** In file order, upload by upload. */
  readonly rows: readonly ReportRow[];
  readonly batches: readonly Batch[];
  /** Number of orders without any amounts because they were not found. */
  readonly missing: number;
  /** Number of orders that lack some of their amounts. */
  readonly incomplete: number;
}

/**
 * Reads the outcome of batches row by row. A row and its retries count as one row.
 * @param read holds batches just fetched, by id. @throws ErrandError.
 */
export async function readReport(
  context: Context,
  { ids, uploads, counted }: Pick<NamedBatches, 'ids' | 'uploads' | 'counted'>,
  read: ReadonlyMap<string, Batch> = new Map(),
): Promise<Report> {
  const sent = (await readBatches(context, ids, read)).sort(byAge);
  const others = metOrders(sent);
  const hasOrders = others.length > 0 || sent.some((batch) => rowsOf(batch).some(isOrdered));
  const { feeCents } = hasOrders ? await readWallet(context) : { feeCents: undefined };
  const orders = await readOrders(context, { batches: sent, others, feeCents });
  const known = withOrders(sent, orders);
  const { returned, later } = await readOutcomes(context, { uploads, counted }, known);
  const whole = withReturned(known, returned);
  const laterIds = [...later.values()].flatMap(({ orderId, between }) =>
    [orderId, ...between.map((one) => one.orderId)].flatMap((id) => id ?? []),
  );
  const unread = laterIds.filter((id) => !orders.has(id));
  for (const [id, order] of await readOrders(context, { batches: [], others: unread, feeCents }))
    orders.set(id, order);
  const batches = withOrders(withLater(whole, later), orders);
  const attempts: Attempt[] = [];
  const savedLayouts = new Map(
    uploads.flatMap(({ batches: some }) => some.map((one) => [one.id, one.layout])),
  );
  const names = uploadNames(uploads);
  const uploadOf = (id: string): string | undefined => names.get(id);
  for (const [at, batch] of whole.entries()) {
    const fileRow = await fileRowsOf(context, batch, savedLayouts.get(batch.id));
    const latest = rowsOf(batches[at] ?? batch);
    for (const [index, row] of rowsOf(batch).entries()) {
      attempts.push(attemptOf(batch, row, fileRow(row)));
      const last = latest[index];
      if (last?.later) attempts.push(attemptOf(batch, last, fileRow(row)));
    }
  }
  const chains = chainsOf(attempts, uploadOf);
  const rows = inFileOrder(reportRows(chains, orders), uploadOf);
  const named = new Set(rows.flatMap((row) => row.orders));
  return {
    rows,
    batches,
    missing: [...named].filter((id) => !orders.has(id)).length,
    incomplete: [...named].filter((id) => orders.get(id)?.isComplete === false).length,
  };
}

const isOrdered = ({ orderId }: BatchRow): boolean => orderId !== undefined;

const byAge = (one: Batch, other: Batch): number => madeAt(one) - madeAt(other);
const madeAt = (batch: Batch): number => Date.parse(textIn(batch, 'created_at') ?? '') || 0;

/** Sorts each file's rows by number; rows without a number keep their order. */
function inFileOrder(
  rows: readonly ReportRow[],
  uploadOf: (batchId: string) => string | undefined,
): ReportRow[] {
  const uploads = new Map<string, ReportRow[]>();
  for (const row of rows) {
    const { number, firstBatch } = row;
    const file = uploadOf(firstBatch.id) ?? plainText(firstBatch.filename);
    const name = number === undefined ? firstBatch.id : file;
    const ofUpload = uploads.get(name) ?? [];
    uploads.set(name, ofUpload);
    ofUpload.push(row);
  }
  const last = Number.POSITIVE_INFINITY;
  return [...uploads.values()].flatMap((ofUpload) =>
    ofUpload.sort((one, other) => (one.number ?? last) - (other.number ?? last) || 0),
  );
}
