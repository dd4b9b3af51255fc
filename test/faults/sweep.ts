/**
 * Injects kills, interrupts and disk errors at each system call of a command, then repeats it: each intended thing must
 * exist once.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { caches } from '../support/caches.ts';
import { hangsAfterMs } from '../support/limits.ts';
import { type DiskFault, type Ended, endOf, unhurt } from './attempt.ts';
import { brokenChain } from './chain.ts';
import { outcomeOf } from './lies.ts';
import type { Service } from './service.ts';
import type { Subject, Thing } from './subjects.ts';

const program = fileURLToPath(new URL('../../bin/errand.js', import.meta.url));

/** Calls of the main thread that touch files or the network. */
const watched = [
  ...['openat', 'read', 'pread64', 'write', 'pwrite64', 'writev', 'close', 'fcntl', 'unlink', 'rename'],
  ...[
    'fsync',
    'fdatasync',
    'ftruncate',
    'connect',
    'sendto',
    'sendmsg',
    'recvfrom',
    'shutdown',
    'exit_group',
  ],
];

/** Calls that write the journal. */
const writing = ['openat', 'pwrite64', 'fsync', 'fdatasync', 'ftruncate'];

/** The nth call of that name since the process started, counted from 1. */
export interface Point {
  readonly call: string;
  readonly when: number;
}

export type Injury = Point & ({ readonly signal: 'SIGKILL' | 'SIGINT' } | Pick<DiskFault, 'error'>);

export interface Finding {
  readonly subject: string;
  readonly injury: Injury;
  readonly wrong: string;
}

export const hasStrace = (): boolean => spawnSync('strace', ['-V']).status === 0;

/** Lists a command's fault points: signals at any call once it opens the journal, and errors at its journal writes. */
export async function injuriesOf(service: Service, subject: Subject): Promise<Injury[]> {
  const calls = await traced(service, subject);
  const from = calls.findIndex(({ line }) => line.includes('journal.db'));
  const counts = new Map<string, number>();
  const points = calls.map(({ call, line }, at) => {
    const when = (counts.get(call) ?? 0) + 1;
    counts.set(call, when);
    return { call, when, isLate: at >= from, line };
  });
  const late = points.filter(({ isLate }) => isLate).map(({ call, when }) => ({ call, when }));
  // Error injection counts only calls on the journal's files.
  const onJournal = calls.filter(({ line }) => line.includes('/journal.db'));
  const writes = writing.flatMap((call) =>
    onJournal.filter((one) => one.call === call).map((_, at) => ({ call, when: at + 1 })),
  );
  return [
    ...late.flatMap((point) => (['SIGKILL', 'SIGINT'] as const).map((signal) => ({ ...point, signal }))),
    ...writes.flatMap((point) => (['EIO', 'ENOSPC'] as const).map((error) => ({ ...point, error }))),
  ];
}

