/**
 * Real timers, captured before a test installs fake ones: with those, a service in the same process would never
 * respond.
 */
export const { setImmediate, setInterval, setTimeout, clearInterval, clearTimeout } = globalThis;
