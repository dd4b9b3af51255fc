import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

/** Number of consecutive samples that must find a process asleep, and their interval, ms. */
const looks = 8;
const everyMs = 25;

/**
 * Resolves once a process is only waiting. Reliable under load: a process with work to do shows up as running or
 * runnable.
 */
export async function untilIdle(pid: number | undefined): Promise<void> {
  let last = '';
  for (let quiet = 0; quiet < looks; await sleep(everyMs)) {
    const now = activity(pid);
    quiet = now !== undefined && now === last ? quiet + 1 : 0;
    last = now ?? '';
  }
}

/** CPU time of a process; undefined while any thread runs, is runnable or waits for the disk. */
function activity(pid: number | undefined): string | undefined {
  const fields = (stat: string): string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  try {
    const [state, ...rest] = fields(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    // A zombie has ended.
    if (state === 'Z') return 'ended';
    const threads = readdirSync(`/proc/${pid}/task`);
    const states = threads.map((at) => fields(readFileSync(`/proc/${pid}/task/${at}/stat`, 'utf8'))[0]);
    return states.every((one) => one === 'S') ? `${rest[10]} ${rest[11]}` : undefined;
  } catch {
    return pid === undefined ? expect.fail('the process was not started') : 'ended';
  }
}

/** Whether a process has a file of that name open. */
export function opens(pid: number, name: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((at) => basename(readlinkSync(join(folder, at))) === name);
  } catch {
    // The process has ended, or a file was closed meanwhile.
    return false;
  }
}
