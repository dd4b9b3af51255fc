import { randomBytes } from 'node:crypto';
import { sha256 } from '../format/canonical.ts';
import type { NeedContent } from '../format/canonical-need.ts';

/** Metadata key that carries an order's reference. */
export const referenceKey = 'errand_reference';

/** The buyer's own name for a need, within a namespace. */
export interface Reference {
  /** Empty if none was given. */
  readonly namespace: string;
  readonly text: string;
}

/**
 * Last known state of an attempt. `intended`: the request may have been sent, and its outcome is unknown. `placed`: the
 * service has the order, and the order has not ended. `cancelled`, `returned`: the order was cancelled or returned.
 * `unknown`: the attempt was imported from older records, or given up. It blocks nothing until its order has been
 * looked up. `unsent`: the request was never sent, the service turned out to have no order from it, or the sandbox that
 * had the order is gone. Such an attempt does not count.
 */
export type AttemptState = 'intended' | 'placed' | 'failed' | 'cancelled' | 'returned' | 'unknown' | 'unsent';

/** Scope within which needs are compared: one service and account, either live or test. */
export interface AttemptScope {
  /** Base URL of the service. */
  readonly service: string;
  /** The service's name for the account, followed by other names under which the account's attempts may be stored. */
  readonly accounts: readonly [string, ...string[]];
  readonly isTest: boolean;
  /**
   * Id of the newest account that was known when `accounts` was determined. If a newer account exists when a claim of
   * `prepare` is persisted, nothing is persisted, because that account may belong to the same user.
   */
  readonly newestAccount?: number;
}

/** An account as stored. */
export interface StoredAccount {
  readonly id: number;
  /** Fingerprint of the account's API key. */
  readonly account: string;
  /** The service's id of the key's user; undefined if the user was not determined. */
  readonly userId: string | undefined;
}

/** The need that the attempt is to meet. */
export interface AttemptNeed extends NeedContent {
  readonly reference: Reference | undefined;
}

/** An attempt to persist. Times are in ms since the epoch. */
export interface NewAttempt {
  /** The occasion that the attempt belongs to (`--run`). */
  readonly run: string | undefined;
  /** Number of the attempt among all attempts at the same need, counted from 1. */
  readonly number: number;
  /** The idempotency key that the attempt is sent with. */
  readonly key: string;
  readonly operation: string;
  /** Journal key of the batch that has the attempt as a row. A batch's attempts are stored in the order of its rows. */
  readonly upload: string | undefined;
  readonly orderId: string | undefined;
  readonly state: AttemptState;
  /** When the attempt was made. By the service's clock, once that is known. */
  readonly madeAt: number;
  /** When the attempt's state was last read from the service. */
  readonly seenAt: number | undefined;
}

/** An attempt related to a need, either by its content or by its reference. */
export interface Attempt extends NewAttempt {
  readonly serial: number;
  readonly reference: Reference | undefined;
  /**
   * How the attempt's products and recipient compare with those of the need that was looked up; `unlike` if no need was
   * looked up.
   */
  readonly likeness: 'alike' | 'overlap' | 'unlike';
}

/** An attempt recorded before this table existed, or in another table. */
export interface EarlierAttempt {
  readonly scope: AttemptScope;
  readonly need: AttemptNeed;
  readonly attempt: NewAttempt;
}

/** An attempt as stored. The table stores only hashes of the attempt's need. */
export interface StoredAttempt {
  readonly scope: AttemptScope;
  readonly attempt: Attempt;
}

/** An update of an attempt. A field that is undefined leaves the stored value unchanged. */
export interface AttemptChange {
  readonly serial: number;
  readonly state: AttemptState;
  /** Null deletes the stored order id, because that order may belong to another attempt. */
  readonly orderId?: string | null | undefined;
  readonly madeAt?: number | undefined;
  readonly seenAt?: number | undefined;
}

/** Decides about one need, given its related attempts. @returns the attempt to persist, if any. */
export type Claim = (related: readonly Attempt[], at: number) => NewAttempt | undefined;

