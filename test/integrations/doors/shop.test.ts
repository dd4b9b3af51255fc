import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { begin, errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const folder = fileURLToPath(new URL('./shop', import.meta.url));
const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));

/** The shop's own tests, and then a client in another language. */
const suites = `node '${vitest}' run --root '${folder}' && sh '${join(folder, 'client.sh')}'`;

let workspace: Workspace;
let temporary: string;
beforeEach(() => {
  workspace = makeWorkspace();
  temporary = join(workspace.folder, 'temporary');
  mkdirSync(temporary);
  workspace.environment.TMPDIR = temporary;
});
afterEach(() => workspace.remove());

const exec = (line: string): string[] => ['sandbox', 'exec', '--speed', '20', '--', 'sh', '-c', line];

/** All descendant processes of this workspace, identified by its state directory in their environment. */
function processes(): string[] {
  const mark = `ERRAND_STATE_DIR=${workspace.environment.ERRAND_STATE_DIR}\0`;
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      // The process has ended, or belongs to another user.
      return false;
    }
  });
}

/** Files left on disk by the runs. */
const files = (): string[] => [
  ...readdirSync(temporary),
  ...readdirSync(workspace.folder).filter((name) => !['.bin', '.printed', 'temporary'].includes(name)),
];

/** ECONNREFUSED if nothing listens. */
const refusal = (url: string) => fetch(`${url}/healthz`).then(String, (error) => error.cause.code);

test('the tests of a shop and a client in another language, 8 times at once on one machine, each with a service of its own', async () => {
  const before = readdirSync(folder);
  const runs = await Promise.all(Array.from({ length: 8 }, () => errand(workspace, exec(suites))));
  for (const { code, stdout, stderr } of runs) expect(code, stdout + stderr).toBe(0);
  const urls = runs.map(({ stdout }) => /client\.sh: done at (\S+)/.exec(stdout)?.[1] ?? '');
  expect(new Set(urls).size).toBe(8);
  expect(await Promise.all(urls.map(refusal))).toEqual(urls.map(() => 'ECONNREFUSED'));
  await expect.poll(processes).toEqual([]);
  expect([files(), readdirSync(folder)]).toEqual([[], before]);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'ended by %s in the middle, they leave no process, port or file behind',
  async (name) => {
    const child = begin(workspace, 'errand', exec(`echo "$ERRAND_BASE_URL"; ${suites}`));
    const ended = once(child, 'close');
    const [printed] = await once(child.stdout, 'data');
    child.stdout.resume();
    child.stderr.resume();
    const url = String(printed).split('\n', 1)[0] ?? '';
    // Webhooks are in flight and test workers are running.
    await expect.poll(() => processes().length).toBeGreaterThanOrEqual(3);
    await expect.poll(() => consoleOf(url)).toContain('/hooks');
    child.kill(name);
    expect(await ended).toEqual([name === 'SIGINT' ? 130 : 143, null]);
    await expect.poll(processes).toEqual([]);
    expect([await refusal(url), files()]).toEqual(['ECONNREFUSED', []]);
  },
);

/** The deliveries page of the console. */
const consoleOf = async (url: string): Promise<string> =>
  (await fetch(`${url}/console/deliveries`, { headers: { accept: 'text/html' } })).text();
