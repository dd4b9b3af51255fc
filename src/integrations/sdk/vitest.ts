import { test as base, type TestAPI } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.ts';

export type { Sandbox, SandboxOptions } from './sandbox.ts';

export interface SandboxFixtures {
  /** Options of each test's sandbox; `test.override({ sandboxOptions: … })` sets them for a file or a `describe`. */
  readonly sandboxOptions: SandboxOptions;
  /** A new sandbox, closed after the test. Started only for tests that use it. */
  readonly sandbox: Sandbox;
}

/** Vitest's `test` with a sandbox fixture: `test('…', async ({ sandbox }) => …)`. */
export const test: TestAPI<SandboxFixtures> = base.extend<SandboxFixtures>({
  sandboxOptions: {},
  sandbox: async ({ sandboxOptions }, use) => {
    const sandbox = await startSandbox(sandboxOptions);
    await use(sandbox);
    await sandbox.close();
  },
});
