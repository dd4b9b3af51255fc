/**
 * Node's timers, as they were when the program or its door was loaded. A test that puts fake ones in their place means
 * its own code: a service in the same process would never respond.
 */
export const { setImmediate, setInterval, setTimeout, clearInterval, clearTimeout } = globalThis;
