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

/** Returns of orders. Both collections use order ids in lowercase. */
export interface OrderReturns {
  /** Ids of the orders of which every unit was returned. */
  readonly returned: ReadonlySet<string>;
  /** States of each order's returns, oldest return first. */
  readonly states: ReadonlyMap<string, readonly string[]>;
}

const noReturns: OrderReturns = { returned: new Set(), states: new Map() };

/** Finds the returns of the orders that batches made. If the returns cannot be read, reports that and returns none. */
export async function returnedOrders(context: Context, batches: readonly Batch[]): Promise<OrderReturns> {
  const placed = new Set<string>();
  let since = Number.POSITIVE_INFINITY;
  for (const batch of batches)
    for (const row of rowsOf(batch)) {
      const id = orderOfAttempt(row, batch);
      if (id === undefined || !['placed', 'before'].includes(stateOf(row, batch))) continue;
      placed.add(id.toLowerCase());
      // An order that already existed is older than the batch.
      since = Math.min(since, isMet(row, batch) ? 0 : Date.parse(textIn(batch, 'created_at') ?? '') || 0);
    }
  if (placed.size === 0) return noReturns;
  try {
    return await returnedAmong(context, placed, since);
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    context.note(`${error.message}; whether orders were returned is not known`);
    return noReturns;
  }
}

async function returnedAmong(
  context: Context,
  ids: ReadonlySet<string>,
  since: number,
): Promise<OrderReturns> {
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
  const states = new Map(
    [...returns].map(([id, lines]) => [id, lines.map((one) => textIn(one, 'status') ?? '').reverse()]),
  );
  return { returned, states };
}

/**
 * Lists the returns of orders, keyed by order id in lowercase. @param since is when the first of the orders was made,
 * ms since the epoch.
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
    // The list starts with the newest returns.
    const oldest = Date.parse(String(rows.at(-1)?.created_at));
    if (oldest < since) break;
  }
  return found;
}
