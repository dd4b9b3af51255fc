import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { isAnyRowDue, placeRows } from '../bulk/place-rows.ts';
import type { Service } from '../server/service.ts';
import { isAnythingDue, runDueTransitions } from './due-transitions.ts';

/** Interval of background processing, ms. */
const tickMs = 500;

/** Time budget of one round, in ms. Requests are served between rounds. */
const roundMs = 400;

/**
 * Processes due work in the background, in rounds. While work remains, rounds follow without delay, so throughput does
 * not depend on requests. @returns a function that stops the processing and resolves when the last round is done.
 */
export function tick(service: Service): () => Promise<void> {
  let round = Promise.resolve();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  let lastError: string | undefined;
  const work = async (): Promise<boolean> => {
    const { store, clock } = service;
    // Start both jobs at once. Otherwise a request could find one of the jobs idle and start that job itself.
    await Promise.all([
      placeRows(service, clock.now(), roundMs),
      runDueTransitions(service, clock.now(), roundMs),
    ]);
    service.deliver();
    lastError = undefined;
    return isAnyRowDue(store, clock.now()) || isAnythingDue(store, clock.now());
  };
  const report = (error: unknown): false => {
    // A full disk stays full, so report the error once, and again only after a successful round.
    if (error instanceof DatabaseError && error.message === lastError) return false;
    lastError = error instanceof DatabaseError ? error.message : undefined;
    service.report(error instanceof DatabaseError ? error.message : error);
    return false;
  };
  const wait = (ms: number): void => {
    if (isOver) return;
    timer = setTimeout(() => {
      round = work()
        .catch(report)
        .then((continues) => wait(continues ? 0 : tickMs));
    }, ms);
    // Don't keep the process alive for this timer.
    timer.unref();
  };
  wait(tickMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
    return round;
  };
}
