import { test as base, type TestAPI } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.ts';

export type { Sandbox, SandboxOptions } from './sandbox.ts';

export interface SandboxFixtures {
  /**
   * Options for the sandbox of each test. `test.override({ sandboxOptions: … })` sets them for a file or a `describe`.
   */
  readonly sandboxOptions: SandboxOptions;
  /** A new sandbox. It is started only for tests that use it, and closed after the test. */
  readonly sandbox: Sandbox;
}

/** Vitest's `test` with a fixture for a sandbox: `test('…', async ({ sandbox }) => …)`. */
export const test: TestAPI<SandboxFixtures> = base.extend<SandboxFixtures>({
  sandboxOptions: {},
  sandbox: async ({ sandboxOptions }, use) => {
    const sandbox = await startSandbox(sandboxOptions);
    await use(sandbox);
    await sandbox.close();
  },
});
