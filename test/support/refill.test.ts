import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { unsetDeadlines } from '../commands/transcripts/transcript.ts';
import { peer } from './peer.ts';
import { timeoutsIn } from './refill.ts';
import { errand } from './run.ts';
import { makeWorkspace } from './workspace.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const helper = JSON.stringify(join(root, 'test/support/refill.ts'));

describe('a run that refills saved files', () => {
  let folder: string;
  const saved = (name: string): string => join(folder, name);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'refill-'));
    symlinkSync(join(root, 'node_modules'), saved('node_modules'));
    writeFileSync(
      saved('vitest.config.ts'),
      `import { refillReporter } from ${helper};
      export default { test: { reporters: [refillReporter] } };`,
    );
    for (const name of ['one', 'two']) {
      writeFileSync(saved(`${name}.txt`), 'before');
      writeFileSync(
        saved(`${name}.test.ts`),
        `import { expect, test } from 'vitest';
        import { refill } from ${helper};
        test('${name}', (context) => {
          refill(context, new URL('${pathToFileURL(saved(`${name}.txt`))}'), 'after');
          expect(process.env.FAILS).not.toBe('${name}');
        });`,
      );
    }
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const run = (fails: string): Promise<{ readonly failed: boolean; readonly stderr: string }> =>
    new Promise((resolve) => {
      const vitest = join(root, 'node_modules/vitest/vitest.mjs');
      const env = { ...process.env, FAILS: fails };
      execFile(process.execPath, [vitest, 'run', '--root', folder], { env }, (error, _stdout, stderr) =>
        resolve({ failed: error !== null, stderr }),
      );
    });
  const contents = (): string[] => ['one', 'two'].map((name) => readFileSync(saved(`${name}.txt`), 'utf8'));

  test('writes all of them once every test has passed', async () => {
    expect((await run('')).failed).toBe(false);
    expect(contents()).toEqual(['after', 'after']);
  });

  test('writes none where one test fails, in another file too', async () => {
    const { failed, stderr } = await run('two');
    expect(failed).toBe(true);
    expect(stderr).toContain('Nothing was refilled');
    expect(contents()).toEqual(['before', 'before']);
  });
});

describe('a timeout', () => {
  test('is known by what the program prints of one', async () => {
    const silent = await peer(() => {});
    const workspace = makeWorkspace({ ERRAND_BASE_URL: silent.url, ERRAND_API_KEY: 'sbx_test_x' });
    try {
      const order = ['order', 'create', '--product', 'https://shop.example/1', '--max-price', '$5'];
      const address =
        '{"first_name":"A","last_name":"B","address_line1":"1 Road","city":"Austin","state":"TX",';
      const rest = '"postal_code":"78701","country":"US","phone_number":"+15125550100"}';
      for (const line of [
        ['order', 'list'],
        [...order, '--ship-to', '-', '--retries', '0'],
      ]) {
        const { code, stderr } = await errand(workspace, [...line, '--timeout', '300ms'], {
          stdin: address + rest,
        });
        expect([9, 10], stderr).toContain(code);
        expect(timeoutsIn(stderr), stderr).toHaveLength(1);
      }
    } finally {
      workspace.remove();
    }
  });

  test('of a deadline that the line did not set is no part of a transcript', () => {
    const transcript = [
      ...['$ errand order watch ID --timeout 3s', 'a line', '? 8'],
      ...['$ errand order list', '? 0', '$ errand account forwarding ID', '! error', '? 8', ''],
    ].join('\n');
    expect(unsetDeadlines(transcript)).toEqual(['errand account forwarding ID']);
  });
});
