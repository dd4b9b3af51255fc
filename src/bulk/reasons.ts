import { textIn } from '../api/json.ts';
import { valueAt } from '../api/received.ts';
import { countText } from '../format/counts.ts';
import { plainText } from '../format/path.ts';
import { pages } from '../http/paging.ts';
import type { Order } from '../orders/order-record.ts';
import { ErrandError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { type Batch, rowsOf } from './batch.ts';
import { isMet } from './row-state.ts';

/** Why an order failed. */
interface Reason {
  readonly code: string;
  readonly message: string;
}

/** Why the orders of batches failed, by their ids. */
export type Reasons = ReadonlyMap<string, Reason>;

/** Failed orders that are looked through, at most. */
const mostOrders = 20_000;

/** Reads why orders failed, where the batch does not say it. What cannot be read stays unknown. */
export async function readReasons(context: Context, batches: Iterable<Batch>): Promise<Reasons> {
  const pending = new Set<string>();
  const since: string[] = [];
  for (const batch of batches)
    for (const row of rowsOf(batch)) {
      const isUnsaid = (row.error ?? '') === '' || isMet(row, batch);
      if (!isUnsaid || row.orderStatus !== 'order_failed' || row.orderId === undefined) continue;
      pending.add(row.orderId);
      // An order that a row met is older than its batch.
      since.push(isMet(row, batch) ? '' : (textIn(batch, 'created_at') ?? ''));
    }
  const reasons = new Map<string, Reason>();
  if (pending.size === 0) return reasons;
  try {
    const client = await context.client();
    const [oldest = ''] = since.sort();
    const query = {
      status_filter: 'order_failed',
      ...(oldest !== '' && { created_after: oldest }),
      limit: 500,
    };
    let looked = 0;
    for await (const { rows } of pages(client, 'order.list', { query }, { all: true })) {
      for (const order of rows) {
        const id = plainText(order.id);
        if (!pending.delete(id)) continue;
        reasons.set(id, {
          code: plainText(valueAt<Order>(order, 'job_result.error_type')),
          message: plainText(valueAt<Order>(order, 'job_result.error')),
        });
      }
      looked += rows.length;
      if (pending.size === 0 || looked >= mostOrders) break;
    }
  } catch (error) {
    // A reason is shown beside what was requested: without it the rest still stands.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
  }
  return reasons;
}

/** Why a row came to nothing, as the batch or its order says: `out_of_stock: …`; empty where neither does. */
export function reasonOf(
  { error, order_id: id, order_status: status }: Readonly<Record<string, unknown>>,
  reasons: Reasons,
): string {
  const said = plainText(error);
  const reason = reasons.get(plainText(id));
  // Of an order that the row met, its own reason says more than that the row met it.
  if (said !== '' && !(reason && said.startsWith('already_exists'))) return said;
  if (reason === undefined && plainText(status).startsWith('cancelled')) return plainText(status);
  return reason === undefined ? '' : [reason.code, reason.message].filter((part) => part !== '').join(': ');
}

/** `max_price_exceeded` of a reason that begins with it. */
export const codeOfReason = (text: string): string | undefined => /^[a-z][a-z0-9_]*(?=:|$)/.exec(text)?.[0];

/** `40 max_price_exceeded, 11 out_of_stock`: the codes of texts that begin with one, the most frequent first. */
export function countedReasons(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const code = codeOfReason(text) ?? 'without a reason';
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) => `${countText(count)} ${code}`)
    .join(', ');
}
