import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { isAnyRowDue, placeRows } from '../bulk/place-rows.ts';
import type { Service } from '../server/service.ts';
import { bringUpToDate, isAnythingDue } from './due-transitions.ts';

/** How often due work is brought about without a request, ms. */
const tickMs = 500;

/** How long one round takes, ms; requests are served in between. */
const roundMs = 400;

/**
 * Brings about what is due, one round after the other. While anything is due a round follows the one before at once:
 * how fast it comes about depends on no request. @returns how to end it, done once the last round is.
 */
export function tick(service: Service): () => Promise<void> {
  let round = Promise.resolve();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let lastTrouble: string | undefined;
  const work = async (): Promise<boolean> => {
    const { store, clock } = service;
    // At the same time: else a request could find one of them idle and begin it itself.
    await Promise.all([
      placeRows(service, clock.now(), roundMs),
      bringUpToDate(service, clock.now(), roundMs),
    ]);
    service.deliver();
    lastTrouble = undefined;
    return isAnyRowDue(store, clock.now()) || isAnythingDue(store, clock.now());
  };
  const report = (error: unknown): false => {
    // A full disk lasts; it is reported once, and again only after a round that went well.
    if (error instanceof DatabaseError && error.message === lastTrouble) return false;
    lastTrouble = error instanceof DatabaseError ? error.message : undefined;
    service.report(error instanceof DatabaseError ? error.message : error);
    return false;
  };
  const wait = (ms: number): void => {
    if (isOver) return;
    timer = setTimeout(() => {
      round = work()
        .catch(report)
        .then((goesOn) => wait(goesOn ? 0 : tickMs));
    }, ms);
    // The timer alone must not keep the process alive.
    timer.unref();
  };
  wait(tickMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
    return round;
  };
}
