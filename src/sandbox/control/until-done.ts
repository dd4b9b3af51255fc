import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';

/** Resolves once the work is done or has failed, and after `mostMs` at the latest. Its errors are its caller's. */
export function untilDone(work: Promise<unknown>, mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    // No timer waits for ever.
    const timer = mostMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, Math.max(0, mostMs));
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}
