/** The actor and command; never contains an address, a person's name, an email or a secret. */
export interface AuditOrigin {
  /** System user and host. */
  readonly actor: string;
  /** CI job, if the environment names one. */
  readonly job: string | null;
  /** Command without potentially private values. */
  readonly command: string;
  /** Hash that stands for the terminal where the command runs; undefined without a terminal. */
  readonly terminal?: string | undefined;
}

export const nobody: AuditOrigin = { actor: 'unknown', job: null, command: '' };

/**
 * The reservation of one order, as stored in the audit entry of the order's intent: a hash of the order's key, the
 * amount in cents, the time of the first reservation (in ms since the epoch), a hash of the other terms, and the id of
 * the approval if the order uses one.
 */
export type ReservedOrder = readonly [
  order: string,
  cents: number,
  at: number,
  terms: string,
  approval?: string | undefined,
];

/** The reservations of an intent, as stored in its audit entry. */
export interface ReservedByIntent {
  readonly rehearsal: boolean;
  readonly orders: readonly ReservedOrder[];
}

/** Details of each kind of record, besides the common columns. */
export interface AuditDetails {
  /** An intent was recorded and is about to be sent. `again` is true if the intent's key is already in doubt. */
  intent: {
    readonly operation: string;
    /** Fingerprint of the API key. */
    readonly account: string;
    /** SHA-256 of the canonical content. */
    readonly content: string;
    /** SHA-256 of the canonical shipping address, salted; the salt never leaves the journal. */
    readonly address: string | null;
    readonly again: boolean;
    /** Number of intents in the journal, including this one. */
    readonly recorded: number;
    /** SHA-256 of the policy file that applied when the intent's money was reserved; null without a policy. */
    readonly policy: string | null;
    /** Set if the entries that end the intent are signed; entries of earlier versions do not have it. */
    readonly ends?: 'signed';
    /** Money reserved for the intent. Set only in a shared journal, and only if a policy applies. */
    readonly reserved?: ReservedByIntent;
    /** Same as `terminal` in `AuditOrigin`. `errand undo` uses the hash to find what this terminal has sent. */
    readonly terminal?: string;
  };
  /**
   * A program received a quote and may place it as an order. `cents` is the quote's maximum cost, including the fee.
   */
  quoted: {
    /** Prefix of the SHA-256 of the quote's handle. */
    readonly quote: string;
    /** Fingerprint of the API key. */
    readonly account: string;
    /** SHA-256 of the canonical content. */
    readonly content: string;
    /** ISO 8601. */
    readonly until: string;
  };
  /** A process took over an intent in doubt in order to settle it. */
  resumed: Attempt;
  /** The service executed an intent. */
  responded: Attempt;
  /** The service certainly did not execute an intent. */
  refused: Attempt & Coded;
  /** An attempt ended without a conclusive response. */
  in_doubt: Attempt & Coded;
  /** The user gave up an intent. */
  given_up: Attempt;
  /**
   * Responsibility for an open intent moves from this journal to another (`out`), or from another journal to this one
   * (`in`). `database` is the shared database.
   */
  moved_out: Attempt & { readonly database: string };
  moved_in: Attempt & { readonly database: string };
  /**
   * A payment challenge was paid. The payment is sent next: with the order, or with the read that has to be paid for.
   */
  paid: Attempt & { readonly method: string; readonly challenge: string };
  /**
   * The policy in force changed. Both values are the SHA-256 of a policy file; `before` is null for the first policy.
   */
  policy: { readonly policy: string; readonly before: string | null };
  /**
   * A signed policy now applies to all machines that share the journal. `policy` and `before` are the SHA-256 of a
   * policy file.
   */
  policy_published: {
    readonly policy: string;
    readonly before: string | null;
    readonly time_zone: string;
    /** Number of the publication. Entries of earlier versions have none. */
    readonly number: number;
    /** Fingerprint of the publisher's key. */
    readonly signer: string;
  };
  /** The policy refused orders, and nothing was sent. `cents` is the amount that the orders would have cost. */
  policy_refused: {
    /** SHA-256 of the policy file. */
    readonly policy: string;
    /** Rules that refused the orders. */
    readonly rules: string;
    readonly orders: number;
  };
  /** Someone at a terminal overrode the policy. */
  override: {
    readonly reason: string;
    /** Number of orders in the intent. */
    readonly orders: number;
  };
  /** Approval was requested from a person. */
  approval_asked: Approving & {
    /** SHA-256 of the terms to approve. */
    readonly terms: string;
    /** Rules that require the approval. */
    readonly rules: string;
  };
  /** A person approved; `by` is the fingerprint of a key, or the terminal. */
  /** `request` is the SHA-256 of the request. Set if the approval was given at a terminal and the journal is shared. */
  approved: Approving & { readonly by: string; readonly request?: string };
  denied: Approving & { readonly by: string };
  /** An approval let orders through. */
  approval_used: { readonly approval: string; readonly orders: number };
  /** It is certain that none of the orders was placed, so the approval can be used again. */
  approval_returned: { readonly approval: string; readonly orders: number };
  /** An order is about to be cancelled. */
  cancellation: AuditStep;
  /**
   * For the first time, a read shows what an order from this machine cost. `cents` is the charge for the goods; 0 if
   * nothing was bought.
   */
  settled: { readonly status: string };
  /**
   * The service reported what reserved orders cost. From now on, each order counts towards limits with the reported
   * cost.
   */
  counted: {
    /** Fingerprint of the API key. */
    readonly account: string;
    /** Pairs of the hash of an order's key and the amount, in cents, with which the order counts. */
    readonly orders: readonly (readonly [string, number])[];
  };
  /** For the first time, a read shows how much was refunded to someone who paid by challenge. */
  refund: { readonly refund: number };
  /** For the first time, a read shows how much a return credited. */
  return_credit: { readonly return: string };
  /** `reconcile` read the wallet. `cents` is the balance. */
  wallet: {
    /** Fingerprint of the API key. */
    readonly account: string;
    /** Amount reserved by the wallet, in cents. */
    readonly reserved: number | null;
    /** Calculated amount, in cents, that the orders since `from` cost the wallet. */
    readonly net: number;
    /** The service's fee per order, in cents. */
    readonly fee: number;
    /** ISO 8601. */
    readonly from: string;
    /**
     * Part of the balance's increase that the orders since the previous record do not explain, in cents; null without a
     * previous record.
     */
    readonly difference: number | null;
  };
  /** A stored API key or client token is about to change; the accounts are fingerprints. */
  key: {
    readonly change: 'stored' | 'replaced' | 'switched' | 'forgotten';
    readonly what: 'api_key' | 'legacy_token';
    readonly before: string | null;
    readonly after: string | null;
  };
  /** A request to the service changes a retailer account that is used for orders. */
  account: AuditStep & {
    readonly change: 'added' | 'changed' | 'removed';
    /** Short id of the retailer account, if known. */
    readonly account: string | null;
  };
  /** The journal was repaired. Records from this one on do not prove what happened before the repair. */
  repaired: {
    /** File name of the old journal. */
    readonly aside: string | null;
    /** Number of records, from the start of the old chain, that were carried over unchanged. */
    readonly kept: number;
    /** Number of readable records left in the old file. */
    readonly left: number;
    readonly intents: { readonly kept: number; readonly damaged: number };
    /** Number of intents from which the journal continues its count. */
    readonly recorded: number;
  };
}