/** The attempts to persist together with an intent: one for an order, one for each row of a batch. */
export interface AttemptClaim {
  readonly scope: AttemptScope;
  readonly needs: readonly AttemptNeed[];
  readonly decide: Claim;
  /** Whether `decide` returns the same whatever is related. Such a claim cannot be outdated. */
  readonly isUnconditional?: boolean;
}

/**
 * Another process has decided about one of the needs since the claim was prepared. Therefore none of the claim's
 * attempts is persisted.
 */
export class Overtaken extends Error {}

/** The attempts in a shared database have changed since a claim was prepared. */
export class OutdatedClaim extends Error {}

/** Wraps a decision that must return an attempt for each need. The result throws Overtaken if `decide` returns none. */
export const wholeClaim =
  (decide: Claim) =>
  (related: readonly Attempt[], at: number): NewAttempt => {
    const made = decide(related, at);
    if (made === undefined) throw new Overtaken('another process has decided about the same need');
    return made;
  };

/** Parses a row of the table of accounts. */
export const accountOf = ({ id, account, user_id }: Readonly<Record<string, unknown>>): StoredAccount => ({
  ...{ id: Number(id), account: String(account), userId: textOf(user_id) },
});

/** Outcome of an intent, to apply to its attempt. */
export type IntentEnd = Pick<AttemptChange, 'state' | 'madeAt'> & { readonly orderId?: string | undefined };

/** Attempts of all needs, in the local journal or in a shared database. */
export interface Attempts {
  /** Finds the attempts related to each need, in the order of the needs; read-only. @throws StorageError. */
  related(scope: AttemptScope, needs: readonly AttemptNeed[]): Promise<(readonly Attempt[])[]>;
  /**
   * Decides about needs one by one and persists the results in one transaction, so that no other process can decide
   * about the same needs meanwhile. For the needs that follow, an attempt persisted here does not count as related.
   * @returns the serial of each attempt; undefined if none was persisted.
   * @throws StorageError.
   */
  claim(scope: AttemptScope, needs: Iterable<AttemptNeed>, decide: Claim): Promise<(number | undefined)[]>;
  /**
   * Decides about all needs of an intent.
   * @returns a function that persists the attempts. Call that function in the transaction that records the intent.
   * @throws Overtaken, also from the returned function; OutdatedClaim from that transaction; StorageError.
   */
  prepare(claim: AttemptClaim): Promise<() => void>;
  /** The accounts that have attempts at a service, oldest first. @throws StorageError. */
  accounts(scope: Pick<AttemptScope, 'service' | 'isTest'>): Promise<readonly StoredAccount[]>;
  /** Id of the newest order of an account, if one is known. @throws StorageError. */
  newestOrder(account: Pick<StoredAccount, 'id'>): Promise<string | undefined>;
  /** Persists which user an account belongs to. @throws StorageError. */
  identify(scope: AttemptScope, userId: string): Promise<void>;
  /**
   * Imports older records once. The first process that calls this does the import.
   * @param earlier is called only if the import has not been done yet.
   * @throws StorageError.
   */
  bringIn(earlier: () => Iterable<EarlierAttempt>): Promise<void>;
  /** Whether older records have been imported. @throws StorageError. */
  isComplete(): Promise<boolean>;
  /** Updates attempts. @throws StorageError. */
  change(changes: readonly AttemptChange[]): Promise<void>;
  /** Applies the outcome of an intent to the intent's attempt. The intent must not be a batch. @throws StorageError. */
  follow(service: string, key: string, end: IntentEnd): Promise<void>;
  /** Marks the attempts of intents that a sandbox no longer has. @throws StorageError. */
  undo(service: string, intents: readonly string[]): Promise<void>;
  /**
   * Deletes attempts that ended, have no reference and were made before a time (in ms since the epoch). If there are
   * many, deletes only some of them.
   * @throws StorageError.
   */
  sweep(before: number): Promise<void>;
  /** Attempts that have the key and are not rows of an upload. @throws StorageError. */
  ofKey(scope: AttemptScope, key: string): Promise<Attempt[]>;
  /** Attempts that are rows of a batch, in the order of its rows. @throws StorageError. */
  ofUpload(scope: AttemptScope, upload: string): Promise<Attempt[]>;
  /**
   * Finds other attempts that share the reference, or the products and recipient, with given attempts. Does not need
   * the content of the orders.
   * @param named holds further references to search for, each with the serial of the given attempt that it belongs to.
   * @returns the attempts found, by the serial of the given attempt.
   * @throws StorageError.
   */
  akin(
    scope: AttemptScope,
    serials: readonly number[],
    named: readonly (readonly [number, Reference])[],
  ): Promise<ReadonlyMap<number, readonly Attempt[]>>;
}