async function traced(service: Service, subject: Subject): Promise<{ call: string; line: string }[]> {
  const workspace = makeWorkspace(service, await service.mint());
  const log = join(workspace.folder, 'trace');
  try {
    const thing = await subject.make(service, workspace.key, workspace.folder, (args) =>
      unhurt(args, workspace.environment),
    );
    await run(workspace, thing.args, ['-o', log, '-y', '-e', `trace=${watched.join(',')}`]);
    const lines = readFileSync(log, 'utf8').split('\n');
    return lines.flatMap((line) => {
      const call = /^(\w+)\(/.exec(line)?.[1];
      return call === undefined ? [] : [{ call, line }];
    });
  } finally {
    workspace.remove();
  }
}

const mostRepeats = 6;

/** Injects one fault into a command, then repeats it until it reports success. @returns the problems found. */
export async function hurt(
  service: Service,
  key: string,
  subject: Subject,
  injury: Injury,
): Promise<Finding[]> {
  const workspace = makeWorkspace(service, key);
  const wrong: string[] = [];
  try {
    const thing = await subject.make(service, key, workspace.folder, (args) =>
      unhurt(args, workspace.environment),
    );
    const how = 'signal' in injury ? `signal=${injury.signal}` : `error=${injury.error}`;
    const only = 'signal' in injury ? [] : journalPaths(workspace.state);
    const inject = `inject=${injury.call}:${how}:when=${injury.when}`;
    let ended = await run(workspace, thing.args, [
      '-o',
      '/dev/null',
      ...only,
      '-e',
      `trace=${injury.call}`,
      '-e',
      inject,
    ]);
    wrong.push(...(await untruths(thing, ended)));
    for (let turn = 0; !isDone(ended); turn += 1) {
      if (turn === mostRepeats) {
        wrong.push(`not done after ${mostRepeats} repetitions: ${ended.code} ${ended.stderr}`);
        break;
      }
      ended = await unhurt(thing.args, workspace.environment);
      wrong.push(...(await untruths(thing, ended)));
    }
    const count = await thing.count();
    if (count !== thing.meant)
      wrong.push(
        `${count} in place of ${thing.meant} after exit ${ended.code}: ${ended.stdout}${ended.stderr}`,
      );
    wrong.push(...brokenChain(workspace.folder));
  } finally {
    workspace.remove();
  }
  return wrong.map((what) => ({ subject: subject.name, injury, wrong: what }));
}

/** The run succeeded, or had reported the result before the fault. */
const isDone = (ended: Ended): boolean =>
  ended.code === 0 ||
  outcomeOf(ended)?.outcome === 'applied' ||
  (isWhole(ended.stdout) && !isOpen(ended.stdout));

/** Whether a list says of a row that it was not tried, or is in doubt. */
const isOpen = (text: string): boolean => /"outcome": "(?:not_tried|in_doubt)"/.test(text);

/** Whether the text is a complete record or list. */
const isWhole = (text: string): boolean => typeof parsed(text) === 'object';

/** Undefined if it is cut off. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks a list that says of each row what became of it. */
function wrongOfRows({ meant }: Thing, { stdout }: Ended, count: number): string[] {
  const list = parsed(stdout);
  if (!Array.isArray(list)) return [];
  const outcomes = list.flatMap(({ outcome }): string[] => outcome ?? []);
  if (outcomes.length === 0) return [];
  if (outcomes.length !== meant) return [`tells of ${outcomes.length} rows of ${meant}`];
  const done = outcomes.filter((outcome) => doneOutcome.test(outcome)).length;
  const doubtful = outcomes.filter((outcome) => outcome === 'in_doubt').length;
  return done <= count && count <= done + doubtful
    ? []
    : [`tells ${outcomes.join(', ')} of ${count} that are done`];
}

const doneOutcome = /^(?:was_)?(?:cancelled|requested)$/;

async function untruths(thing: Thing, ended: Ended): Promise<string[]> {
  const outcome = outcomeOf(ended);
  if (ended.code === null || ended.signal !== null) return [];
  const count = await thing.count();
  const wrong = wrongOfRows(thing, ended, count);
  if (wrong.length > 0) return wrong;
  if (ended.code === 0 && count === 0) return ['exit 0, and nothing was made'];
  const isDenied = outcome?.outcome === 'not_sent' || outcome?.outcome === 'rejected';
  return isDenied && count > 0 ? [`"${outcome.outcome}" of what was made: ${ended.stderr}`] : [];
}

interface Workspace {
  readonly folder: string;
  readonly state: string;
  readonly key: string;
  readonly environment: Record<string, string>;
  remove(): void;
}

function makeWorkspace(service: Service, key: string): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'errand-sweep-'));
  const state = join(folder, 'state');
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CACHE_HOME: caches,
    ERRAND_CONFIG_DIR: join(folder, 'config'),
    ERRAND_STATE_DIR: state,
    ERRAND_BASE_URL: service.baseUrl,
    ERRAND_API_KEY: key,
    ERRAND_NO_INPUT: '1',
  };
  return { folder, state, key, environment, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const journalPaths = (state: string): string[] =>
  ['', '-wal', '-shm', '-seal'].flatMap((end) => ['-P', join(state, `journal.db${end}`)]);

/** Runs a command to completion under strace. */
function run({ environment }: Workspace, args: readonly string[], strace: readonly string[]): Promise<Ended> {
  const all = ['-qq', '-e', 'signal=none', ...strace, process.execPath, program, ...args];
  const child = spawn('strace', all, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const late = setTimeout(() => child.kill('SIGKILL'), hangsAfterMs);
  return endOf(child).finally(() => clearTimeout(late));
}