interface Attempt {
  readonly operation: string;
  /** Fingerprint of the API key that signs the entry. */
  readonly account?: string;
}

interface Approving {
  readonly approval: string;
  readonly subject: string;
}

interface Coded {
  readonly code: string;
}

/** Records the sending or the result of a request that is not a journaled intent. */
export interface AuditStep {
  readonly outcome: 'sent' | 'done' | 'refused' | 'unknown';
  readonly code: string | null;
}

export type AuditKind = keyof AuditDetails;

/** Every kind of record, with its meaning. */
export const auditKinds: Readonly<Record<AuditKind, string>> = {
  quoted: 'a program was given a quote of an order; nothing was sent',
  intent: 'something is about to be requested of the service',
  resumed: 'an intent in doubt is taken over, to be settled',
  responded: 'the service has made something of it',
  refused: 'the service surely has nothing of it',
  in_doubt: 'an attempt ended, and what became of it is unknown',
  given_up: 'the user has given an intent up',
  moved_out: 'a database that machines share answers for it from here on',
  moved_in: "it came from a machine's own journal, where it was in doubt or untold",
  paid: 'a payment challenge is paid',
  policy: 'the policy file is another one than before',
  policy_published: 'a policy is published for all machines that share the journal',
  policy_refused: 'the policy did not let it through; nothing was sent',
  override: 'somebody at a terminal has overruled the policy',
  approval_asked: 'a person is asked whether something may be ordered',
  approved: 'somebody has said yes: with a key, or at a terminal',
  denied: 'somebody has said no',
  approval_used: 'orders are let through by an approval',
  approval_returned: 'surely none of them was ordered, and the approval can be used again',
  cancellation: 'an order is to be cancelled; then how that ended',
  settled: 'what an order of this machine cost in the end, when a read first shows it',
  counted: 'what reserved orders count towards limits from then on, as the service shows them',
  refund: 'what a payment by challenge got back, when a read first shows it',
  return_credit: 'what a return has brought, when a read first shows it',
  wallet: 'reconcile has read the balance of the wallet, which the next one compares with',
  key: 'a stored API key or client token is about to be changed',
  account: 'a retailer account is changed at the service; then how that ended',
  repaired: 'a journal was repaired, and the chain goes on',
};

/** What a record refers to, where applicable. */
interface AuditSubject {
  readonly profile?: string | undefined;
  /** Base URL of the service. */
  readonly service?: string | undefined;
  /** Idempotency key. */
  readonly key?: string | undefined;
  /** Id of the order, batch or return that the service created. */
  readonly orderId?: string | undefined;
  /** Amount in the minor unit of the currency, or in cents if no currency is given. */
  readonly cents?: number | undefined;
  readonly currency?: string | undefined;
}

/** An entry to append. To add a kind, add it to `AuditDetails`. */
export type AuditEntry = {
  readonly [K in AuditKind]: AuditSubject & { readonly kind: K; readonly detail: AuditDetails[K] };
}[AuditKind];

/** A chain record, as `audit log` shows it and `audit export` writes it. */
export interface AuditRecord extends Omit<AuditOrigin, 'terminal'> {
  /** Starts at 1, without gaps. */
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly kind: string;
  readonly profile: string | null;
  readonly service: string | null;
  readonly key: string | null;
  readonly order_id: string | null;
  readonly amount_cents: number | null;
  /** Null if the amount is in cents of the service's own currency. */
  readonly currency: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Hash of the previous record. Consists of zeros in the first record. */
  readonly previous: string;
  /** SHA-256 over the rest of this record. */
  readonly hash: string;
}