/**
 * How long ended attempts without a reference are stored, in ms. This is the longest period in which a policy may look
 * for duplicates. Attempts with a reference are never deleted. Placed attempts are never deleted either, because a file
 * may repeat an upload of any age.
 */
export const attemptRetentionMs = 400 * 24 * 3600 * 1000;

/** Maximum number of attempts that one sweep deletes. */
export const sweptAtOnce = 1000;

/** SQL condition for attempts that may be deleted once they are old. An index covers the condition. */
export const isSweepable = "reference IS NULL AND state IN ('failed', 'cancelled', 'returned', 'unsent')";

/** Generates a random secret, the key of the hashes by which similar needs are found. */
export const newSecret = (): string => randomBytes(16).toString('hex');

/** Lookup hashes of a need, 52 bits each. */
export interface NeedNumbers {
  /** A hash that is the same for needs with the same products and the same recipient. */
  readonly whole: number;
  /**
   * One hash per product, each computed over the product and the recipient. If there is only one product, its hash
   * equals `whole`.
   */
  readonly parts: readonly number[];
}

/**
 * Computes a need's lookup hashes. Pure.
 * @param secret is the table's secret. Without the secret, the hashes do not reveal who ordered what.
 */
export function needNumbers(secret: string, { products, recipient }: NeedContent): NeedNumbers {
  const parts = products.map((product) => numberOf(`${secret}\n${recipient}\n${product}`));
  const [only, ...more] = parts;
  if (only !== undefined && more.length === 0) return { whole: only, parts };
  return { whole: numberOf(`${secret}\n${parts.join()}`), parts };
}

const numberOf = (text: string): number => Number.parseInt(sha256(text).slice(0, 13), 16);

/** Columns of the table, the same in both databases. */
export const attemptColumns = [
  ...['serial', 'account', 'whole', 'namespace', 'reference', 'run', 'number', 'key', 'operation', 'upload'],
  ...['order_id', 'state', 'made_at', 'seen_at'],
] as const;

/** Parses a row of the table of accounts. */
export const scopeOf = ({ service, account, test }: Readonly<Record<string, unknown>>): AttemptScope => ({
  ...{ service: String(service), accounts: [String(account)], isTest: Number(test) === 1 },
});

/** Parses a row of the table. */
export function attemptOf(row: Readonly<Record<string, unknown>>, likeness: Attempt['likeness']): Attempt {
  const {
    serial,
    namespace,
    reference,
    run,
    number,
    key,
    operation,
    upload,
    order_id,
    state,
    made_at,
    seen_at,
  } = row;
  return {
    serial: Number(serial),
    reference: reference === null ? undefined : { namespace: String(namespace), text: String(reference) },
    run: textOf(run),
    number: Number(number),
    key: String(key),
    operation: String(operation),
    upload: textOf(upload),
    orderId: textOf(order_id),
    state: states.find((one) => one === state) ?? 'unknown',
    madeAt: Number(made_at),
    seenAt: seen_at === null ? undefined : Number(seen_at),
    likeness,
  };
}

const states: readonly AttemptState[] = [
  ...(['intended', 'placed', 'failed', 'cancelled', 'returned', 'unknown', 'unsent'] as const),
];

