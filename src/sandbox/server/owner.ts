import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { isIPv4, type Socket } from 'node:net';
import { endianness, release } from 'node:os';
import { controlTokenHeader } from '../../api/control.ts';
import type { Sender } from './wire.ts';

/** The parameter of the printed address. */
export const codeParameter = 'token';

/** Why a request is refused that has neither the token nor the cookie, where the system does not tell whose it is. */
export const unknownUser = 'this request does not show whose it is';

/** What the system tells of users; a test can have it tell nothing, as most systems do. */
export interface Users {
  /** Who serves; undefined where the system does not tell who sends. */
  readonly own: number | undefined;
  readonly at: typeof userAt;
}

const systemUsers = (): Users => ({ own: ownUser(), at: userAt });

/** Who serves a sandbox, and so may see and control all of it; every other user of the machine has the service alone. */
export class Owner {
  /** Where the system does not tell who sends, what a command line sends that can read the file it is kept in. */
  readonly token: string | undefined;
  /** There too, what the printed address carries, for one browser. */
  readonly code: string | undefined;
  readonly #session = secret();
  readonly #cookie: string;
  readonly #users: Users;
  /** Whose a connection is, once that is certain. */
  readonly #known = new WeakMap<object, number>();
  #isCodeUsed = false;

  /** @param port browsers keep cookies by host, whatever the port. */
  constructor(port: number, users: Users = systemUsers()) {
    this.#users = users;
    this.#cookie = `errand_sandbox_${port}`;
    if (users.own !== undefined) return;
    this.token = secret();
    this.code = secret();
  }

  sender(request: IncomingMessage): Sender {
    return {
      stranger: () => this.#stranger(request),
      admit: (code) => this.#admit(code),
    };
  }

  #stranger(request: IncomingMessage): string | undefined {
    const { own, at } = this.#users;
    if (own === undefined) {
      if (this.#isShown(request)) return undefined;
      return unknownUser;
    }
    const { socket } = request;
    const user = this.#known.get(socket) ?? at(socket);
    if (user !== undefined) this.#known.set(socket, user);
    return user === own ? undefined : 'this request comes from another user';
  }

  /** Whether a request has the token of a command line, or the cookie of a browser. */
  #isShown({ headers }: IncomingMessage): boolean {
    const token = headers[controlTokenHeader];
    if (this.token !== undefined && typeof token === 'string' && isSame(token, this.token)) return true;
    return (headers.cookie ?? '')
      .split('; ')
      .some((pair) => isSame(pair, `${this.#cookie}=${this.#session}`));
  }

  #admit(code: string): string | undefined {
    if (this.code === undefined || this.#isCodeUsed || !isSame(code, this.code)) return undefined;
    this.#isCodeUsed = true;
    return `${this.#cookie}=${this.#session}; Path=/; HttpOnly; SameSite=Strict`;
  }
}

const secret = (): string => randomBytes(24).toString('base64url');

/** Compares in a time that tells nothing of the secret. */
function isSame(given: string, kept: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(kept));
}

/** The two ends of a connection. */
type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

const tables = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** The state of a connection that both ends have open; only then the table has the user of it for certain. */
const established = '01';
/** What the system writes in place of every user of another namespace. */
const overflowUser = 65_534;

/**
 * The user of this process, where the system tells which one is at the other end of a connection; elsewhere undefined.
 * Linux tells it; below Windows (WSL) it names the relay in place of the browser.
 */
function ownUser(): number | undefined {
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
