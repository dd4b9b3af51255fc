/** Who acts, and by which command; nothing in it is an address, a person's name, an email or a secret. */
export interface AuditOrigin {
  /** User and host of the system. */
  readonly actor: string;
  /** The CI job, where the environment names one. */
  readonly job: string | null;
  /** The command without the values that may be private. */
  readonly command: string;
}

export const nobody: AuditOrigin = { actor: 'unknown', job: null, command: '' };

/** What each kind of record says beside the columns that all have. */
export interface AuditDetails {
  /** An intent is written down and about to be sent; with `again` under a key that is in doubt already. */
  intent: {
    readonly operation: string;
    /** A fingerprint of the API key. */
    readonly account: string;
    /** SHA-256 of the content in its canonical form. */
    readonly content: string;
    /** SHA-256 of the shipping address in its canonical form, with a salt that never leaves the journal. */
    readonly address: string | null;
    readonly again: boolean;
    /** How many intents the journal has recorded with this one. */
    readonly recorded: number;
    /** SHA-256 of the file of the policy that its money is reserved under; null where none held. */
    readonly policy: string | null;
  };
  /** A program was given a quote of an order, which it may place; its cents are what that may cost at most, fee included. */
  quoted: {
    /** The beginning of the SHA-256 of its handle. */
    readonly quote: string;
    /** A fingerprint of the API key. */
    readonly account: string;
    /** SHA-256 of the content in its canonical form. */
    readonly content: string;
    /** ISO 8601. */
    readonly until: string;
  };
  /** An intent in doubt is taken over, to be settled. */
  resumed: Attempt;
  /** The service has made something of an intent. */
  responded: Attempt;
  /** The service surely has nothing of an intent. */
  refused: Attempt & Coded;
  /** An attempt ended without a response that settles it. */
  in_doubt: Attempt & Coded;
  /** The user has given an intent up. */
  given_up: Attempt;
  /** An intent that is open is answered for by another journal from here on, or from another one (`in`); `database` is the shared one. */
  moved_out: Attempt & { readonly database: string };
  moved_in: Attempt & { readonly database: string };
  /** A payment challenge is paid; the order, or the paid read, is sent with the payment next. */
  paid: Attempt & { readonly method: string; readonly challenge: string };
  /** The policy that orders are held to is another than before; both are SHA-256 of its file, null before the first. */
  policy: { readonly policy: string; readonly before: string | null };
  /** A policy holds from now on for all machines that share the journal; both are SHA-256 of its file. */
  policy_published: { readonly policy: string; readonly before: string | null; readonly time_zone: string };
  /** The policy did not let orders through; its cents are what they would have taken. Nothing was sent. */
  policy_refused: {
    /** SHA-256 of its file. */
    readonly policy: string;
    /** The rules that refuse it. */
    readonly rules: string;
    readonly orders: number;
  };
  /** Somebody at a terminal has overruled the policy. */
  override: {
    readonly reason: string;
    /** How many orders of the intent. */
    readonly orders: number;
  };
  /** A person is asked whether something may be ordered. */
  approval_asked: Approving & {
    /** SHA-256 over what is to be approved. */
    readonly terms: string;
    /** The rules that want it. */
    readonly rules: string;
  };
  /** Somebody has said yes; `by` is the fingerprint of a key, or the terminal. */
  approved: Approving & { readonly by: string };
  denied: Approving & { readonly by: string };
  /** Orders are let through by an approval. */
  approval_used: { readonly approval: string; readonly orders: number };
  /** Surely none of them was ordered, so that the approval can be used again. */
  approval_returned: { readonly approval: string; readonly orders: number };
  /** An order is to be cancelled. */
  cancellation: AuditStep;
  /** A read shows for the first time what an order of this machine came to; its cents are what was charged for the goods, 0 where nothing was bought. */
  settled: { readonly status: string };
  /** A read shows for the first time what a payer by challenge got back. */
  refund: { readonly refund: number };
  /** A read shows for the first time what a return has brought. */
  return_credit: { readonly return: string };
  /** `reconcile` has read the wallet; its cents are the balance. */
  wallet: {
    /** A fingerprint of the API key. */
    readonly account: string;
    /** What the wallet set aside of it, cents. */
    readonly reserved: number | null;
    /** What the orders since `from` have cost the wallet by rule, cents. */
    readonly net: number;
    /** What the service takes for an order, cents. */
    readonly fee: number;
    /** ISO 8601. */
    readonly from: string;
    /** By how much the balance is more than orders explain since the record before, cents; null where there is none. */
    readonly difference: number | null;
  };
  /** A stored API key or client token is about to be changed; the accounts are fingerprints. */
  key: {
    readonly change: 'stored' | 'replaced' | 'switched' | 'forgotten';
    readonly what: 'api_key' | 'legacy_token';
    readonly before: string | null;
    readonly after: string | null;
  };
  /** A retailer account that orders are placed with is changed at the service. */
  account: AuditStep & {
    readonly change: 'added' | 'changed' | 'removed';
    /** Its short id, where it is known. */
    readonly account: string | null;
  };
  /** A journal was repaired: what follows does not prove what was before. */
  repaired: {
    /** The name of the old journal's file. */
    readonly aside: string | null;
    /** How many records of the old chain, from its beginning, were carried over as they were. */
    readonly kept: number;
    /** How many that can still be read were left in the old file. */
    readonly left: number;
    readonly intents: { readonly kept: number; readonly damaged: number };
    /** How many intents the journal counts from here on. */
    readonly recorded: number;
  };
}

interface Attempt {
  readonly operation: string;
}

interface Approving {
  /** Its id. */
  readonly approval: string;
  readonly subject: string;
}

interface Coded {
  readonly code: string;
}

/** A request that is no intent of the journal: that it is sent, or how that ended. */
export interface AuditStep {
  readonly outcome: 'sent' | 'done' | 'refused' | 'unknown';
  readonly code: string | null;
}

export type AuditKind = keyof AuditDetails;

/** Every kind, with what it means. */
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
  refund: 'what a payment by challenge got back, when a read first shows it',
  return_credit: 'what a return has brought, when a read first shows it',
  wallet: 'reconcile has read the balance of the wallet, which the next one compares with',
  key: 'a stored API key or client token is about to be changed',
  account: 'a retailer account is changed at the service; then how that ended',
  repaired: 'a journal was repaired, and the chain goes on',
};

/** Of what a record is, as far as each applies. */
interface AuditSubject {
  readonly profile?: string | undefined;
  /** The base URL of the service. */
  readonly service?: string | undefined;
  /** The idempotency key. */
  readonly key?: string | undefined;
  /** Of what the service made: an order, a batch, a return. */
  readonly orderId?: string | undefined;
  /** In the currency's minor unit; cents where no currency is given. */
  readonly cents?: number | undefined;
  readonly currency?: string | undefined;
}

/** What is to be appended. A new kind is a row of `AuditDetails`. */
export type AuditEntry = {
  readonly [K in AuditKind]: AuditSubject & { readonly kind: K; readonly detail: AuditDetails[K] };
}[AuditKind];

/** A record of the chain, as `audit log` shows it and `audit export` writes it. */
export interface AuditRecord extends AuditOrigin {
  /** From 1, without a gap. */
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly kind: string;
  readonly profile: string | null;
  readonly service: string | null;
  readonly key: string | null;
  readonly order_id: string | null;
  readonly amount_cents: number | null;
  /** Null for cents of the service's own currency. */
  readonly currency: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The hash of the record before it; zeros in the first. */
  readonly previous: string;
  /** SHA-256 over everything else in this record. */
  readonly hash: string;
}
