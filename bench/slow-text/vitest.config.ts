import { defineConfig } from 'vitest/config';
import { hangsAfterMs } from '../../test/limits.ts';

/** `npm run slow-text`: alone, since it compares times of the processor. */
export default defineConfig({
  test: {
    include: ['bench/slow-text/**/*.test.ts'],
    testTimeout: 6 * hangsAfterMs,
    hookTimeout: hangsAfterMs,
    pool: 'forks',
    maxWorkers: 1,
  },
});
