import type { Surface } from '../api/operation.ts';
import type { Environment } from '../config/paths.ts';
import type { Settings } from '../config/resolve.ts';
import type { Client } from '../http/client.ts';
import type { AuditOrigin } from '../journal/audit-entry.ts';
import type { RunIntent } from '../journal/intents.ts';
import type { Journal } from '../journal/journal.ts';
import type { Sender } from '../journal/journal-record.ts';
import type { Clock, ServiceClock } from '../platform/clock.ts';
import type { Interactivity } from '../platform/streams.ts';

/**
 * What placing an order requires from its caller. The caller is either a command's run or a call of `errand/safely`.
 */
export interface OrderContext {
  /** Arguments of the running command; undefined if the caller is a program. */
  readonly argv: readonly string[] | undefined;
  readonly clock: Clock;
  /** The service's wall clock. Until the service has sent its time, this is this machine's clock. */
  readonly serviceClock: Pick<ServiceClock, 'now' | 'isHeard'>;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
  readonly settings: OrderSettings;
  readonly interactive: Interactivity;
  /** Whether writes are shown instead of being sent (`--dry-run`, `--curl`). */
  readonly previewsRequests: boolean;
  /** Whether reads, too, are shown instead of being sent (`--curl`). */
  readonly previewsReads: boolean;
  client(): Promise<Client>;
  journal(): Promise<Journal>;
  /** The actor for the audit chain. It is determined on demand. */
  origin(): Promise<() => AuditOrigin>;
  /** Intents of this run that have not been reported to the user yet. */
  unreported(): readonly RunIntent[];
  /**
   * Whether orders are a rehearsal, which they are if they go to the embedded sandbox or use a test key. The legacy
   * surface has its own token, which may differ.
   */
  isRehearsal(surface?: Surface): boolean;
  /** The sender, based on the key in use. */
  sender(surface?: Surface): Promise<Sender>;
  /** Names of the profiles that use a base URL. */
  profilesAt(baseUrl: string): Promise<readonly string[]>;
  /** Asks for confirmation. Only in an interactive session. */
  confirm(question: string): Promise<boolean>;
  /** Asks for a line of text. Only in an interactive session. */
  askText(question: string): Promise<string>;
  /** This process's environment without errand's keys, for programs that errand runs on the user's behalf. */
  readonly environment: Environment;
  /** Reads all of stdin; only in a command's run. @throws UsageError beyond `limit` bytes. */
  readInput(limit: number): Promise<Buffer>;
  /** Prints a line for people. */
  note(line: string): void;
}

export interface OrderSettings
  extends Pick<
    Settings,
    'profile' | 'baseUrl' | 'legacyBaseUrl' | 'duplicateWindowMs' | 'database' | 'policySigner'
  > {
  /** Only the state folder is required, because the library has no configuration folder. */
  readonly folders: Pick<Settings['folders'], 'state'> & Partial<Settings['folders']>;
  /** The policy file; undefined if no policy applies. */
  readonly policy: Settings['policy'] | undefined;
}
