/** What is about to be asked of the service, once. */
export interface Intent {
  readonly key: string;
  readonly operation: string;
  readonly profile: string;
  readonly baseUrl: string;
  readonly keyMasked: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** How it is paid for, where that is by challenge. */
  readonly payment?: PaymentNote | undefined;
}

/** What the journal tells of a payment. What pays for it is kept apart, since it is a secret. */
export interface PaymentNote {
  readonly challenge_id: string;
  readonly method: string;
  /** In the currency's minor unit, a decimal string. */
  readonly amount: string;
  readonly currency: string;
  /** Until when it can be paid. */
  readonly expires: string | null;
}

export type IntentState = 'open' | 'settled' | 'refused' | 'forgotten';

/** A journal record, as `order journal list` shows it. Times ISO 8601. */
export interface JournalRecord {
  readonly key: string;
  readonly state: IntentState;
  readonly operation: string;
  readonly profile: string;
  readonly base_url: string;
  readonly sent_with: string;
  readonly body_hash: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly order_id: string | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly pid: number;
  readonly process_started: string;
  readonly created_at: string;
  readonly settled_at: string | null;
  readonly payment: PaymentNote | null;
  readonly [field: string]: unknown;
}

/** A row of the journal's table as a record, without the credential. */
export function recordOf({ credential: _, ...row }: Record<string, unknown>): JournalRecord {
  const { body, payment } = row;
  const read = {
    ...row,
    body: JSON.parse(String(body)),
    payment: typeof payment === 'string' ? JSON.parse(payment) : null,
  };
  // The table's own columns, written by the journal; body and payment are JSON of ours.
  return read as unknown as JournalRecord;
}
