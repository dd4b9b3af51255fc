/**
 * Real timers, captured before a test installs fake ones. With fake timers, a service in the same process would never
 * respond.
 */
export const { setImmediate, setInterval, setTimeout, clearInterval, clearTimeout } = globalThis;
