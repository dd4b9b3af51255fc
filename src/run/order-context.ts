import type { Surface } from '../api/operation.ts';
import type { Environment } from '../config/paths.ts';
import type { Settings } from '../config/resolve.ts';
import type { Client } from '../http/client.ts';
import type { AuditOrigin } from '../journal/audit-entry.ts';
import type { RunIntent } from '../journal/intents.ts';
import type { Journal } from '../journal/journal.ts';
import type { Sender } from '../journal/journal-record.ts';
import type { Clock } from '../platform/clock.ts';
import type { Interactivity } from '../platform/streams.ts';

/** What placing an order needs of whoever asks for one: the run of a command, or a call of `errand/safely`. */
export interface OrderContext {
  /** The words of the running command; undefined where a program asks. */
  readonly argv: readonly string[] | undefined;
  readonly clock: Clock;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
  readonly settings: OrderSettings;
  readonly interactive: Interactivity;
  /** Whether requests are shown in place of being sent (`--dry-run`, `--curl`). */
  readonly previewsRequests: boolean;
  /** Whether reads too are shown in place of being sent (`--curl`). */
  readonly previewsReads: boolean;
  client(): Promise<Client>;
  journal(): Promise<Journal>;
  /** Who acts, for the audit chain; looked up when it is first needed. */
  origin(): Promise<() => AuditOrigin>;
  /** What this run has recorded in the journal and the user has not been shown. */
  unreported(): readonly RunIntent[];
  /** Whether orders are rehearsed: the embedded sandbox, or a test key. The legacy surface has a token of its own. */
  isRehearsal(surface?: Surface): boolean;
  /** Who sends, by the key in use. */
  sender(surface?: Surface): Promise<Sender>;
  /** The names of the profiles whose service is at a base URL. */
  profilesAt(baseUrl: string): Promise<readonly string[]>;
  /** Asks for a yes. Only where it is interactive. */
  confirm(question: string): Promise<boolean>;
  /** Asks for a line of text. Only where it is interactive. */
  askText(question: string): Promise<string>;
  /** Of this process without our keys, for a program that the user asked to run. */
  readonly environment: Environment;
  /** All of stdin; only where a command runs. @throws UsageError past `limit` bytes. */
  readInput(limit: number): Promise<Buffer>;
  /** A line for people. */
  note(line: string): void;
}

export interface OrderSettings
  extends Pick<Settings, 'profile' | 'baseUrl' | 'legacyBaseUrl' | 'repeatWindowMs' | 'database'> {
  readonly folders: Pick<Settings['folders'], 'state'>;
  /** The file of the policy; undefined where none is to be followed. */
  readonly policy: Settings['policy'] | undefined;
}
