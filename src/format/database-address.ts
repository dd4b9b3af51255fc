import { join } from 'node:path';
import type { Clock } from '../platform/clock.ts';
import { sha256 } from './canonical.ts';

/** PostgreSQL database shared by several machines. */
export interface DatabaseAddress {
  /** `postgres://user:password@host:port/name`. Secret, because it contains the password. */
  readonly url: string;
  /** Host, port and name, for messages; no user or password. */
  readonly shown: string;
}

/** A shared database, with this machine's settings for it. */
export interface Sharing {
  readonly address: DatabaseAddress;
  /** Longest time a request may take, ms. */
  readonly maxRequestMs?: number | undefined;
  readonly clock?: Clock;
}

/** Folder of the local copy of a database, in the state folder. */
export const copyFolder = (state: string, { shown }: DatabaseAddress): string =>
  join(state, `team-${sha256(shown).slice(0, 12)}`);
