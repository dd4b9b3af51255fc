import { join } from 'node:path';
import type { Clock } from '../platform/clock.ts';
import { sha256 } from './canonical.ts';

/** The PostgreSQL database that several machines share. */
export interface DatabaseAddress {
  /** `postgres://user:password@host:port/name`: a secret. */
  readonly url: string;
  /** Host, port and name, for messages: neither user nor password. */
  readonly shown: string;
}

/** A database that machines share, and how long this one may be at work on what it records there. */
export interface Sharing {
  readonly address: DatabaseAddress;
  /** The longest that a request may take, ms. */
  readonly longestRequestMs?: number | undefined;
  readonly clock?: Clock;
}

/** The folder of a machine's copy of a database, in its state folder. */
export const copyFolder = (state: string, { shown }: DatabaseAddress): string =>
  join(state, `team-${sha256(shown).slice(0, 12)}`);
