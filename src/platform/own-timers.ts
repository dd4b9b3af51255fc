import { hrtime as systemTime } from 'node:process';

/**
 * Real timers, captured before a test can install fake ones. If fake timers were used, a service in the same process
 * would never respond, and a client would never time out or try again.
 */
export const { setImmediate, setInterval, setTimeout, clearImmediate, clearInterval, clearTimeout } =
  globalThis;
export const hrtime: () => [seconds: number, nanoseconds: number] = systemTime;
