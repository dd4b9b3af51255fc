import { readFileSync } from 'node:fs';

/** State of a process, as Linux reports it. */
export interface ProcessStat {
  readonly state: string;
  readonly session: string;
  /** When the process started, in clock ticks since the machine booted. */
  readonly started: string;
}

/**
 * Reads the state of a process from /proc. Undefined if there is no such process, or if there is no /proc, as in some
 * containers.
 */
export function statOf(pid: number | 'self'): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', session: fields[3] ?? '', started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
