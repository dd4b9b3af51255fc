import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { hangsAfterMs } from '../limits.ts';
import { miscounted } from './counts.ts';
import { makeWorkspace, prefer, type Workspace } from './workspace.ts';

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a line in bash in a workspace, as a person's shell would: no terminal, stdin as given or empty. */
export function shell(
  workspace: Workspace,
  line: string,
  options: { stdin?: string } = {},
): Promise<Finished> {
  return run(workspace, 'bash', ['-o', 'pipefail', '-c', line], options);
}

/** Runs the program with exact arguments. */
export function errand(
  workspace: Workspace,
  args: readonly string[],
  options: { stdin?: string } = {},
): Promise<Finished> {
  return run(workspace, 'errand', args, options);
}

let shop: Promise<string> | undefined;

/** Where the products of every embedded sandbox are, up to their slugs; asked of the program once. */
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

/** Places an order of a product that rehearses an outcome: `test-slow`. @param flags more of `order create`. @returns its id. */
export async function orderOf(
  workspace: Workspace,
  slug: string,
  flags: readonly string[] = [],
): Promise<string> {
  const url = `${await embeddedShop()}${slug}`;
  const create = ['order', 'create', '--product', url, '--max-price', '$50', '--ship-to', 'home', '--new'];
  return (await errand(workspace, [...create, ...flags, '-o', 'id'])).stdout.trim();
}

/** Where the products of a workspace's sandbox are, up to their slugs, once it works fast. */
export function fastShop(workspace: Workspace): Promise<string> {
  prefer(workspace, { 'sandbox-speed': 50 });
  return embeddedShop();
}

/** Starts a program in a workspace; whoever calls reads what it prints. */
export const begin = (
  workspace: Workspace,
  command: string,
  args: readonly string[],
): ChildProcessWithoutNullStreams =>
  spawn(command, args, { cwd: workspace.folder, env: workspace.environment, stdio: 'pipe' });

function run(
  workspace: Workspace,
  command: string,
  args: readonly string[],
  { stdin = '' }: { stdin?: string },
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = begin(workspace, command, args);
    const timer = setTimeout(() => child.kill('SIGKILL'), hangsAfterMs);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {});
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const [stdout, stderr] = [Buffer.concat(out).toString(), Buffer.concat(err).toString()];
      const wrong = miscounted(stdout, stderr);
      try {
        workspace.checkPrinted();
      } catch (error) {
        return reject(error);
      }
      if (wrong === undefined) resolve({ code, signal, stdout, stderr });
      else reject(new Error(`counts on one screen do not add up: ${wrong}\n${stdout}\n${stderr}`));
    });
    child.stdin.end(stdin);
  });
}
