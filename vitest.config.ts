import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // What is polled for takes a second and more on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // Most tests wait for a process or a socket: one worker a core leaves none idle.
    maxWorkers: Math.max(2, availableParallelism()),
  },
});
