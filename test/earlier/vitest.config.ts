import { defineConfig } from 'vitest/config';
import { hangsAfterMs } from '../support/limits.ts';

/** `npm run proofs -- earlier`: this build and the one of `earlierCommit` each go on with what the other wrote. */
export default defineConfig({
  test: {
    include: ['test/earlier/*.proof.ts'],
    testTimeout: 6 * hangsAfterMs,
    hookTimeout: 6 * hangsAfterMs,
    expect: { poll: { timeout: hangsAfterMs } },
    pool: 'forks',
  },
});
