import { readFileSync } from 'node:fs';

/** What Linux tells of a process. */
export interface ProcessStat {
  readonly state: string;
  readonly session: string;
  /** When it started, in clock ticks since the machine did. */
  readonly started: string;
}

/** Reads /proc; undefined if there is no such process, or no such folder, as in some containers. */
export function statOf(pid: number | 'self'): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', session: fields[3] ?? '', started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
