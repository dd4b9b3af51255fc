import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import { statOf } from '../platform/proc-stat.ts';
import type { Environment } from './paths.ts';

/**
 * Identifies the terminal of this process by device and session, as far as the system reveals them. Undefined if none
 * of the process's streams is a TTY.
 */
export function terminalOf(environment: Environment, platform: NodeJS.Platform): string | undefined {
  const stream = [1, 0, 2].find((descriptor) => isatty(descriptor));
  if (stream === undefined) return undefined;
  // Windows has no terminal device numbers.
  const device = platform === 'win32' ? '' : String(fstatSync(stream).rdev);
  return `${device} ${sessionOf(environment, platform)}`;
}

/**
 * The session of the process on Linux. On other systems, the session that the terminal program reports. On Windows, the
 * id of the parent process if the terminal program reports none.
 */
function sessionOf({ TERM_SESSION_ID, WT_SESSION }: Environment, platform: NodeJS.Platform): string {
  // Some containers have no /proc. There, the device alone distinguishes most terminals.
  if (platform === 'linux') return statOf('self')?.session ?? '';
  if (platform === 'win32') return WT_SESSION ?? String(process.ppid);
  return TERM_SESSION_ID ?? '';
}
