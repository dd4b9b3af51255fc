import type { ControlState, FaultChange } from '../../api/control.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { SandboxConfig } from '../config.ts';
import type { SandboxClock } from '../store/clock.ts';
import type { Identity } from '../store/identity.ts';
import type { Sealer } from '../store/secrets.ts';
import type { Snapshot } from '../store/snapshots.ts';
import type { Store } from '../store/store.ts';
import type { Exchange } from './request-log.ts';

/** How much is done in the background at a time, in one transaction and with one wait for the disk. */
export interface Piece {
  /** Records. */
  readonly most: number;
  readonly longestMs: number;
}

/** Lets requests work first, and background work in between. */
export interface Scheduler {
  /** A request has come. */
  came(): void;
  /** How much the next piece of work in the background may be. */
  readonly piece: Piece;
  /** Runs what a request does for itself alone. */
  ahead<T>(work: () => Promise<T>): Promise<T>;
  /** A pause between two pieces of work in the background. @param workedMs how long the piece before took. */
  pause(workedMs: number): Promise<void>;
}

/** How long a read waits for what is due. */
export interface ReadPatience {
  /** For a read at `now`, the sandbox's time in ms. @returns ms of real time. */
  forRead(now: number): number;
}

/** A sandbox as a scenario, and what of it no scenario says. */
export interface Exported {
  readonly scenario: Readonly<Record<string, unknown>>;
  /** In words: `1 batch, whose orders are there`. */
  readonly leftOut: readonly string[];
}

/**
 * What is done to a sandbox as a whole: the same for one that is served, embedded, in memory or in a file. What changes
 * its time or all of its state goes one after the other. Each method throws a Refusal for what it is not given rightly or
 * cannot be done, DatabaseError where the data is to blame.
 */
export interface Control {
  /** How it stands, as the control surface says it. */
  readonly state: ControlState;
  /**
   * Moves the clock forward by `ms`, through all that is due on the way.
   * @param budgetMs of the machine's time, after which it ends at the next moment that something was due.
   * @returns the new time, ms since the epoch, and what of `ms` is left.
   */
  advance(ms: number, budgetMs?: number): Promise<{ readonly now: number; readonly left: number }>;
  /** Brings about what is due now, and waits until webhooks are attempted. */
  settle(): Promise<void>;
  /** The kept states, in the order of their names. */
  snapshots(): Snapshot[];
  /**
   * Keeps the state under a name. @param force also where there is one of that name.
   * @returns the sandbox's time then, ms since the epoch.
   */
  snapshot(name: string, options?: { readonly force?: boolean | undefined }): Promise<number>;
  /** Brings a kept state back, its time with it; faults and speed stay as they are set now. */
  restore(name: string): Promise<void>;
  /** Deletes all that it holds. It goes on as it was started; snapshots stay. */
  reset(): Promise<void>;
  /** The speed-up factor of what is created from now on; what has a future already keeps it. */
  readonly speed: number;
  setSpeed(speed: number): Promise<void>;
  /** The faults that are on, as `--fault` writes them, and the seed that their draws follow from. */
  faults(): { readonly faults: readonly string[]; readonly seed: number };
  /** Switches faults on and off in one step, whatever other processes switch meanwhile. */
  changeFaults(change: FaultChange): Promise<void>;
  /** The sandbox as the scenario that comes to it again. */
  export(): Promise<Exported>;
  /** Done once nothing of it is under way. */
  idle(): Promise<void>;
}

/** The newest requests of a served sandbox. */
export interface RequestHistory {
  /** How many there have been. */
  readonly total: number;
  /** Those about an order, oldest first. */
  about(orderId: string): Exchange[];
  /** Those before the one with a number, newest first. */
  newest(limit: number, before?: number): Exchange[];
}

/** What every handler may touch. What implements it is chosen where a sandbox is opened. */
export interface Service {
  readonly store: Store;
  readonly clock: SandboxClock;
  readonly config: SandboxConfig;
  readonly identity: Identity;
  /** Opened when it is first needed. */
  catalogue(): Promise<Catalogue>;
  /** Seals secrets at rest; its key is read or made when it is first needed. */
  sealer(): Promise<Sealer>;
  /** What is done to the sandbox as a whole; loaded when it is first needed. */
  control(): Promise<Control>;
  /** Sends the webhooks that are due, without waiting for them. */
  deliver(): void;
  readonly pace: Scheduler;
  readonly patience: ReadPatience;
  /** The requests to a sandbox that is being served. */
  readonly requests?: RequestHistory;
  /** Receives a bug. */
  report(error: unknown): void;
}
