import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';

/** How many looks in a row must find a process asleep, and the time between two, ms. */
const looks = 8;
const everyMs = 25;

/**
 * Resolves once a process has nothing left to do but to wait. However busy the machine is, one that has something to do is
 * seen to run, or to stand in the line for a processor.
 */
export async function untilIdle(pid: number | undefined): Promise<void> {
  let last = '';
  for (let quiet = 0; quiet < looks; await sleep(everyMs)) {
    const now = activity(pid);
    quiet = now !== undefined && now === last ? quiet + 1 : 0;
    last = now ?? '';
  }
}

/** The processor time of a process; undefined while one of its threads runs, or waits for a processor or the disk. */
function activity(pid: number | undefined): string | undefined {
  const fields = (stat: string): string[] => stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  try {
    const [state, ...rest] = fields(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    // It has ended.
    if (state === 'Z') return 'ended';
    const threads = readdirSync(`/proc/${pid}/task`);
    const states = threads.map((at) => fields(readFileSync(`/proc/${pid}/task/${at}/stat`, 'utf8'))[0]);
    return states.every((one) => one === 'S') ? `${rest[10]} ${rest[11]}` : undefined;
  } catch {
    return pid === undefined ? expect.fail('the process was not started') : 'ended';
  }
}

/** Whether a process has a file open, by its name. */
export function opens(pid: number, name: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((at) => basename(readlinkSync(join(folder, at))) === name);
  } catch {
    // One that has ended has none; a file may be closed meanwhile.
    return false;
  }
}
