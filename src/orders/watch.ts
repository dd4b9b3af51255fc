import { ErrandError } from '../platform/errors.ts';
import { Deadline, stopwatch } from '../platform/wait/deadline.ts';
import { type Interruption, type Pace, watchWithSummary } from '../platform/wait/poll.ts';
import { tallyOf, type Verdict, type WatchSummary } from '../platform/wait/verdicts.ts';
import type { Context } from '../run/context.ts';
import { observeOrder } from './observed.ts';
import { orderKey } from './order-keys.ts';
import { OrderPoll } from './order-poll.ts';
import type { IdentifiedOrder } from './order-record.ts';
import { stateOf, type Until, verdictOf } from './watch-policy.ts';

export interface WatchOptions {
  readonly until: Until;
  /** How long to wait, ms; without it for as long as it takes. */
  readonly timeoutMs: number | undefined;
  readonly pace: Pace;
  readonly allowMissing: boolean;
}

export type WatchEvent =
  | { readonly type: 'ready'; readonly orders: number; readonly until: Until }
  | { readonly type: 'change'; readonly order: IdentifiedOrder; readonly verdict: Verdict }
  | Interruption
  | ({ readonly type: 'summary' } & WatchSummary);

/**
 * Follows orders until each has reached what is awaited, has failed, or the deadline has passed.
 * Yields one `change` for each order whose state is new. A blip of the network is a `gap`, not an end. An interruption
 * is thrown once the `summary` is out.
 * @throws ErrandError not_found for an unknown id, and whatever polling cannot mend (a refused key).
 */
export async function* watchOrders(
  context: Context,
  ids: readonly string[],
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const { clock, signal } = context;
  const elapsedMs = stopwatch(clock);
  const deadline = new Deadline(clock, options.timeoutMs);
  const poll = new OrderPoll(
    await context.client(),
    async (id) => (await orderKey(context, id)) === undefined,
  );
  const states = new Map<string, string>();
  const verdicts = new Map<string, Verdict>(ids.map((id) => [id, 'waiting']));
  const pending = new Set(ids);
  let unseen: readonly string[] = ids;
  yield* watchWithSummary<WatchEvent>(
    { type: 'ready', orders: ids.length, until: options.until },
    {
      look: changes,
      isOver: () => pending.size === 0,
      hasResponded: () => states.size > 0,
      pace: options.pace,
      deadline,
      clock,
      signal,
    },
    summary,
  );

  async function* changes(): AsyncGenerator<WatchEvent> {
    for await (const orders of look())
      for (const order of orders.filter(isChanged)) {
        await observeOrder(context, order);
        yield note(order);
      }
  }

  /** Every order once, page by page, so that no more of them is held than a page. */
  async function* look(): AsyncGenerator<readonly IdentifiedOrder[]> {
    // A gap may have ended the round before in its middle; what came before that was seen.
    unseen = unseen.filter((id) => !states.has(id));
    const unknown = new Set(unseen);
    const seenBefore = new Set([...pending].filter((id) => !unknown.has(id)));
    if (unseen.length > 0) {
      yield* poll.begin(unseen);
      unseen = [...poll.missing];
      if (unseen.length > 0 && !options.allowMissing) throw notFound(unseen);
    }
    if (seenBefore.size > 0) yield* poll.round(seenBefore);
  }

  function isChanged(order: IdentifiedOrder): boolean {
    return states.get(order.id) !== stateOf(order);
  }

  function note(order: IdentifiedOrder): WatchEvent {
    const { id } = order;
    const verdict = verdictOf(order, options.until);
    states.set(id, stateOf(order));
    verdicts.set(id, verdict);
    if (verdict !== 'waiting') pending.delete(id);
    return { type: 'change', order, verdict };
  }

  function summary(): WatchEvent {
    return {
      type: 'summary',
      ...tallyOf(verdicts.values()),
      requests: poll.requests,
      elapsed_ms: elapsedMs(),
    };
  }
}

function notFound(ids: readonly string[]): ErrandError {
  const message = ids.length === 1 ? `there is no order ${ids[0]}` : `there are no orders ${ids.join(', ')}`;
  return new ErrandError('not_found', message, {
    code: 'not_found',
    hint: 'Check the id, and that the key belongs to the account that made it; --allow-missing waits for it.',
  });
}