const textOf = (value: unknown): string | undefined =>
  value === null || value === undefined ? undefined : String(value);

/** Number of needs per query. */
export const needsAtOnce = 1000;

/** Splits values into pieces of a fixed size, which limits memory use. */
export function* inChunks<T>(values: Iterable<T>, size: number): Generator<T[]> {
  let piece: T[] = [];
  for (const value of values) {
    piece.push(value);
    if (piece.length < size) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** The hashes and references to look up for one chunk of needs. Each entry has the index of the need it belongs to. */
export interface Lookup {
  readonly numbers: readonly NeedNumbers[];
  /** Pairs of `[hash, index]`: for each need, the hash of the whole need and the hash of each part. */
  readonly wholes: readonly (readonly [number, number])[];
  readonly references: readonly (readonly [string, number])[];
}

export function lookupOf(secret: string, needs: readonly AttemptNeed[]): Lookup {
  const numbers = needs.map((need) => needNumbers(secret, need));
  return {
    numbers,
    wholes: numbers.flatMap(({ whole, parts }, at) =>
      [...new Set([whole, ...parts])].map((one) => [one, at] as const),
    ),
    references: needs.flatMap(({ reference }, at) => (reference ? [[reference.text, at] as const] : [])),
  };
}

/**
 * Combines the rows found for one chunk of needs. Lists each attempt once per need.
 * @param found holds the rows; `at` is the index of the need that a row was found for.
 */
export function relatedOf(
  { numbers }: Lookup,
  found: { readonly wholes: Rows; readonly parts: Rows; readonly references: Rows },
): (readonly Attempt[])[] {
  const related: Map<number, Attempt>[] = [];
  const add = (rows: Rows, likenessOf: (row: Row, own: NeedNumbers) => Attempt['likeness']): void => {
    for (const row of rows) {
      const at = Number(row.at);
      const own = numbers[at];
      const attempt = own && attemptOf(row, likenessOf(row, own));
      const known = related[at] ?? new Map<number, Attempt>();
      related[at] = known;
      if (attempt && !known.has(attempt.serial)) known.set(attempt.serial, attempt);
    }
  };
  add(found.wholes, (row, { whole }) => (Number(row.whole) === whole ? 'alike' : 'overlap'));
  add(found.parts, () => 'overlap');
  add(found.references, () => 'unlike');
  return numbers.map((_, at) => [...(related[at]?.values() ?? none)]);
}

/**
 * Groups the rows found for `akin` by given attempt. In each row, `at` is the serial of the given attempt, and
 * `own_whole` is its likeness hash.
 */
export function akinOf(rows: Rows): ReadonlyMap<number, readonly Attempt[]> {
  const akin = new Map<number, Map<number, Attempt>>();
  for (const row of rows) {
    const at = Number(row.at);
    const attempt = attemptOf(row, Number(row.whole) === Number(row.own_whole) ? 'alike' : 'unlike');
    const known = akin.get(at) ?? new Map<number, Attempt>();
    akin.set(at, known);
    known.set(attempt.serial, attempt);
  }
  return new Map([...akin].map(([at, found]) => [at, [...found.values()]]));
}

type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];
const none: readonly Attempt[] = [];

/** Groups consecutive attempts of the same scope into chunks of limited size. */
export function* byScope<T extends Pick<EarlierAttempt, 'scope'>>(
  earlier: Iterable<T>,
): Generator<{ readonly scope: AttemptScope; readonly piece: readonly T[] }> {
  let piece: T[] = [];
  const isOf = ({ scope }: T): boolean =>
    piece[0] === undefined || JSON.stringify(piece[0].scope) === JSON.stringify(scope);
  for (const one of earlier) {
    if (piece[0] && (!isOf(one) || piece.length >= needsAtOnce)) {
      yield { scope: piece[0].scope, piece };
      piece = [];
    }
    piece.push(one);
  }
  if (piece[0]) yield { scope: piece[0].scope, piece };
}
