import type { Output } from '../api/outputs/index.ts';
import type { Mac } from './mac.ts';

/** The sender of a request: the masked key, and the account that pays. */
export interface Sender {
  readonly keyMasked: string;
  /** Fingerprint of the key. The same key has the same fingerprint under any profile name. */
  readonly account: string;
  /** Signs the audit entries of an intent. A record without a signature is never resent. */
  readonly mac?: Mac | undefined;
}

/** An account, and a Mac with the account's key. The Mac signs audit entries. */
export interface Signer {
  readonly account: string;
  readonly mac: Mac;
}

/** A request about to be sent to the service, exactly once. */
export interface Intent extends Sender {
  readonly key: string;
  readonly keyOrigin: KeyOrigin;
  readonly operation: string;
  readonly profile: string;
  readonly baseUrl: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The payment, if the request is paid for by challenge. */
  readonly payment?: PaymentNote | undefined;
}

/**
 * How long a service can be trusted to remember an idempotency key, in ms. After that time, the same key may place a
 * second order.
 */
export const keyLifetimeMs = 24 * 3600 * 1000;

/** Who created the key: `chosen` by the user, or `made` by errand, either at random or derived from the content. */
export type KeyOrigin = 'made' | 'chosen';

/** The part of a payment that is stored in the journal. The credential is secret and stored separately. */
export interface PaymentNote {
  readonly challenge_id: string;
  readonly method: string;
  /** Decimal string, in the currency's minor unit. */
  readonly amount: string;
  readonly currency: string;
  /** Payment deadline. */
  readonly expires: string | null;
}

/**
 * State of an intent. `intended`: the request may have been sent, and no response is recorded. `responded`: the service
 * has executed the request, and the user has not seen the outcome. `reported`: the user has seen the outcome.
 * `refused`, `forgotten`: the record is closed, and nothing is pending. With code `undone`, a sandbox was rolled back
 * to a time before the intent. `damaged`: the record fails verification and is never sent.
 */
export type IntentState = 'intended' | 'responded' | 'reported' | 'refused' | 'forgotten' | 'damaged';

/**
 * A journal record as `order journal list` shows it, plus the account that the record belongs to. Times are in ISO
 * 8601.
 */
export type JournalRecord = Output<'JournalRecord'> & { readonly account: string };

/** Whether the service is known to have acted on the intent. */
export const isMade = ({ state }: Pick<JournalRecord, 'state'>): boolean =>
  state === 'responded' || state === 'reported';

/**
 * Account of records that were written before accounts were stored. The masked key of such a record does not identify
 * the account.
 */
export const maskedAccount = (keyMasked: string): string => `masked ${keyMasked}`;

/** Whether the record's account is unknown. */
export const isUnnoted = ({ account }: Pick<JournalRecord, 'account'>): boolean =>
  account.startsWith(maskedAccount(''));

/** Placeholder account of orders paid by challenge, which belong to no account. */
export const paidAccount = 'paid by challenge';

/** Why an intent was refused. */
export interface RejectionReason {
  readonly code: string;
  readonly message: string;
}

/** Whether a record was sent with a test key, judging by the masked key in the record. */
export const wasSentWithTestKey = ({ sent_with: masked }: Pick<JournalRecord, 'sent_with'>): boolean =>
  /^[A-Za-z0-9]+_test_/.test(masked);
