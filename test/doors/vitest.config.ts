import { defineConfig } from 'vitest/config';
import { hangsAfterMs } from '../support/limits.ts';

/** `npm run proofs -- doors`: toolchains of others, which `package.json` beside this file names. */
export default defineConfig({
  test: {
    include: ['test/doors/*.proof.ts'],
    testTimeout: 6 * hangsAfterMs,
    hookTimeout: 6 * hangsAfterMs,
    pool: 'forks',
  },
});
