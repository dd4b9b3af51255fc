import type { ShownState } from '../../api/order-state.ts';
import { plainText } from '../../format/path.ts';
import type { TitleOf } from '../../format/result.ts';
import { productLine } from '../../orders/screen.ts';
import { addedSums, type MoneyLine, type MoneySum } from '../../spending/money-lines.ts';
import { orderOfAttempt, tellingAttempts } from '../attempts.ts';
import type { Batch, BatchRow } from '../batch.ts';
import { rowState } from '../batch-columns.ts';
import { codeOfReason } from '../reasons.ts';
import { isMet, type RowState, stateOf } from '../row-state.ts';
import { stableKey } from '../rows.ts';
import type { FileRow, OwnCells } from './file-rows.ts';
import type { OrderFacts } from './order-facts.ts';

/** One attempt to make an order of a row: the row of a batch. */
export interface Attempt extends FileRow {
  readonly batch: Batch;
  readonly row: BatchRow;
  readonly standing: RowState;
  /** Its own, or for one that was ordered before the one that its batch names. */
  readonly orderId: string | undefined;
}

/** A row of a file, whatever was tried to make an order of it. Amounts in minor units. */
export interface ReportRow {
  readonly number: number | undefined;
  readonly own: OwnCells;
  /** Whether it was uploaded from this machine. */
  readonly isFromHere: boolean;
  /** The latest of them counts. */
  readonly attempts: number;
  /** Of the first attempt. */
  readonly firstBatch: Batch;
  readonly batch: Batch;
  readonly row: BatchRow;
  readonly standing: RowState;
  readonly state: ShownState;
  readonly orderId: string | undefined;
  /** Of the latest attempt; undefined where it has none, or none that could be read. */
  readonly order: OrderFacts | undefined;
  /** Of all attempts. */
  readonly orders: readonly string[];
  readonly ceiling: number | undefined;
  /** What all orders of the row came to, for each payer and currency. */
  readonly sums: readonly MoneySum[];
  readonly byRule: readonly MoneyLine['what'][];
  readonly errorType: string;
  readonly reason: string;
  readonly urls: readonly string[];
  readonly product: (titleOf?: TitleOf) => string;
}

/** A row of a batch as an attempt. Pure. */
export function attemptOf(batch: Batch, row: BatchRow, file: FileRow): Attempt {
  return { ...file, batch, row, standing: stateOf(row, batch), orderId: orderOfAttempt(row, batch) };
}

/**
 * The attempts that were made of each row, in the order in which their batches were made. A retry goes on with a row: it has
 * the row's number within an upload, and elsewhere a key that follows from the earlier attempt's. Pure.
 * @param uploadOf what a batch is a part of, where it is of a named upload.
 */
export function chainsOf(
  attempts: Iterable<Attempt>,
  uploadOf: (batchId: string) => string | undefined,
): Attempt[][] {
  const chains: Attempt[][] = [];
  const known = new Map<string, Attempt[]>();
  for (const attempt of attempts) {
    const { number, asked, batch, row } = attempt;
    const upload = uploadOf(batch.id);
    const key = asked?.cell('idempotency_key') ?? '';
    const names = [
      ...(upload === undefined || number === undefined ? [] : [`row ${number} of ${upload}`]),
      ...(key === '' ? [] : [`key ${key}`]),
    ];
    const chain = names.map((name) => known.get(name)).find(Boolean) ?? [];
    if (chain.length === 0) chains.push(chain);
    chain.push(attempt);
    for (const name of [...names, `key ${stableKey(['retry', batch.id, row.index])}`]) known.set(name, chain);
  }
  return chains;
}

/**
 * The rows of a report. An order counts once, however many rows name it. Pure.
 * @param orders as far as they could be read, by id.
 */
export function reportRows(
  chains: readonly (readonly Attempt[])[],
  orders: ReadonlyMap<string, OrderFacts>,
): ReportRow[] {
  const counted = new Set<string>();
  return chains.flatMap((chain) => {
    const tried = tellingAttempts(chain);
    const [first, latest] = [chain[0], tried.at(-1)];
    if (!first || !latest) return [];
    const ids = [...new Set(tried.flatMap(({ orderId }) => orderId ?? []))];
    const own = ids.filter((id) => counted.size < counted.add(id).size);
    const read = own.flatMap((id) => orders.get(id) ?? []);
    const order = latest.orderId === undefined ? undefined : orders.get(latest.orderId);
    const asked = latest.asked ?? first.asked;
    return {
      number: first.number,
      own: first.own,
      isFromHere: asked !== undefined,
      attempts: tried.length,
      firstBatch: first.batch,
      batch: latest.batch,
      row: latest.row,
      standing: latest.standing,
      state: order?.state ?? rowState(latest.row, latest.batch),
      orderId: latest.orderId,
      order,
      orders: ids,
      ceiling: order?.ceiling ?? asked?.maxPrice ?? undefined,
      sums: addedSums(read.flatMap(({ sums }) => sums)),
      byRule: [...new Set(read.flatMap(({ byRule }) => byRule))],
      ...whyOf(latest, order),
      ...productOf(latest, order),
    };
  });
}

function whyOf(
  { row, batch, standing }: Attempt,
  order: OrderFacts | undefined,
): Pick<ReportRow, 'errorType' | 'reason'> {
  const said = plainText(row.error);
  if (order && (said === '' || isMet(row, batch)))
    return { errorType: order.errorType, reason: order.reason };
  const code = codeOfReason(said) ?? '';
  // That a row was ordered before is no failure.
  const errorType = standing === 'before' ? '' : code;
  return { errorType, reason: said.slice(code.length).replace(/^:\s*/, '') };
}

function productOf(
  { asked, row }: Attempt,
  order: OrderFacts | undefined,
): Pick<ReportRow, 'urls' | 'product'> {
  const { product_urls: listed } = row.record;
  const urls = asked?.productUrls ?? (Array.isArray(listed) ? listed.map(plainText) : []);
  const named = order?.named ?? {
    items: urls.map((url, at) => ({ url, quantity: asked?.quantities[at] ?? 1 })),
  };
  return { urls, product: (titleOf) => productLine(named, titleOf) };
}
