import type { Sharing } from '../format/database-address.ts';
import type { AuditOrigin } from './audit-entry.ts';
import type { Birth } from './birth.ts';
import type { OpenOptions } from './database.ts';
import type { Twin } from './twins.ts';

export interface JournalOptions extends OpenOptions {
  /** How long what was reported is looked for, ms. */
  readonly repeatWindowMs?: number;
  readonly birth?: Birth;
  /** Who acts, for the audit chain. */
  readonly origin?: () => AuditOrigin;
  /** The database that holds the journal, where machines share one. */
  readonly shared?: Sharing | undefined;
}

/** `mayBeSent`: an earlier process may have sent it. */
export type Recorded =
  | { readonly twin: Twin; readonly mayBeSent?: never }
  | { readonly twin?: never; readonly mayBeSent: boolean };

/** How long what was reported stays recent at least, ms. */
export const shortestRecentMs = 3600 * 1000;
