import type { Attempt, AttemptClaim } from '../../journal/attempts.ts';
import type { JournaledOperation, MadeBy } from '../order-record.ts';
import type { Body, IntentOf, Made, Placing } from '../submit/intent.ts';
import type { SeenOrder } from './service-orders.ts';

/** An order to place, and what its entry point does about it. `N` is the operation that places it. */
export interface Purchase<N extends JournaledOperation> {
  /** Its products, its recipient, and what else is compared with earlier orders. */
  readonly order: Body;
  /**
   * Its intent, without regard to the key. A repeated command finds the record of an interrupted one by its content.
   */
  readonly intent: IntentOf<N>;
  readonly placing: Placing;
  /** Command line that repeats it; by default that of this run. */
  readonly command?: string | undefined;
  /** Records the attempt and sends it. @returns undefined if another process has decided about the need meanwhile. */
  send(attempt: AttemptToSend): Promise<Made<MadeBy[N]> | undefined>;
  /** Result to return instead of refusing the order, or of asking the user; undefined if there is none. */
  existing?(): Promise<Made<MadeBy[N]> | undefined>;
  /** Converts an existing order to the result of this operation. */
  adopt(found: SeenOrder): MadeBy[N];
}

/** The attempt to send. */
export interface AttemptToSend {
  /** 1 for the first attempt at its need. */
  readonly number: number;
  /** Reads the earlier attempts at its need. */
  earlier(): Promise<readonly Attempt[]>;
  /** What to persist together with the intent. @param key is the key that the attempt is sent with. */
  claim(key: string): AttemptClaim;
  /** Tells the user about the previous attempt. Call it once this attempt is recorded. */
  noteEarlier(): void;
}
