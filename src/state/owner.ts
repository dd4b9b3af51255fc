import { readFileSync } from 'node:fs';

/** A process as its pid and when it started, so that a reused pid is not taken for it. */
export interface Owner {
  readonly pid: number;
  readonly started: string;
}

/** This process. */
export const self = (): Owner => ({ pid: process.pid, started: startOf(process.pid) ?? '' });

/** No process: what it owns is free. No system gives that pid. */
export const nobodyAtWork: Owner = { pid: 2 ** 31 - 1, started: '' };

/** Whether the process that is named is still alive. */
export function isAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process may have got the pid since.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const now = startOf(pid);
  return now === undefined || started === '' || now === started;
}

/** Start time in clock ticks since boot, where the system says so (Linux). */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
