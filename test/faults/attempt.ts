import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FaultProxy, Moment } from './proxy.ts';

const program = fileURLToPath(new URL('../../bin/errand.js', import.meta.url));
const clockBack = new URL('./clock-back.mjs', import.meta.url).href;

/** What is done to the process while it works. */
export type Blow =
  | { readonly signal: NodeJS.Signals; readonly at: Moment }
  | { readonly signal: NodeJS.Signals; readonly afterMs: number };

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Attempt {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly proxy: FaultProxy;
  readonly blow?: Blow | undefined;
  readonly clockIsBack?: boolean;
}

/** Runs the program once; a blow falls at its moment or after its time. A process that does not end is a failure. */
export function attempt({ args, environment, proxy, blow, clockIsBack = false }: Attempt): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const node = clockIsBack ? ['--import', clockBack] : [];
    const child = spawn(process.execPath, [...node, program, ...args], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
    const strike = (): void => void child.kill(blow?.signal);
    const timer = blow && 'afterMs' in blow ? setTimeout(strike, blow.afterMs) : undefined;
    proxy.onMoment = (moment) => {
      if (blow && 'at' in blow && blow.at === moment) strike();
    };
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(late);
      clearTimeout(timer);
      proxy.onMoment = () => {};
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}
