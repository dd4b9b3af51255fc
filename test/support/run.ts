import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { miscounted } from './counts.ts';
import { hangsAfterMs } from './limits.ts';
import { checkRun } from './printed/check.ts';
import { runLine } from './runner.ts';
import { makeWorkspace, prefer, recorder, type Workspace } from './workspace.ts';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Options {
  readonly stdin?: string;
}

/**
 * Runs a line in a workspace, as a person's shell would: no terminal, stdin as given or empty. A line that only calls the
 * program runs it as `errand` does; bash runs every other line.
 */
export async function shell(workspace: Workspace, line: string, options: Options = {}): Promise<Finished> {
  const words = await wordsOf(workspace, line);
  return words ? errand(workspace, words, options) : spawned(workspace, line, options);
}

/**
 * Runs the program with exact arguments, in a process that runs one command after another: `runner.mjs`. What such a process
 * cannot do has one of its own, and so has what begins while another run goes on in its workspace.
 */
export const errand = (
  workspace: Workspace,
  args: readonly string[],
  options: Options = {},
): Promise<Finished> =>
  isEachSpawned || hasOwnEntry(args) || isReadAtStart(workspace) || atWork.has(workspace.folder)
    ? spawned(workspace, args, options)
    : runInProcess(workspace, args, options);

/** The folders of the workspaces in which a run of `errand` goes on. */
const atWork = new Set<string>();

/** Runs the program with exact arguments, or a line in bash, in a process of its own: for a test that is about the process. */
export const spawned = (
  workspace: Workspace,
  run: readonly string[] | string,
  options: Options = {},
): Promise<Finished> =>
  typeof run === 'string'
    ? start(workspace, 'bash', ['-o', 'pipefail', '-c', run], options)
    : start(workspace, 'errand', run, options);

/** Every run has a process of its own: to see that it makes no difference. */
const isEachSpawned = process.env.SPAWNED === '1';

/** The help, the version and a TAB are not `main` (`bin/errand.js`), and `exec` lends its streams to a command. */
const hasOwnEntry = ([word = 'help', next]: readonly string[]): boolean =>
  ['--version', '-V', '--help', '-h', 'help', '__complete'].includes(word) ||
  (word === 'sandbox' && next === 'exec');

/** What a run in a shared process has as well: a clock, and what stands still in transcripts. The recorder it does not need. */
const preload = /--require[= ](\S+\/(?:clock-set|fixed-process|record)\.cjs)(?!\S)/g;

/** Whether a workspace says something to Node, or to who looks for the program, that only a start hears. */
const isReadAtStart = ({ folder, environment }: Workspace): boolean =>
  /\S/.test((environment.NODE_OPTIONS ?? '').replaceAll(preload, '')) ||
  Object.keys(environment).some((name) => /^NODE_(?!OPTIONS$)/.test(name)) ||
  !environment.PATH?.startsWith(join(folder, '.bin'));

/** The words of a line that only calls the program, as bash has them; undefined where it does more. */
async function wordsOf({ folder, environment }: Workspace, line: string): Promise<string[] | undefined> {
  const [, rest] = /^errand((?: [^|&;<>()`\n]*)?)$/.exec(line) ?? [];
  if (rest === undefined || isEachSpawned) return undefined;
  if (/^[\w ./:=,@%+-]*$/.test(rest)) return rest.split(' ').filter((word) => word !== '');
  const list = `set -- ${rest}\n[ $# -eq 0 ] || printf '%s\\0' "$@"`;
  const { code, stdout } = await finished(
    spawn('bash', ['-c', list], { cwd: folder, env: environment, stdio: 'pipe' }),
  );
  return code === 0 ? stdout.split('\0').slice(0, -1) : undefined;
}

async function runInProcess(
  { folder, environment, leniency }: Workspace,
  args: readonly string[],
  { stdin }: Options,
): Promise<Finished> {
  const { NODE_OPTIONS = '', ERRAND_OUTPUT: preset = '' } = environment;
  const preloads = [...NODE_OPTIONS.matchAll(preload)].map(([, file = '']) => file);
  atWork.add(folder);
  const { crash, ...ended } = await runLine({
    argv: args,
    file: join(folder, '.bin/errand'),
    folder,
    env: environment,
    ...(stdin !== undefined && { stdin }),
    preloads: preloads.filter((file) => file !== recorder),
  });
  atWork.delete(folder);
  if (crash !== undefined)
    throw new Error(`errand ${args.join(' ')}: ${crash}\n${ended.stdout}\n${ended.stderr}`);
  checkRun({ ...ended, argv: args, preset, code: ended.code ?? 0 }, leniency);
  return counted({ code: ended.code, signal: null, stdout: ended.stdout, stderr: ended.stderr });
}

let shop: Promise<string> | undefined;

/** Base URL of the products in every embedded sandbox; looked up once. */
export function embeddedShop(): Promise<string> {
  shop ??= (async () => {
    const workspace = makeWorkspace();
    try {
      const { stdout } = await errand(workspace, ['sandbox', 'products', '-o', 'id']);
      return (stdout.split('\n')[0] ?? '').replace(/[^/]*$/, '');
    } finally {
      workspace.remove();
    }
  })();
  return shop;
}

/** Orders a test product, such as `test-slow`. @param flags further flags of `order create`. @returns its id. */
export async function orderOf(
  workspace: Workspace,
  slug: string,
  flags: readonly string[] = [],
): Promise<string> {
  const url = `${await embeddedShop()}${slug}`;
  const create = ['order', 'create', '--product', url, '--max-price', '$50', '--ship-to', 'home', '--new'];
  return (await errand(workspace, [...create, ...flags, '-o', 'id'])).stdout.trim();
}

/** Speeds up a workspace's sandbox and returns the base URL of its products. */
export function fastShop(workspace: Workspace): Promise<string> {
  prefer(workspace, { 'sandbox-speed': 50 });
  return embeddedShop();
}

/** Starts a program in a workspace; the caller reads its output. */
export const begin = (
  workspace: Workspace,
  command: string,
  args: readonly string[],
): ChildProcessWithoutNullStreams =>
  spawn(command, args, { cwd: workspace.folder, env: workspace.environment, stdio: 'pipe' });

async function start(
  workspace: Workspace,
  command: string,
  args: readonly string[],
  { stdin = '' }: Options,
): Promise<Finished> {
  const ended = await finished(begin(workspace, command, args), stdin);
  workspace.checkPrinted();
  return counted(ended);
}

function finished(child: ChildProcessWithoutNullStreams, stdin = ''): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), hangsAfterMs);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {});
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
    child.stdin.end(stdin);
  });
}

/** @throws Error where the counts on one screen do not add up. */
function counted(ended: Finished): Finished {
  const wrong = miscounted(ended.stdout, ended.stderr);
  if (wrong === undefined) return ended;
  throw new Error(`counts on one screen do not add up: ${wrong}\n${ended.stdout}\n${ended.stderr}`);
}
