import { join } from 'node:path';
import type { Clock } from '../platform/clock.ts';
import { sha256 } from './canonical.ts';

/** Address of a PostgreSQL database that several machines share. */
export interface DatabaseAddress {
  /** `postgres://user:password@host:port/name`. It contains the password, so it is secret. */
  readonly url: string;
  /** Host, port and name, for messages. Contains no user and no password. */
  readonly shown: string;
}

/** A shared database, and this machine's settings for it. */
export interface Sharing {
  readonly address: DatabaseAddress;
  /** Maximum time that a request may take, in ms. */
  readonly maxRequestMs?: number | undefined;
  readonly clock?: Clock;
}

/** Path of the folder for the local copy of a database. It is inside the state folder. */
export const copyFolder = (state: string, { shown }: DatabaseAddress): string =>
  join(state, `team-${sha256(shown).slice(0, 12)}`);
