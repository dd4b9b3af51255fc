import { hrtime as systemTime } from 'node:process';

/**
 * Real timers, captured before a test installs fake ones. With fake timers, a service in the same process would never
 * respond, and a client would never time out or try again.
 */
export const { setImmediate, setInterval, setTimeout, clearImmediate, clearInterval, clearTimeout } =
  globalThis;
export const hrtime: () => [seconds: number, nanoseconds: number] = systemTime;
