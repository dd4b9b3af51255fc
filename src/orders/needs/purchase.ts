import type { Attempt, AttemptClaim } from '../../journal/attempts.ts';
import type { JournaledOperation, MadeBy } from '../order-record.ts';
import type { Body, IntentOf, Made, Placing } from '../submit/intent.ts';
import type { SeenOrder } from './service-orders.ts';

/** An order to place, and what the entry point does about it. `N` is the operation that places the order. */
export interface Purchase<N extends JournaledOperation> {
  /** The order's products and recipient, and what else is compared with earlier orders. */
  readonly order: Body;
  /**
   * The order's intent; its key does not matter. If a command was interrupted, repeating the command finds the record
   * by the content of the intent.
   */
  readonly intent: IntentOf<N>;
  readonly placing: Placing;
  /** Command line that repeats the order. Defaults to the command line of this run. */
  readonly command?: string | undefined;
  /** Records an attempt and sends it. @returns undefined if another process has meanwhile decided about the need. */
  send(attempt: AttemptToSend): Promise<Made<MadeBy[N]> | undefined>;
  /** Result to return instead of refusing the order or asking the user; undefined if there is no such result. */
  existing?(): Promise<Made<MadeBy[N]> | undefined>;
  /** Converts an existing order to the result of this operation. */
  adopt(found: SeenOrder): MadeBy[N];
}

/** The attempt to send. */
export interface AttemptToSend {
  /** Number of the attempt; 1 for the first attempt at its need. */
  readonly number: number;
  /** Reads the earlier attempts at the same need. */
  earlier(): Promise<readonly Attempt[]>;
  /** The claim to persist together with the intent. @param key is the key with which the attempt is sent. */
  claim(key: string): AttemptClaim;
  /** Informs the user about the previous attempt. Call this once the new attempt is recorded. */
  noteEarlier(): void;
}
