/** Whatever is waited for and has not come by then hangs, ms. A safety net: no test is about it. */
export const hangsAfterMs = 5 * 60_000;
