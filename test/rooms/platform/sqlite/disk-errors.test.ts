import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openDatabase } from '../../../../src/platform/sqlite/open.ts';
import { bundled } from '../../../support/bundled.ts';
import { hangsAfterMs } from '../../../support/limits.ts';

const mustRun = process.env.ERRAND_CI === '1';
const hasStrace = spawnSync('strace', ['-V']).status === 0;
/** Tests every nth call that can fail; all of them with ERRAND_EVERY_CALL=1. */
const step = process.env.ERRAND_EVERY_CALL === '1' ? 1 : 7;

let folder: string;
let writer: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-disk-'));
  writer = await bundled(new URL('./writer.ts', import.meta.url));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Outcome {
  /** Number of notes persisted. */
  readonly kept: number;
  readonly trouble?: string;
  readonly message?: string;
}

/** Command line that runs the writer under strace, with `options` applied to system calls on its files. */
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

/** Counts the writer's calls of one kind on a new file. */
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
          // If fsync failed, whether the commit reached the disk is unknowable.
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
    // By then it handles interrupts.
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

/** Number of notes a later process reads. */
async function keptIn(file: string): Promise<number> {
  const database = await openDatabase(file, {
    migrations: ['CREATE TABLE notes (text TEXT NOT NULL) STRICT'],
  });
  const { count } = database.get('SELECT count(*) AS count FROM notes') ?? {};
  database.close();
  return Number(count);
}
