/** Timeout after which anything awaited counts as hung, ms. A safety net only: no test depends on it. */
export const hangsAfterMs = 5 * 60_000;
