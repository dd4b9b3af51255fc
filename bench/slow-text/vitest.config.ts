import { defineConfig } from 'vitest/config';
import { hangsAfterMs } from '../../test/support/limits.ts';

/** `npm run slow-text`: a separate run, since it compares CPU times. */
export default defineConfig({
  test: {
    include: ['bench/slow-text/**/*.test.ts'],
    testTimeout: 6 * hangsAfterMs,
    hookTimeout: hangsAfterMs,
    pool: 'forks',
    maxWorkers: 1,
  },
});
