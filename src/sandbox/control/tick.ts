import { DatabaseError } from '../../sqlite/database-error.ts';
import { clearInterval, setInterval } from '../../wait/own-timers.ts';
import { placeRows } from '../bulk/place-rows.ts';
import type { Service } from '../service.ts';
import { bringUpToDate } from './bring-up-to-date.ts';

/** How often due work is brought about without a request, ms. */
const tickMs = 500;

/** How long one tick places rows of batches, ms; requests are served in between. */
const placingBudgetMs = 400;

/** Brings about what is due, one round after the other. @returns how to end it, done once the last round is. */
export function tick(service: Service): () => Promise<void> {
  let round = Promise.resolve();
  let lastTrouble: string | undefined;
  const report = (error: unknown): void => {
    // A full disk lasts; it is reported once, and again only after a round that went well.
    if (error instanceof DatabaseError && error.message === lastTrouble) return;
    lastTrouble = error instanceof DatabaseError ? error.message : undefined;
    service.report(error instanceof DatabaseError ? error.message : error);
  };
  const timer = setInterval(() => {
    round = round
      .then(() => placeRows(service, service.clock.now(), placingBudgetMs))
      .then(() => bringUpToDate(service, service.clock.now()))
      .then(() => {
        service.deliver();
        lastTrouble = undefined;
      })
      .catch(report);
  }, tickMs);
  // The timer alone must not keep the process alive.
  timer.unref();
  return () => {
    clearInterval(timer);
    return round;
  };
}
