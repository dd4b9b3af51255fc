import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openDatabase } from '../../src/platform/sqlite/open.ts';
import { hangsAfterMs } from '../limits.ts';

const mustRun = process.env.ERRAND_CI === '1';
const hasStrace = spawnSync('strace', ['-V']).status === 0;
/** Of the calls that could fail, each so manieth; all of them with ERRAND_EVERY_CALL=1. */
const step = process.env.ERRAND_EVERY_CALL === '1' ? 1 : 7;

let folder: string;
let writer: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-disk-'));
  // Within the checkout, so that the packaged SQLite is found.
  writer = fileURLToPath(new URL(`../../.test-tmp/writer-${process.pid}.mjs`, import.meta.url));
  const input = fileURLToPath(new URL('./writer.ts', import.meta.url));
  const bundle = await rolldown({ input, platform: 'node', external: [/^@photostructure/] });
  await bundle.write({ file: writer, format: 'esm' });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(writer, { force: true });
});

interface Outcome {
  /** How many notes were kept. */
  readonly kept: number;
  readonly trouble?: string;
  readonly message?: string;
}

/** The command line that runs the writer on a file, its system calls on that file traced as `options` say. */
function traced(file: string, ...options: string[]): string[] {
  const files = ['', '-wal', '-shm', '-journal'].flatMap((end) => ['-P', file + end]);
  return ['strace', '-f', '-qq', ...options, ...files, process.execPath, writer, file];
}

const inject = (call: string, error: string, when: string, more = ''): string[] => [
  ...['-o', '/dev/null', '-e', `trace=${call}`],
  ...['-e', `inject=${call}:error=${error}:when=${when}${more}`],
];

async function run([command = '', ...args]: string[]): Promise<Outcome> {
  return JSON.parse((await promisify(execFile)(command, args)).stdout);
}

/** How often the writer makes a call on a new file. */
async function callsOf(call: string, error: string): Promise<number> {
  const trace = join(folder, `trace-${call}-${error}`);
  await run(traced(join(folder, `count-${call}-${error}.db`), '-o', trace, '-e', `trace=${call}`));
  return readFileSync(trace, 'utf8').split('\n').length - 1;
}

const disk: readonly (readonly [call: string, error: string, troubles: readonly (string | undefined)[]])[] = [
  ['pwrite64', 'ENOSPC', ['full', 'failing', undefined]],
  ['pwrite64', 'EIO', ['failing', undefined]],
  ['fsync', 'EIO', ['failing', undefined]],
  ['ftruncate', 'ENOSPC', ['failing', undefined]],
  ['openat', 'EROFS', ['read_only', 'not_opened']],
  ['openat', 'EIO', ['failing', 'not_opened', 'read_only']],
  ['pread64', 'EIO', ['failing', 'damaged', undefined]],
];

describe.skipIf(!hasStrace && !mustRun).concurrent('an error of the disk', () => {
  test.each(disk)(
    'at any %s (%s): is reported as what it is, and what was kept is kept',
    async (call, error, troubles) => {
      const calls = await callsOf(call, error);
      expect(calls).toBeGreaterThan(0);
      for (let nth = 1; nth <= calls; nth += calls > 20 ? step : 1) {
        for (const lasting of ['', '+']) {
          const file = join(folder, `${call}-${error}-${nth}${lasting}.db`);
          const outcome = await run(traced(file, ...inject(call, error, `${nth}${lasting}`)));
          const where = `${call} ${nth}${lasting}: ${JSON.stringify(outcome)}`;
          expect(troubles, where).toContain(outcome.trouble);
          if (outcome.trouble === undefined) expect(outcome, where).toEqual({ kept: 3 });
          // Whether a commit reached a disk that failed to sync it, nobody can know.
          const possible =
            call === 'fsync' && outcome.trouble ? [outcome.kept, outcome.kept + 1] : [outcome.kept];
          expect(possible, where).toContain(await keptIn(file));
        }
      }
    },
  );

  test('a file system that grants no locks is waited for, and Ctrl-C is heard', async () => {
    const file = join(folder, 'unlockable.db');
    const [command = '', ...args] = traced(file, ...inject('fcntl', 'ENOLCK', '1+'));
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
    });
    const ended = once(child, 'close');
    // By then it hears interrupts.
    await vi.waitUntil(() => existsSync(file), hangsAfterMs);
    expect(child.exitCode).toBeNull();
    const writing = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    process.kill(Number(writing), 'SIGINT');
    await ended;
    expect(JSON.parse(text)).toEqual({ kept: 0, message: 'Error: interrupted' });
  });

  test.each([1, 3, 5, 7, 9, 11, 13])(
    'a lock that is refused once, call %i, ends well or with its reason',
    async (nth) => {
      const file = join(folder, `refused-${nth}.db`);
      const outcome = await run(traced(file, ...inject('fcntl', 'ENOLCK', String(nth))));
      expect(['unlockable', undefined]).toContain(outcome.trouble);
      expect(await keptIn(file)).toBe(outcome.kept);
    },
  );
});

/** What a later process finds. */
async function keptIn(file: string): Promise<number> {
  const database = await openDatabase(file, {
    migrations: ['CREATE TABLE notes (text TEXT NOT NULL) STRICT'],
  });
  const { count } = database.get('SELECT count(*) AS count FROM notes') ?? {};
  database.close();
  return Number(count);
}
