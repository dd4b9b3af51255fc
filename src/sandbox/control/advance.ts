import { realMs } from '../../platform/clock.ts';
import { placeRows } from '../bulk/place-rows.ts';
import type { Service } from '../service.ts';
import type { Store } from '../store/store.ts';
import type { Outbox } from '../webhooks/outbox.ts';
import { bringUpToDate } from './bring-up-to-date.ts';

interface Advancing {
  readonly service: Service;
  readonly outbox: Outbox;
  /** Ends it between two moments. */
  readonly signal: AbortSignal;
}

/** Longer than rows of batches that were uploaded take to be placed, ms of the machine's time. */
const placingBudgetMs = 10 * 60_000;

/**
 * Moves the clock forward by `ms`, and brings about all that is due on the way: done once webhooks are attempted too.
 * Where anyone listens to webhooks the clock stops at each moment that something is due, so that a receiver finds the
 * service as it was then, and what it refuses is sent again in time. Others that advance it meanwhile add to it.
 * @param budgetMs of the machine's time, after which it ends at the next of these moments.
 * @returns the new time, ms since the epoch, and what of `ms` is left. @throws what the signal was aborted with.
 */
export async function advanceThrough(
  advancing: Advancing,
  ms: number,
  budgetMs = Number.POSITIVE_INFINITY,
): Promise<{ readonly now: number; readonly left: number }> {
  const { service, signal } = advancing;
  const { clock, store } = service;
  const until = realMs() + budgetMs;
  let left = ms;
  const move = async (step: number): Promise<void> => {
    signal.throwIfAborted();
    await clock.advance(step);
    left -= step;
    await settle(advancing);
  };
  await settle(advancing);
  while (left > 0) {
    const now = clock.now();
    const step = hasListeners(store) ? nextDue(store, now) - now : left;
    await move(Math.min(step, left));
    if (realMs() > until) break;
  }
  return { now: clock.now(), left };
}

/** Brings about what is due now, and waits until webhooks are attempted. */
export async function settle({ service, outbox }: Advancing): Promise<void> {
  const now = service.clock.now();
  await placeRows(service, now, placingBudgetMs);
  await bringUpToDate(service, now);
  service.deliver();
  await outbox.idle();
}

/** The next moment after `now` that anything is due at, ms since the epoch; Infinity where nothing is. */
function nextDue(store: Store, now: number): number {
  const row = store.get(
    `SELECT min(due) AS due FROM (
       SELECT min(next_due) AS due FROM orders WHERE next_due > ?1
       UNION ALL SELECT min(next_due) FROM returns WHERE next_due > ?1
       UNION ALL SELECT min(due) FROM batch_rows WHERE due > ?1
       UNION ALL SELECT min(next_at) FROM deliveries WHERE next_at > ?1 AND behind = 0)`,
    now,
  );
  return Number(row?.due ?? Number.POSITIVE_INFINITY);
}

/** Whether anything that is to come is sent to anyone. */
const hasListeners = (store: Store): boolean =>
  store.get(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM hook_addresses) OR EXISTS (SELECT 1 FROM deliveries WHERE next_at IS NOT NULL)
       OR EXISTS (SELECT 1 FROM orders WHERE next_due IS NOT NULL AND json_extract(body, '$.webhooks') IS NOT NULL)
       OR EXISTS (SELECT 1 FROM batch_rows WHERE due IS NOT NULL AND json_extract(body, '$.webhooks') IS NOT NULL)`,
  ) !== undefined;
