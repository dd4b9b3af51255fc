import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { controlTokenHeader } from '../../api/control.ts';
import { ownUser, userAt } from './peer-user.ts';
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
