import { readFileSync } from 'node:fs';
import { isIPv4, type Socket } from 'node:net';
import { endianness, release } from 'node:os';

/** The two ends of a connection. */
export type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

const tables = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** The state of a connection that both ends have open; only then the table has the user of it for certain. */
const established = '01';
/** What the system writes in place of every user of another namespace. */
const overflowUser = 65_534;

/**
 * The user of this process, where the system tells which one is at the other end of a connection; elsewhere undefined.
 * Linux tells it; below Windows (WSL) it names the relay in place of the browser.
 */
export function ownUser(): number | undefined {
  if (process.platform !== 'linux' || /microsoft/i.test(release())) return undefined;
  const user = process.geteuid?.();
  return user === overflowUser || readTable(tables[0]) === undefined ? undefined : user;
}

/** The user at the other end of a connection within this machine; undefined where that is not certain. */
export function userAt({ localAddress, localPort, remoteAddress, remotePort }: Ends): number | undefined {
  const here = hexOf(localAddress, localPort);
  const there = hexOf(remoteAddress, remotePort);
  // Seen from the other end, and as a socket for both families has it.
  const names = there.map((from, index) => `${from} ${here[index]}`);
  for (const table of tables) {
    for (const line of readTable(table)?.split('\n') ?? []) {
      const [, local, remote, state, , , , user, , inode] = line.trim().split(/\s+/);
      if (state !== established || inode === '0' || !names.includes(`${local} ${remote}`)) continue;
      return Number(user);
    }
  }
  return undefined;
}

function readTable(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

/** An end as the tables write it: of IPv4 as a socket for it has it, and as one for both families does. */
function hexOf(address = '', port = 0): string[] {
  const end = `:${port.toString(16).padStart(4, '0').toUpperCase()}`;
  const mapped = address.replace(/^::ffff:/i, '');
  if (isIPv4(mapped)) {
    const four = word(mapped.split('.').map(Number));
    return [four + end, `${'0'.repeat(16)}${word([0, 0, 0xff, 0xff])}${four}${end}`];
  }
  return address === '::1' ? [`${'0'.repeat(24)}${word([0, 0, 0, 1])}${end}`] : [];
}

/** Four bytes in the order of the machine. */
const word = (bytes: readonly number[]): string =>
  Buffer.from(endianness() === 'LE' ? bytes.toReversed() : bytes)
    .toString('hex')
    .toUpperCase();
