import { randomBytes } from 'node:crypto';
import { sha256 } from '../format/canonical.ts';
import type { NeedContent } from '../format/canonical-need.ts';

/** The buyer's own name for a need, in the namespace of whoever numbers them. */
export interface Reference {
  /** Empty where nobody said one. */
  readonly namespace: string;
  readonly text: string;
}

/**
 * What became of an attempt, as far as is known here. `intended`: it may have been sent, and no response says what came of
 * it. `placed`: the service has it, and it has not ended. `cancelled` and `returned`: somebody took it back. `unknown`: it is
 * from before attempts were kept, or was given up, and stands in nobody's way before it was looked for. `unsent`: nothing
 * was sent for it, and it says nothing of its need.
 */
export type AttemptState = 'intended' | 'placed' | 'failed' | 'cancelled' | 'returned' | 'unknown' | 'unsent';

/** Where needs are told apart: a service, an account, live or test. */
export interface AttemptScope {
  /** Its base URL. */
  readonly service: string;
  /** As the service calls the account; then other names under which its attempts were written. */
  readonly accounts: readonly [string, ...string[]];
  readonly isTest: boolean;
}

/** What an attempt is for. */
export interface AttemptNeed extends NeedContent {
  readonly reference: Reference | undefined;
}

/** An attempt as it is written. Times in ms since the epoch. */
export interface NewAttempt {
  /** The occasion that it belongs to (`--run`). */
  readonly run: string | undefined;
  /** 1 for the first attempt of its need. */
  readonly number: number;
  /** The idempotency key that it is sent with. */
  readonly key: string;
  readonly operation: string;
  /** The upload that it is a row of. */
  readonly upload: string | undefined;
  readonly orderId: string | undefined;
  readonly state: AttemptState;
  /** By the service's clock, once that is known. */
  readonly madeAt: number;
  /** When its state was read from the service last. */
  readonly seenAt: number | undefined;
}

/** An attempt that has something to do with a need. */
export interface Attempt extends NewAttempt {
  readonly serial: number;
  readonly reference: Reference | undefined;
  /** Whether it is for the same products, or for some of them, and the same recipient; where a need was asked about. */
  readonly likeness: 'alike' | 'overlap' | 'unlike';
}

/** An attempt from before there was this table. */
export interface EarlierAttempt {
  readonly scope: AttemptScope;
  readonly need: AttemptNeed;
  readonly attempt: NewAttempt;
}

/** What has become known of an attempt. What is left out stays as it is. */
export interface AttemptChange {
  readonly serial: number;
  readonly state: AttemptState;
  readonly orderId?: string | undefined;
  readonly madeAt?: number | undefined;
  readonly seenAt?: number | undefined;
}

/** Decides about one need, with what the table holds of it. @returns the attempt that is written for it, if any. */
export type Claim = (related: readonly Attempt[], at: number) => NewAttempt | undefined;

/** The attempt that goes with an intent of the journal. */
export interface AttemptClaim {
  readonly scope: AttemptScope;
  readonly need: AttemptNeed;
  readonly decide: Claim;
}

/** What the journal has learnt of the intent of an attempt. */
export type IntentEnd = Pick<AttemptChange, 'state' | 'orderId'>;

/** The attempts of all needs, in the journal of a machine or in the database that machines share. */
export interface Attempts {
  /** What has to do with each need, in the order of the needs; only read. @throws StorageError. */
  related(scope: AttemptScope, needs: readonly AttemptNeed[]): Promise<(readonly Attempt[])[]>;
  /**
   * Decides about needs, one after the other, and writes what is decided, in one transaction: nobody else decides about the
   * same need meanwhile. Attempts that are written here are not related to the needs that follow.
   * @returns the number of each attempt in the table, undefined where none was written. @throws StorageError.
   */
  claim(scope: AttemptScope, needs: Iterable<AttemptNeed>, decide: Claim): Promise<(number | undefined)[]>;
  /**
   * Brings in what was recorded before there was this table, once, whoever comes first. @param earlier called where that is
   * still to be done. @throws StorageError.
   */
  bringIn(earlier: () => Iterable<EarlierAttempt>): Promise<void>;
  /** Whether that was done. @throws StorageError. */
  isComplete(): Promise<boolean>;
  /** Writes down what became of attempts. @throws StorageError. */
  change(changes: readonly AttemptChange[]): Promise<void>;
  /** What became of the intent with a key, which is no batch. @throws StorageError. */
  follow(service: string, key: string, end: IntentEnd): Promise<void>;
  /** The attempts of a key that are no rows of an upload. @throws StorageError. */
  ofKey(scope: AttemptScope, key: string): Promise<Attempt[]>;
  /** The attempts that are rows of an upload. @throws StorageError. */
  ofUpload(scope: AttemptScope, upload: string): Promise<Attempt[]>;
}

/** A new value that keeps likenesses from being guessed. */
export const newSecret = (): string => randomBytes(16).toString('hex');

/** The numbers by which a need is found: 52 bits of a hash each. */
export interface NeedNumbers {
  /** The same for the same set of products and the same recipient. */
  readonly whole: number;
  /** One for each product with the recipient; that of a single product is the number of the whole. */
  readonly parts: readonly number[];
}

/** @param secret of the table: without it nobody finds out who ordered what. Pure. */
export function needNumbers(secret: string, { products, recipient }: NeedContent): NeedNumbers {
  const parts = products.map((product) => numberOf(`${secret}\n${recipient}\n${product}`));
  const [only, ...more] = parts;
  if (only !== undefined && more.length === 0) return { whole: only, parts };
  return { whole: numberOf(`${secret}\n${parts.join()}`), parts };
}

const numberOf = (text: string): number => Number.parseInt(sha256(text).slice(0, 13), 16);

/** The columns of the table, as both databases have them. */
export const attemptColumns = [
  ...['serial', 'account', 'whole', 'namespace', 'reference', 'run', 'number', 'key', 'operation', 'upload'],
  ...['order_id', 'state', 'made_at', 'seen_at'],
] as const;

/** A row of the table, with whether its products or some of them are those that were looked for. */
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

/** Needs that are looked up together. */
export const needsAtOnce = 1000;

/** In pieces of so many, so that no more of them are in memory at once. */
export function* inPieces<T>(values: Iterable<T>, size: number): Generator<T[]> {
  let piece: T[] = [];
  for (const value of values) {
    piece.push(value);
    if (piece.length < size) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** What is looked up for a piece of needs, each with the place of its need. */
export interface Lookup {
  readonly numbers: readonly NeedNumbers[];
  /** `[number, place]`: a need is found by each of its parts, and as a whole. */
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

/** What was found for a piece of needs, an attempt once for each. @param rows each with the place of its need, `at`. */
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

type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];
const none: readonly Attempt[] = [];

/** Earlier attempts that were written for one account, one after the other, in pieces. */
export function* byScope(
  earlier: Iterable<EarlierAttempt>,
): Generator<{ readonly scope: AttemptScope; readonly piece: readonly EarlierAttempt[] }> {
  let piece: EarlierAttempt[] = [];
  const isOf = ({ scope }: EarlierAttempt): boolean =>
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
