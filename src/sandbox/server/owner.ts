import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { isIPv4, type Socket } from 'node:net';
import { endianness, release } from 'node:os';
import { controlTokenHeader } from '../../api/control.ts';
import type { Sender } from './wire.ts';

/** Query parameter of the printed URL. */
export const codeParameter = 'token';

/** Message for a request without a token or cookie. Used on systems that cannot determine which user sent a request. */
export const unknownUser = 'this request does not show whose it is';

/**
 * User information from the operating system. Tests can replace it with an implementation that knows no users, as on
 * most systems.
 */
export interface Users {
  /** The user running the sandbox; undefined if the system cannot tell who sends a request. */
  readonly own: number | undefined;
  readonly at: typeof userAt;
}

const systemUsers = (): Users => ({ own: ownUser(), at: userAt });

/**
 * The user who runs a sandbox. This user may see and control everything in the sandbox. Other users of the machine can
 * only use the API.
 */
export class Owner {
  /**
   * Token sent by every CLI that can read the token file. Used on systems that cannot tell which user sends a request.
   */
  readonly token: string | undefined;
  /**
   * Single-use code in the printed URL, which admits one browser. Used on systems that cannot tell which user sends a
   * request.
   */
  readonly code: string | undefined;
  readonly #session = secret();
  readonly #cookie: string;
  readonly #users: Users;
  /** The user behind each connection. Contains only users who were determined with certainty. */
  readonly #known = new WeakMap<object, number>();
  #isCodeUsed = false;

  /** @param port makes the cookie name unique, because browsers share cookies across ports. */
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

  /** Whether a request has a CLI's token or a browser's cookie. */
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

/** Compares in constant time, so that timing reveals nothing about the secret. */
function isSame(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}

/** Both ends of a connection. */
type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

const tables = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** TCP state of an established connection. Only in this state does the kernel's table name the user reliably. */
const established = '01';
/** User id that Linux reports for every user outside the process's user namespace. */
const overflowUser = 65_534;

/**
 * The user of this process; undefined if the system cannot tell which user is at the other end of a connection. Linux
 * can tell; WSL cannot, because it reports its relay instead of the browser.
 */
function ownUser(): number | undefined {
  if (process.platform !== 'linux' || /microsoft/i.test(release())) return undefined;
  const user = process.geteuid?.();
  return user === overflowUser || readTable(tables[0]) === undefined ? undefined : user;
}

/** The user at the other end of a local connection; undefined if the user cannot be determined. */
export function userAt({ localAddress, localPort, remoteAddress, remotePort }: Ends): number | undefined {
  const here = hexOf(localAddress, localPort);
  const there = hexOf(remoteAddress, remotePort);
  // The tables list both ends of the connection. The entry of the other end has the addresses swapped, in IPv4 or in
  // dual-stack notation.
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

/** Formats an endpoint as in the kernel's tables. For an IPv4 endpoint, also returns its dual-stack form. */
function hexOf(address = '', port = 0): string[] {
  const end = `:${port.toString(16).padStart(4, '0').toUpperCase()}`;
  const mapped = address.replace(/^::ffff:/i, '');
  if (isIPv4(mapped)) {
    const four = word(mapped.split('.').map(Number));
    return [four + end, `${'0'.repeat(16)}${word([0, 0, 0xff, 0xff])}${four}${end}`];
  }
  return address === '::1' ? [`${'0'.repeat(24)}${word([0, 0, 0, 1])}${end}`] : [];
}

/** Four bytes in native byte order. */
const word = (bytes: readonly number[]): string =>
  Buffer.from(endianness() === 'LE' ? bytes.toReversed() : bytes)
    .toString('hex')
    .toUpperCase();
