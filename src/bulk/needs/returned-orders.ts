import { textIn } from '../../api/json.ts';
import { pages } from '../../http/paging.ts';
import { unlessMissing } from '../../http/response.ts';
import { attemptState, type ReturnedLines } from '../../orders/needs/outcome.ts';
import { readOrder } from '../../orders/submit/existing.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type Batch, isMet, orderOfAttempt, rowsOf, stateOf } from '../upload/batch.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';

/** Maximum number of orders read concurrently. */
const maxInFlight = 4;

/**
 * Finds the orders of batches of which every unit was returned; ids in lowercase. A failure to read is noted, and none
 * are found.
 */
export async function returnedOrders(
  context: Context,
  batches: readonly Batch[],
): Promise<ReadonlySet<string>> {
  const placed = new Set<string>();
  let since = Number.POSITIVE_INFINITY;
  for (const batch of batches)
    for (const row of rowsOf(batch)) {
      const id = orderOfAttempt(row, batch);
      if (id === undefined || !['placed', 'before'].includes(stateOf(row, batch))) continue;
      placed.add(id.toLowerCase());
      // An already existing order is older than the batch.
      since = Math.min(since, isMet(row, batch) ? 0 : Date.parse(textIn(batch, 'created_at') ?? '') || 0);
    }
  if (placed.size === 0) return new Set();
  try {
    return await returnedAmong(context, placed, since);
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    context.note(`${error.message}; whether orders were returned is not known`);
    return new Set();
  }
}

/** The orders among `ids` of which every unit was returned. */
async function returnedAmong(
  context: Context,
  ids: ReadonlySet<string>,
  since: number,
): Promise<ReadonlySet<string>> {
  const client = await context.client();
  const returns = await returnsOf(context, ids, since);
  async function* all() {
    yield* returns;
  }
  const read = inFlight(
    all(),
    async ([id, lines]) => {
      const order = await unlessMissing(readOrder(client, id));
      return order && attemptState(order, lines) === 'returned' ? id : undefined;
    },
    { limit: maxInFlight, now: context.clock.monotonic },
  );
  const returned = new Set<string>();
  for await (const id of read) if (id !== undefined) returned.add(id);
  return returned;
}

/**
 * Lists the returns of orders, by the ids of the orders in lowercase. @param since when the first of the orders was
 * made, ms since the epoch.
 */
export async function returnsOf(
  context: Pick<Context, 'client'>,
  ids: { has(id: string): boolean },
  since = 0,
): Promise<ReadonlyMap<string, readonly ReturnedLines[]>> {
  const found = new Map<string, ReturnedLines[]>();
  for await (const { rows } of pages(await context.client(), 'return.list', {}, { all: true })) {
    for (const one of rows) {
      const id = String(one.order_id).toLowerCase();
      const known = found.get(id);
      if (known) known.push(one);
      else if (ids.has(id)) found.set(id, [one]);
    }
    // The newest come first.
    const oldest = Date.parse(String(rows.at(-1)?.created_at));
    if (oldest < since) break;
  }
  return found;
}
