import { fstatSync, readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Environment } from './paths.ts';

/**
 * What tells the terminal that this process stands in from every other one: its device and its session, as far as the
 * system says. Undefined where no stream is a terminal.
 */
export function terminalOf(environment: Environment, platform: NodeJS.Platform): string | undefined {
  const stream = [1, 0, 2].find((descriptor) => isatty(descriptor));
  if (stream === undefined) return undefined;
  // Windows numbers no terminals.
  const device = platform === 'win32' ? '' : String(fstatSync(stream).rdev);
  return `${device} ${sessionOf(environment, platform)}`;
}

/** The session of a process on Linux; elsewhere what the terminal's program says, and on Windows who started this one. */
function sessionOf({ TERM_SESSION_ID, WT_SESSION }: Environment, platform: NodeJS.Platform): string {
  if (platform === 'linux') return sessionInProc();
  if (platform === 'win32') return WT_SESSION ?? String(process.ppid);
  return TERM_SESSION_ID ?? '';
}

function sessionInProc(): string {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3] ?? '';
  } catch {
    // Some containers have no /proc; the device alone tells most terminals apart.
    return '';
  }
}
