import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Nothing is to be left on the disk.
    cache: false,
    include: ['*.spec.js'],
    // A shared machine may stall for seconds.
    testTimeout: 30_000,
    expect: { poll: { timeout: 20_000, interval: 50 } },
    pool: 'threads',
    fileParallelism: false,
  },
});
