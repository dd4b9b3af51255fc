import { fstatSync, readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Environment } from './paths.ts';

/**
 * Identifies the terminal of this process by device and session, as far as the system tells. Undefined if no stream is
 * a TTY.
 */
export function terminalOf(environment: Environment, platform: NodeJS.Platform): string | undefined {
  const stream = [1, 0, 2].find((descriptor) => isatty(descriptor));
  if (stream === undefined) return undefined;
  // Windows has no terminal device numbers.
  const device = platform === 'win32' ? '' : String(fstatSync(stream).rdev);
  return `${device} ${sessionOf(environment, platform)}`;
}

/**
 * Session of the process on Linux. Elsewhere, the session that the terminal program reports; Windows falls back to the
 * parent process id.
 */
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
    // Some containers have no /proc. Omit the session there, because the device alone distinguishes most terminals.
    return '';
  }
}
