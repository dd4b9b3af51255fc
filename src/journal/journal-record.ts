import type { Output } from '../api/outputs/index.ts';
/** Who sends: which key, as far as it may be shown, and whose money it is. */
export interface Sender {
  readonly keyMasked: string;
  /** A fingerprint of the key; equal for the same key under any profile name. */
  readonly account: string;
}

/** What is about to be requested of the service, once. */
export interface Intent extends Sender {
  readonly key: string;
  readonly keyOrigin: KeyOrigin;
  readonly operation: string;
  readonly profile: string;
  readonly baseUrl: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** How it is paid for, where that is by challenge. */
  readonly payment?: PaymentNote | undefined;
}

/** How long a service is trusted to keep an idempotency key, ms. After that the same key may make a second order. */
export const keyLifeMs = 24 * 3600 * 1000;

/** A key is chosen by the user, or made by errand: at random, or from the content. */
export type KeyOrigin = 'made' | 'chosen';

/** What the journal holds of a payment. What pays for it is kept apart, since it is a secret. */
export interface PaymentNote {
  readonly challenge_id: string;
  readonly method: string;
  /** In the currency's minor unit, a decimal string. */
  readonly amount: string;
  readonly currency: string;
  /** Until when it can be paid. */
  readonly expires: string | null;
}

/**
 * `intended`: it may have been sent, and no response was recorded. `responded`: the service has it, and the user has not
 * been shown yet. `reported`: the user has been shown it. `refused`, `forgotten`: nothing is expected of it; with the code `undone` a sandbox has
 * gone back to a state before it. `damaged`: the
 * record is not what was written, and is never sent.
 */
export type IntentState = 'intended' | 'responded' | 'reported' | 'refused' | 'forgotten' | 'damaged';

/** A journal record, as `order journal list` shows it, and whose money it is about. Times ISO 8601. */
export type JournalRecord = Output<'JournalRecord'> & { readonly account: string };

/** Whether the service is known to have made something of an intent. */
export const isMade = ({ state }: Pick<JournalRecord, 'state'>): boolean =>
  state === 'responded' || state === 'reported';

/** The account of a record that was written when none was noted: how its key is shown names nobody. */
export const maskedAccount = (keyMasked: string): string => `masked ${keyMasked}`;

/** Whether nobody knows whose a record is. */
export const isUnnoted = ({ account }: Pick<JournalRecord, 'account'>): boolean =>
  account.startsWith(maskedAccount(''));

/** In place of the account of an order that is paid by challenge: nobody's. */
export const paidAccount = 'paid by challenge';
