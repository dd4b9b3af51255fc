import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import { statOf } from '../platform/proc-stat.ts';
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
  // Some containers have no /proc. The device alone distinguishes most terminals there.
  if (platform === 'linux') return statOf('self')?.session ?? '';
  if (platform === 'win32') return WT_SESSION ?? String(process.ppid);
  return TERM_SESSION_ID ?? '';
}
