import { writeFileSync } from 'node:fs';
import type { TestContext } from 'vitest';
import type { Reporter } from 'vitest/node';

interface Refill {
  readonly file: string;
  /** Base64. */
  readonly content: string;
}

declare module 'vitest' {
  interface TaskMeta {
    refill?: Refill;
  }
}

/** Whether this run updates saved files with current output: `UPDATE_GOLDEN=1`, `UPDATE_DOCUMENTS=1`; never in CI. */
export const refills = (variable: 'UPDATE_GOLDEN' | 'UPDATE_DOCUMENTS'): boolean =>
  process.env[variable] === '1' && !process.env.CI;

/** Updates a saved file once all tests of the run have passed. */
export function refill({ task }: TestContext, file: URL, content: string | Buffer): void {
  task.meta.refill = { file: file.href, content: Buffer.from(content).toString('base64') };
}

/** Writes all updates of a run, or none if a test failed or was interrupted. */
export const refillReporter: Reporter = {
  onTestRunEnd(modules, _errors, reason) {
    const refilled = modules.flatMap(({ children }) =>
      Array.from(children.allTests()).flatMap((test) => test.meta().refill ?? []),
    );
    if (reason === 'passed') {
      for (const { file, content } of refilled) writeFileSync(new URL(file), Buffer.from(content, 'base64'));
    } else if (refilled.length > 0) {
      console.error('Nothing was refilled: not every test passed.');
    }
  },
};

const requestTimeouts =
  /\b(?:got no response within|no response came within|no response came in time|connecting took too long|the response stopped half-way|the request was given up)\b/;

/** Lines reporting request timeouts: they reflect the machine's load, not the command's behavior. */
export const timeoutsIn = (printed: string): string[] =>
  printed.split('\n').filter((line) => requestTimeouts.test(line));
