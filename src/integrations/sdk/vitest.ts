import { test as base, type TestAPI } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.ts';

export type { Sandbox, SandboxOptions } from './sandbox.ts';

export interface SandboxFixtures {
  /** How the sandbox of each test is started; `test.override({ sandboxOptions: … })` sets it for a file or a `describe`. */
  readonly sandboxOptions: SandboxOptions;
  /** A fresh sandbox, closed after the test. Only a test that names it starts one. */
  readonly sandbox: Sandbox;
}

/** Vitest's `test` with a sandbox: `test('…', async ({ sandbox }) => …)`. */
export const test: TestAPI<SandboxFixtures> = base.extend<SandboxFixtures>({
  sandboxOptions: {},
  sandbox: async ({ sandboxOptions }, use) => {
    const sandbox = await startSandbox(sandboxOptions);
    await use(sandbox);
    await sandbox.close();
  },
});
