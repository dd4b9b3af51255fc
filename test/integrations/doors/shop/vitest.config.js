import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Nothing is to be left on the disk.
    cache: false,
    include: ['*.spec.js'],
    // Nets for what hangs, however busy the machine is.
    testTimeout: 600_000,
    expect: { poll: { timeout: 300_000, interval: 50 } },
    pool: 'threads',
    fileParallelism: false,
  },
});
