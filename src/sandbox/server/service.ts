import type { ControlState, FaultChange } from '../../api/control.ts';
import type { Sealer } from '../../platform/sealer.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { SandboxConfig } from '../config.ts';
import type { SandboxClock } from '../store/clock.ts';
import type { IdGenerator } from '../store/identity.ts';
import type { Snapshot } from '../store/snapshots.ts';
import type { Store } from '../store/store.ts';
import type { Exchange } from './request-log.ts';

/** Size of one unit of background work. A unit is a single transaction with one fsync. */
export interface Chunk {
  /** Maximum number of records. */
  readonly maxRecords: number;
  readonly maxMs: number;
}

/** Runs requests first, and background work in between. */
export interface Scheduler {
  /** Records the arrival of a request. */
  started(): void;
  /** Size of the next unit of background work. */
  readonly chunk: Chunk;
  /** Runs the work of a request ahead of background work. */
  ahead<T>(work: () => Promise<T>): Promise<T>;
  /** Pauses between two units of background work. @param workedMs duration of the previous unit. */
  pause(workedMs: number): Promise<void>;
}

/**
 * Number of requests to which a fault could have been applied, and number of requests to which the fault was applied.
 */
export interface FaultHits {
  requests: number;
  hits: number;
}

/** How long a read waits for due transitions to be processed. */
export interface ReadBudget {
  /**
   * @param now the sandbox time of the read, in ms since the epoch. @returns how long the read may wait, in ms of real
   * time.
   */
  forRead(now: number): number;
}

/** A sandbox exported as a scenario, with a list of what a scenario cannot express. */
export interface Exported {
  readonly scenario: Readonly<Record<string, unknown>>;
  /** Descriptions of what was left out, such as `1 batch, whose orders are there`. */
  readonly leftOut: readonly string[];
}

/**
 * Operations on a sandbox as a whole, whether it is served or embedded, in memory or in a file. Operations that change
 * the time or the entire state of the sandbox run one at a time. Methods throw Refusal for invalid or impossible
 * requests, and DatabaseError for problems with the data.
 */
export interface Control {
  /** The sandbox's state, as returned by the control API. */
  readonly state: ControlState;
  /**
   * Advances the clock by `ms` and processes everything that becomes due on the way.
   * @param budgetMs limits the real time spent. Once the budget is used up, the clock stops at the next due time.
   * @returns the new time in ms since the epoch, and the part of `ms` that is left.
   */
  advance(ms: number, budgetMs?: number): Promise<{ readonly now: number; readonly left: number }>;
  /** Processes everything due now and waits until each due webhook has been attempted. */
  settle(): Promise<void>;
  /** Snapshots, sorted by name. */
  snapshots(): Snapshot[];
  /**
   * Saves the state as a snapshot. @param force overwrites an existing snapshot of that name.
   * @returns the sandbox time of the snapshot, in ms since the epoch.
   */
  snapshot(name: string, options?: { readonly force?: boolean | undefined }): Promise<number>;
  /** Restores a snapshot, including its time. Faults and speed keep their current settings. */
  restore(name: string): Promise<void>;
  /** Deletes all data except snapshots. The sandbox continues with its startup configuration. */
  reset(): Promise<void>;
  /** The speed factor for new records. Existing timelines keep their own factor. */
  readonly speed: number;
  setSpeed(speed: number): Promise<void>;
  /** The active faults in `--fault` syntax, and the seed of their random draws. */
  faults(): {
    readonly faults: readonly string[];
    readonly seed: number;
    /** The counts of each fault, for the requests to this process. */
    readonly hits?: Readonly<Record<string, FaultHits>>;
  };
  /** Adds and removes faults atomically, even with concurrent changes from other processes. */
  changeFaults(change: FaultChange): Promise<void>;
  /** Exports the sandbox as a scenario that reproduces it. */
  export(): Promise<Exported>;
  /** Resolves once no operation is in progress. */
  idle(): Promise<void>;
}

/** The newest requests of a served sandbox. */
export interface RequestHistory {
  /** Total number of requests so far. */
  readonly total: number;
  /**
   * Requests about an order, oldest first. @param attempt also finds attempts to create the order that never reached
   * the service. These attempts have the same idempotency key.
   */
  about(orderId: string, attempt?: { readonly key?: string | null; readonly userId?: string }): Exchange[];
  /** Returns up to `limit` requests, newest first. `before` limits the result to requests with a smaller number. */
  latest(limit: number, before?: number): Exchange[];
}

/** Everything that a handler may access. The code that opens a sandbox chooses the implementation. */
export interface Service {
  readonly store: Store;
  readonly clock: SandboxClock;
  readonly config: SandboxConfig;
  readonly idGenerator: IdGenerator;
  /** Opened on first use. */
  catalogue(): Promise<Catalogue>;
  /** Encrypts secrets at rest. Reads or creates the encryption key on first use. */
  sealer(): Promise<Sealer>;
  /** Controls the sandbox as a whole; loaded on first use. */
  control(): Promise<Control>;
  /** Starts sending due webhooks. Does not wait until the webhooks are sent. */
  deliver(): void;
  /** Waits until each due webhook has been attempted, but no longer than `limitMs`. */
  attempted(limitMs: number): Promise<void>;
  readonly scheduler: Scheduler;
  readonly readBudget: ReadBudget;
  /** Log of requests, for a served sandbox. */
  readonly requests?: RequestHistory;
  /** Reports a bug. */
  report(error: unknown): void;
}
