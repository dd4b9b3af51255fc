import type { Attempt, AttemptClaim, NewAttempt, Reference } from '../../journal/attempts.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import type { Uploads } from '../../journal/uploads.ts';
import {
  type ComparedAttempt,
  type Decision,
  type Door,
  decide,
  type NeedRequest,
  type Refusal,
  type Statement,
} from '../../orders/needs/decide.ts';
import { attemptKey, metadataOf } from '../../orders/needs/reference.ts';
import { attemptNumberOf, firstKeyOf, rowKey } from '../../orders/needs/row-key.ts';
import { type EarlierUpload, SameFile } from '../../orders/needs/same-file.ts';
import { type Windows, windowsOf } from '../../orders/needs/windows.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { keyOfRows, type UploadRow } from '../rows.ts';
import type { Batch } from '../upload/batches.ts';
import { batchesAgain, partOf } from '../upload/batches.ts';
import type { LeftOutRow } from '../upload/file-rows.ts';
import { hasUploads } from '../upload/named.ts';
import {
  type AttemptStore,
  attemptStore,
  seeBatches,
  seeReturns,
  seeSingles,
  storedBatches,
} from './batch-outcome.ts';
import { maxByReference, ordersFor, recordOrders } from './reference-look.ts';
import {
  needsOfSent,
  ownKeyNamespace,
  quantitiesIn,
  quantitiesOfOrder,
  type RowNeed,
  RowNeeds,
} from './row-need.ts';

/** The rows to decide about. They are read several times. */
export interface RowSource {
  batches(): AsyncIterable<Batch>;
  /** Whether an attempt belongs to a row of the same file. Rows of one file are not compared with each other. */
  isOfFile(attempt: Attempt): boolean;
  /** Attempts at a row that are not recorded here, because the row was sent from elsewhere. */
  unrecorded?(row: number): readonly Attempt[];
  /** Called for each row, once or several times; the last call counts. `related` are all attempts at alike needs. */
  note?(row: RowNeed, decision: RowDecision, related: readonly Attempt[]): void;
  /** Whether to ignore an attempt, because the user was shown it before. */
  ignores?(row: RowNeed, attempt: Attempt, related: readonly Attempt[]): boolean;
  /** Whether a row may be sent as this attempt. */
  covers?(row: RowNeed, attempt: { readonly key: string; readonly number: number }): boolean;
}

export interface RowsAsked extends Pick<Statement, 'skipDuplicates' | 'again'> {
  readonly door: Extract<Door, 'upload' | 'plan' | 'retry'>;
  /** The occasion; empty if none is named. */
  readonly run: string;
  /**
   * Time at which another worker began to read from the service for the same upload, ms since the epoch. States that
   * were read since then count as current.
   */
  readonly since?: number | undefined;
  /**
   * Journal keys of the batches of an upload that was cut short and now continues. Its rows are not tried again until
   * all of them have been sent and reported.
   */
  readonly goesOn?: ReadonlySet<string> | undefined;
}

/**
 * Numbers of rows. `new`, `inDoubt`, `placed`, `tried`, `skipped` and `refused` add up to `rows`. The others are part
 * of `new`.
 */
export interface RowCounts {
  rows: number;
  /** Will be sent. */
  new: number;
  /** In a batch in doubt, which is resent unchanged. */
  inDoubt: number;
  /** Ordered already, by their key or their reference. */
  placed: number;
  /** Sent already by the upload that now continues, and failed or withdrawn since. */
  tried: number;
  /** Left out, because they are like earlier orders. */
  skipped: number;
  /** Not sent until the user says what is meant. */
  refused: number;
  /** Of the new rows, those whose last attempt failed. */
  failedBefore: number;
  /** Of the new rows, those whose order was cancelled or returned. */
  again: number;
}

/** `not_covered`: the next attempt is not the one that was planned. */
export type RowRefusal = Refusal | 'repeats' | 'not_covered';

/** Why a row is not sent; followed by the order that blocks it, if there is one. */
export const refusalReasons: Readonly<Record<RowRefusal, string>> = {
  alike: 'like',
  overlaps: 'shares products with',
  differs: 'its reference has an order that differs:',
  exists: 'its reference has',
  old: 'its reference has',
  two_live: 'its reference has several live orders:',
  other_namespace: 'the same reference in another namespace has',
  cancelled: 'was cancelled:',
  returned: 'was sent back:',
  in_doubt: 'may be ordered already:',
  unknown: 'may be ordered already:',
  repeats: 'repeats a row of an earlier upload',
  not_covered: 'had another attempt:',
};

/** A row that is not sent, and the attempts that block it. */
export interface RowFinding {
  readonly row: number;
  readonly cells: UploadRow;
  readonly attempts: readonly Attempt[];
}

/** The rows that are not sent for the same reason. */
export interface RefusedRows {
  count: number;
  /** The first ones. */
  readonly first: RowFinding[];
  /**
   * Number of blocked rows by the journal key of the blocking batch, one batch per upload; undefined for single orders.
   */
  readonly byBatch: Map<string | undefined, number>;
}

/** Maximum number of findings that are retained for each reason. */
const maxFindings = 100;

/** Maximum number of looks at the service. Other processes may place orders meanwhile. */
const maxLooks = 8;

/**
 * Decides which rows are sent, reading from the service as often as needed. Persists only what it has read.
 * @throws ErrandError if a read fails; nothing may be sent then.
 */
export async function decideRows(
  context: Context,
  source: RowSource,
  asked: RowsAsked,
): Promise<DecidedRows> {
  const store = await attemptStore(context);
  const uploads = hasUploads(context) ? await context.uploads() : undefined;
  const deciding = new DecidedRows(context, { store, uploads }, source, asked);
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const look = await deciding.pass();
    if (look.batches.size + look.singles.size + look.references.size === 0) return deciding;
    await deciding.see(look);
  }
  throw new Error('what became of the attempts of rows changes faster than it can be read');
}

/** Attempts whose state has to be read. */
interface Look {
  /** Journal keys. */
  readonly batches: Set<string>;
  /** By serial. */
  readonly singles: Map<number, Attempt>;
  /** As they travel in metadata. */
  readonly references: Set<string>;
}

export type RowDecision =
  | Decision
  /** The row is in a batch in doubt. */
  | { readonly do: 'settle'; readonly batch: string }
  /** The row was sent by the upload that now continues. */
  | { readonly do: 'leave'; readonly attempts: readonly Attempt[] }
  | { readonly do: 'refuse'; readonly why: 'not_covered'; readonly attempts: readonly Attempt[] };

/** The decisions about the rows of a file. */
export class DecidedRows {
  readonly #context: Context;
  readonly #store: AttemptStore;
  readonly #source: RowSource;
  readonly #asked: RowsAsked;
  readonly #windows: Windows;
  readonly #read = new Set<number>();
  readonly #seenBatches = new Set<string>();
  /** When the service was asked for references one by one, and when for all of them, ms since the epoch. */
  readonly #listedAt = new Map<string, number>();
  #allListedAt: number | undefined;
  /** Quantities of orders that were read, by the serials of their attempts. */
  readonly #quantities = new Map<number, string>();
  /** Names of uploads by the journal keys of their batches. */
  readonly #uploadNames = new Map<string, string>();
  readonly #uploads: Pick<Uploads, 'ofBatch'> | undefined;
  /** Batches in doubt that hold rows of this file alone, with the file's row numbers by key. */
  readonly #settling = new Map<string, Map<string, number>>();
  counts = noCounts();
  refused = new Map<RowRefusal, RefusedRows>();
  /** The first rows that were ordered already. */
  readonly placed: RowFinding[] = [];
  /** Batches that ordered rows of this file. */
  readonly placedIn = new Set<string>();
  /** The earlier upload that the file repeats, even if the window for comparing rows has passed. */
  repeats:
    | (EarlierUpload & {
        readonly madeAt: number;
        readonly first: readonly Pick<RowFinding, 'row' | 'cells'>[];
      })
    | undefined;
  /** Maximum prices of all rows, and of those that will be sent, in cents. */
  cents = { all: 0, new: 0 };
  /** Time at which this began to read from the service, ms since the epoch. */
  readonly since: number;
  /** Set for a preview that cannot read from the service. */
  isAssumed = false;
  /** Error with which sending would fail, because the service cannot be read. */
  unseen: ErrandError | undefined;
  /** Number of rows that have neither a reference nor a key of their own. */
  unnamed = 0;
  /** The columns of the file in their order, which a record of the journal does not preserve. */
  #columns: Pick<Batch, 'headings' | 'fileHeadings'> = { headings: [] };
  /** Rows that are not sent. */
  #left = new Set<number>();
  /** Why rows are in no batch of the upload, by row number. */
  leftOut = new Map<number, LeftOutRow>();
  /** Keys of further attempts, by row number. */
  #keys = new Map<number, string>();
  /** Keys given in the file, by row number, for rows that are retried with another key. */
  #givenKeys = new Map<number, string>();
  /** For rows that would be sent, the earlier uploads with the same rows. */
  #old = new Map<
    number,
    { readonly uploads: readonly string[]; readonly cents: number; readonly cells: UploadRow | undefined }
  >();

  constructor(
    context: Context,
    {
      store,
      uploads,
    }: {
      readonly store: AttemptStore;
      readonly uploads: Pick<Uploads, 'ofBatch'> | undefined;
    },
    source: RowSource,
    asked: RowsAsked,
  ) {
    this.#context = context;
    this.#store = store;
    this.#uploads = uploads;
    this.#source = source;
    this.#asked = asked;
    this.since = asked.since ?? this.#now();
    this.#allListedAt = asked.since;
    const windows = windowsOf(context);
    // With a named occasion, compare rows at any age, because each row is ordered once per occasion.
    this.#windows = asked.run === '' ? windows : { ...windows, rowMs: Number.POSITIVE_INFINITY };
  }

  /** Decides about every row from what is known. @returns what has to be read first; empty if the decisions stand. */
  async pass(): Promise<Look> {
    this.counts = noCounts();
    this.refused = new Map();
    this.placedIn.clear();
    this.placed.length = 0;
    this.cents = { all: 0, new: 0 };
    this.unnamed = 0;
    this.#left = new Set();
    this.leftOut = new Map();
    this.#keys = new Map();
    this.#givenKeys = new Map();
    this.#old = new Map();
    this.repeats = undefined;
    const look: Look = { batches: new Set(), singles: new Map(), references: new Set() };
    const sameFile = new SameFile();
    const madeAt = new Map<string, number>();
    const needs = new RowNeeds();
    for await (const batch of this.#source.batches()) {
      this.#context.signal.throwIfAborted();
      this.#columns = { headings: batch.headings, fileHeadings: batch.fileHeadings };
      const rows = needs.of(batch);
      const related = await this.#related(rows);
      for (const [index, row] of rows.entries()) {
        const known = this.#heeded(row, related[index] ?? []);
        const decision = this.#decided(row, known);
        this.#note(row, known, decision, look);
        this.#source.note?.(row, decision, related[index] ?? []);
        if (!row.need.reference) this.#noteSameFile(row, this.#current(known), { sameFile, madeAt, look });
      }
    }
    this.#leaveOutRepeats(sameFile, madeAt);
    return look;
  }

  async #related(rows: readonly RowNeed[]): Promise<(readonly Attempt[])[]> {
    const { attempts, scope } = this.#store;
    return attempts.related(
      scope,
      rows.map(({ need }) => need),
    );
  }

  /**
   * Reads the states of attempts, and persists them. A preview that cannot read them says so, and uses the stored
   * states.
   */
  async see(look: Look): Promise<void> {
    const { previewsRequests, previewsReads } = this.#context;
    if (previewsReads) this.#assume('--curl sends no request');
    try {
      await this.#see(look);
    } catch (error) {
      if (!previewsRequests || !(error instanceof ErrandError) || stopOf(error)) throw error;
      this.#assume(error.message);
      this.unseen = error;
      await this.#see(look);
    }
  }

  #assume(why: string): void {
    if (this.isAssumed) return;
    this.isAssumed = true;
    // Not the current time, because a response may still set the service's clock.
    this.#allListedAt = Number.POSITIVE_INFINITY;
    this.#context.note(
      `what became of earlier orders was not looked up (${why}); here, rows that were sent before count as placed`,
    );
  }

  async #see({ batches, singles, references }: Look): Promise<void> {
    const store = this.#store;
    if (references.size > 0 && !this.isAssumed) await this.#seeReferences(store, references);
    const placed: Attempt[] = [];
    const seen = this.isAssumed ? storedBatches(store, batches) : seeBatches(this.#context, store, batches);
    for await (const { key, attempts, isInDoubt } of seen) {
      this.#seenBatches.add(key);
      for (const { serial } of attempts) this.#read.add(serial);
      this.#noteQuantities(key, attempts);
      const isOwn = attempts.every((one) => this.#source.isOfFile(one));
      if (isInDoubt && isOwn && attempts.length > 0) this.#settling.set(key, new Map());
      placed.push(...attempts.filter(({ state, orderId }) => state === 'placed' && orderId !== undefined));
    }
    if (!this.isAssumed) {
      await seeReturns(this.#context, store, placed);
      for (const { serial, order } of await seeSingles(this.#context, store, singles.values()))
        this.#quantities.set(serial, quantitiesOfOrder(order));
    }
    for (const serial of singles.keys()) this.#read.add(serial);
  }

  async #seeReferences(store: AttemptStore, references: ReadonlySet<string>): Promise<void> {
    const at = this.#now();
    for await (const orders of ordersFor(this.#context, store, references)) {
      for (const { serial, order } of await recordOrders(this.#context, store, orders)) {
        this.#read.add(serial);
        this.#quantities.set(serial, quantitiesOfOrder(order));
      }
    }
    if (references.size > maxByReference) this.#allListedAt = at;
    else for (const reference of references) this.#listedAt.set(reference, at);
  }

  /** Remembers the quantities of the rows that a batch has sent. Rows with a reference are compared with them. */
  #noteQuantities(key: string, attempts: readonly Attempt[]): void {
    if (!attempts.some(({ reference }) => reference)) return;
    const sent = needsOfSent(this.#record(key));
    if (sent.length !== attempts.length) return;
    for (const [index, { serial }] of attempts.entries()) {
      const row = sent[index];
      // Quantities that were read from the order take precedence.
      if (row && !this.#quantities.has(serial)) this.#quantities.set(serial, quantitiesIn(row));
    }
  }

  /** Whether requested rows are not sent until the user says what is meant. */
  get isBlocked(): boolean {
    return [...this.refused.keys()].some((why) => !listedOnly.has(why));
  }

  /** Number of the rows that block the upload. */
  get blocked(): number {
    return [...this.refused].reduce((sum, [why, { count }]) => (listedOnly.has(why) ? sum : sum + count), 0);
  }

  /** Leaves out the rows that block the upload, so that the others are sent. */
  leaveOut(): void {
    for (const [why, { count }] of this.refused)
      if (!listedOnly.has(why)) {
        this.counts.skipped += count;
        this.counts.refused -= count;
        this.refused.delete(why);
      }
    this.repeats = undefined;
  }

  /** Whether every row of the file is sent with the key it has. */
  get #isWhole(): boolean {
    return this.#left.size === 0 && this.#keys.size === 0;
  }

  /** The rows to send, in batches of `size`. */
  batches(size: number): AsyncGenerator<Batch> {
    const batches = this.#isWhole ? this.#source.batches() : batchesAgain(this.#chosen(), size);
    return this.#withFreeKeys(batches);
  }

  async *#chosen(): AsyncGenerator<Batch> {
    for await (const batch of this.#source.batches()) {
      const chosen = batch.rows.flatMap((cells, index) => {
        const number = batch.numbers[index] ?? 0;
        if (this.#left.has(number)) return [];
        const key = this.#keys.get(number);
        return { number, cells: key === undefined ? cells : { ...cells, idempotency_key: key } };
      });
      const rows = chosen.map(({ cells }) => cells);
      const numbers = chosen.map(({ number }) => number);
      if (rows.length > 0) yield partOf(batch, rows, numbers, new Set(batch.ownKeys));
    }
  }

  /**
   * Gives each batch a key that is still free. A batch that was made before is not sent again, so rows that it refused
   * need another batch.
   */
  async *#withFreeKeys(batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    for await (const batch of batches) {
      const first = keyOfRows(batch.rows);
      let key = first;
      for (let number = 2; isUsed(this.#record(key)); number += 1) key = rowKey(first, number);
      yield { ...batch, key };
    }
  }

  #record = (key: string): JournalRecord | undefined =>
    this.#store.journal.find(key, this.#store.scope.service);

  /** Batches in doubt that are sent again unchanged. */
  settling(): (Batch & { readonly record: JournalRecord })[] {
    return [...this.#settling].flatMap(([key, numbers]) => {
      const record = this.#record(key);
      if (!record || numbers.size === 0) return [];
      // Uploads from this machine are journaled as rows of cells.
      const rows = (Array.isArray(record.body.rows) ? record.body.rows : []) as UploadRow[];
      const own = rows.map((row) => numbers.get(firstKeyOf(String(row.idempotency_key ?? ''))) ?? 0);
      return [{ key, record, rows, numbers: own, ...this.#columns }];
    });
  }

  /**
   * The claim for a batch of rows to send. It repeats the decisions inside the journal's transaction, since other
   * processes may have decided meanwhile.
   */
  claimOf(batch: Batch): AttemptClaim {
    const rows = new RowNeeds().of(this.#asGiven(batch));
    const { run } = this.#asked;
    return {
      scope: this.#store.scope,
      needs: rows.map(({ need }) => need),
      decide: (related, at): NewAttempt | undefined => {
        const row = rows[at];
        if (!row) return undefined;
        const known = this.#heeded(row, related);
        const decision = this.#decided(row, known);
        const key = String(batch.rows[at]?.idempotency_key ?? row.firstKey);
        // With the key of another attempt, the service would return the order of that attempt.
        if (decision.do !== 'send' || key !== this.#keyOf(row, known, decision.number)) return undefined;
        return {
          ...{ run: run === '' ? undefined : run, number: decision.number, operation: 'bulk.create' },
          ...{ key, upload: batch.key },
          ...{ orderId: undefined, state: 'intended', madeAt: this.#now(), seenAt: undefined },
        };
      },
    };
  }

  /** A batch with the keys that the file gives. */
  #asGiven(batch: Batch): Batch {
    if (this.#givenKeys.size === 0) return batch;
    const rows = batch.rows.map((cells, index) => {
      const key = this.#givenKeys.get(batch.numbers[index] ?? 0);
      return key === undefined ? cells : { ...cells, idempotency_key: key };
    });
    return { ...batch, rows };
  }

  #now = (): number => this.#context.serviceClock.now();

  /** The attempts that matter for a row. An attempt at the same row has the key of its first attempt here. */
  #heeded(row: RowNeed, related: readonly Attempt[]): readonly Attempt[] {
    const { hasOwnKey, firstKey } = row;
    const heeded: Attempt[] = [];
    const retriedAt = hasOwnKey ? retriedAttemptAt(firstKey, related) : undefined;
    for (const one of [...related, ...(this.#source.unrecorded?.(row.number) ?? [])]) {
      const isNamedByKey = one.reference?.namespace === ownKeyNamespace;
      if (hasOwnKey) {
        // A single order may have been placed with the key.
        const isOfKey = isNamedByKey ? one.reference?.text === firstKey : one.key === firstKey;
        const meetsRetried =
          retriedAt !== undefined &&
          one.likeness === 'alike' &&
          one.madeAt > retriedAt &&
          (isLaterAttempt(firstKey, one.key) || !this.#source.isOfFile(one));
        if (isOfKey || meetsRetried) heeded.push({ ...one, reference: row.need.reference });
        continue;
      }
      const key = keyFor(firstKey, one);
      if (this.#source.ignores?.(row, one, related)) continue;
      if (key !== firstKey && !isOf(row.need.reference, one) && this.#source.isOfFile(one)) continue;
      heeded.push(key === one.key ? one : { ...one, key });
    }
    return heeded;
  }

  #decided(row: RowNeed, known: readonly Attempt[]): RowDecision {
    const { need, firstKey, hasOwnKey } = row;
    const settled = known.find(
      ({ key, state, upload }) =>
        state === 'intended' && key === firstKey && upload !== undefined && this.#settling.has(upload),
    );
    if (settled?.upload !== undefined) return { do: 'settle', batch: settled.upload };
    const sent = this.#sentNow(known);
    if (sent.length > 0) return { do: 'leave', attempts: sent };
    const { door, run, skipDuplicates = false, again = false } = this.#asked;
    const request: NeedRequest = {
      ...{ need, door, windows: this.#windows, now: this.#now(), read: this.#read },
      ...(this.#asked.since !== undefined && { freshSince: this.#asked.since }),
      ...{ key: need.reference ? undefined : firstKey, isUnlisted: hasOwnKey },
      statement: { skipDuplicates, again, run: run === '' ? undefined : run },
      listedAt: need.reference && !hasOwnKey ? this.#listed(need.reference) : undefined,
    };
    const current = this.#current(known);
    const decision = decide(
      request,
      need.reference ? current.map((one) => this.#compared(row, one)) : current,
    );
    if (decision.do !== 'send' || !this.#source.covers) return decision;
    const { number, after } = decision;
    return this.#source.covers(row, { key: this.#keyOf(row, known, number), number })
      ? decision
      : { do: 'refuse', why: 'not_covered', attempts: after ? [after] : [] };
  }

  #current = (known: readonly Attempt[]): readonly Attempt[] => (this.isAssumed ? known.map(assumed) : known);

  #listed = (reference: Reference): number | undefined =>
    this.#listedAt.get(metadataOf(reference)) ?? this.#allListedAt;

  /** The attempts at a row by the upload that now continues, once their outcomes are known. */
  #sentNow(known: readonly Attempt[]): readonly Attempt[] {
    const { goesOn } = this.#asked;
    if (!goesOn) return [];
    const own = known.filter(
      ({ upload, state }) => upload !== undefined && goesOn.has(upload) && state !== 'unsent',
    );
    return own.some(({ state }) => state === 'intended' || state === 'unknown') ? [] : own;
  }

  /** An attempt with the same reference differs if it is for other products, another recipient or other quantities. */
  #compared(row: RowNeed, one: Attempt): ComparedAttempt {
    if (one.reference?.text !== row.need.reference?.text) return one;
    const quantities = this.#quantities.get(one.serial);
    const differs =
      one.likeness !== 'alike' || (quantities !== undefined && quantities !== quantitiesIn(row));
    return differs ? { ...one, differs } : one;
  }

  #note(row: RowNeed, known: readonly Attempt[], decision: RowDecision, look: Look): void {
    const { counts } = this;
    counts.rows += 1;
    if (!row.need.reference) this.unnamed += 1;
    this.cents.all += row.cents;
    if (decision.do !== 'send') this.#left.add(row.number);
    const leftOut = leftOutBy(decision);
    if (leftOut) this.leftOut.set(row.number, leftOut);
    switch (decision.do) {
      case 'look':
        if (decision.at === 'reference' && row.need.reference)
          look.references.add(metadataOf(row.need.reference));
        for (const one of decision.attempts) this.#toLook(one, look);
        return;
      case 'settle':
        counts.inDoubt += 1;
        this.#settling.get(decision.batch)?.set(row.firstKey, row.number);
        return;
      case 'leave':
        if (decision.attempts.some(({ state }) => state === 'placed')) counts.placed += 1;
        else counts.tried += 1;
        return;
      case 'adopt':
        if (decision.by === 'likeness') counts.skipped += 1;
        else {
          counts.placed += 1;
          if (this.placed.length < maxFindings)
            this.placed.push({ row: row.number, cells: row.cells, attempts: decision.attempts });
          for (const { upload } of decision.attempts) if (upload !== undefined) this.placedIn.add(upload);
        }
        return;
      case 'send':
        this.#noteNew(row, known, decision);
        return;
      default:
        this.#refuse(row, decision);
    }
  }

  #noteNew(
    row: RowNeed,
    known: readonly Attempt[],
    { number, after }: Extract<Decision, { readonly do: 'send' }>,
  ): void {
    this.counts.new += 1;
    this.cents.new += row.cents;
    if (after?.state === 'failed') this.counts.failedBefore += 1;
    else if (after) this.counts.again += 1;
    const key = this.#keyOf(row, known, number);
    if (row.hasOwnKey ? key === row.firstKey : key === row.cells.idempotency_key) return;
    this.#keys.set(row.number, key);
    if (row.hasOwnKey) this.#givenKeys.set(row.number, row.firstKey);
  }

  /** The key that an attempt at a row is sent with. @param number of the attempt. */
  #keyOf(
    { hasOwnKey, firstKey, need: { reference } }: RowNeed,
    known: readonly Attempt[],
    number: number,
  ): string {
    if (hasOwnKey) {
      // A key given in the file is used for all attempts, but a retry of a failed order needs another key. So does a
      // row of a file that `bulk retry --to` wrote, whose key errand has made.
      const isOfRetry = this.#asked.door === 'retry' || firstKeyOf(firstKey) !== firstKey;
      const isFurther = isOfRetry && number > 1;
      return isFurther ? attemptKey({ namespace: ownKeyNamespace, text: firstKey }, number) : firstKey;
    }
    if (reference) return attemptKey(reference, number);
    const made = known.filter(
      ({ key, orderId, state }) => key === firstKey && (orderId !== undefined || state === 'placed'),
    );
    return rowKey(firstKey, 1 + new Set(made.map((one) => one.orderId?.toLowerCase() ?? one.serial)).size);
  }

  #refuse(row: RowNeed, { why, attempts }: Extract<RowDecision, { readonly do: 'refuse' | 'ask' }>): void {
    const { skipDuplicates = false } = this.#asked;
    if (skipDuplicates && !listedOnly.has(why) && why !== 'in_doubt') {
      this.counts.skipped += 1;
      return;
    }
    this.counts.refused += 1;
    const rows: RefusedRows = this.refused.get(why) ?? { count: 0, first: [], byBatch: new Map() };
    this.refused.set(why, rows);
    rows.count += 1;
    if (rows.first.length < maxFindings) rows.first.push({ row: row.number, cells: row.cells, attempts });
    const batches = new Map(
      attempts.map(({ upload }) => [upload === undefined ? undefined : this.uploadOf(upload), upload]),
    );
    for (const batch of batches.values()) rows.byBatch.set(batch, (rows.byBatch.get(batch) ?? 0) + 1);
  }

  #toLook(one: Attempt, look: Look): void {
    if (one.upload === undefined || this.#seenBatches.has(one.upload)) look.singles.set(one.serial, one);
    else look.batches.add(one.upload);
  }

  /** Rows of an earlier upload count at any age, so their states have to be known, too. */
  #noteSameFile(
    row: RowNeed,
    known: readonly Attempt[],
    {
      sameFile,
      madeAt,
      look,
    }: { readonly sameFile: SameFile; readonly madeAt: Map<string, number>; readonly look: Look },
  ): void {
    const { run } = this.#asked;
    const alike = known.filter(
      (one) => one.likeness === 'alike' && one.upload !== undefined && (run === '' || one.run === run),
    );
    const ofUploads = alike.map((one) => ({ ...one, upload: this.uploadOf(one.upload ?? '') }));
    sameFile.add(ofUploads);
    if (alike.length === 0) return;
    for (const one of ofUploads) madeAt.set(one.upload, Math.max(madeAt.get(one.upload) ?? 0, one.madeAt));
    for (const one of alike)
      if (['placed', 'unknown', 'intended'].includes(one.state) && !this.#read.has(one.serial))
        this.#toLook(one, look);
    const live = ofUploads.filter(({ state }) => state === 'placed').map(({ upload }) => upload);
    if (!this.#left.has(row.number) && live.length > 0)
      this.#old.set(row.number, {
        ...{ uploads: live, cents: row.cents },
        cells: this.#old.size < maxFindings ? row.cells : undefined,
      });
  }

  /** Name of the upload that a batch belongs to; the batch's own key if there is none. */
  uploadOf(batch: string): string {
    const known = this.#uploadNames.get(batch);
    if (known !== undefined) return known;
    const name = this.#uploads?.ofBatch(batch)?.name ?? batch;
    this.#uploadNames.set(batch, name);
    return name;
  }

  #leaveOutRepeats(sameFile: SameFile, madeAt: ReadonlyMap<string, number>): void {
    const found = this.#old.size === 0 ? undefined : sameFile.found();
    const rows = [...this.#old].filter(([, { uploads }]) => found && uploads.includes(found.upload));
    if (!found || rows.length === 0) return;
    for (const [row, { cents }] of rows) {
      this.#left.add(row);
      this.leftOut.set(row, { why: 'duplicate', reason: refusalReasons.repeats });
      this.cents.new -= cents;
    }
    const count = rows.length;
    this.counts.new -= count;
    if (this.#asked.skipDuplicates) {
      this.counts.skipped += count;
      return;
    }
    this.counts.refused += count;
    const first = rows.flatMap(([row, { cells }]) => (cells ? [{ row, cells }] : []));
    this.repeats = { ...found, first, madeAt: madeAt.get(found.upload) ?? 0 };
    this.refused.set('repeats', { count, first: [], byBatch: new Map() });
  }
}

/** Codes of left-out rows by reason. A reason without an entry is its own code. */
const leftOutCodes: Readonly<Partial<Record<RowRefusal, string>>> = {
  alike: 'duplicate',
  overlaps: 'duplicate',
  other_namespace: 'duplicate',
};

/** Why a row is in no batch of the upload; undefined if it is. Pure. */
function leftOutBy(decision: RowDecision): LeftOutRow | undefined {
  if (decision.do !== 'adopt' && decision.do !== 'ask' && decision.do !== 'refuse') return undefined;
  const isPlaced = decision.do === 'adopt' && decision.by !== 'likeness';
  const why = decision.do === 'adopt' ? 'alike' : decision.why;
  const [first] = decision.attempts;
  const { orderId, upload: batch } = first ?? {};
  if (isPlaced) return { why: 'placed', reason: '', orderId, batch };
  const reason = orderId === undefined ? refusalReasons[why] : `${refusalReasons[why]} order ${orderId}`;
  return { why: leftOutCodes[why] ?? why, reason: reason.replace(/:$/, ''), orderId, batch };
}

/** Reasons for which rows are listed and not sent, while the other rows are sent. */
export const listedOnly: ReadonlySet<RowRefusal> = new Set(['differs', 'two_live', 'not_covered']);

/** Whether an attempt is for this reference. */
const isOf = (reference: Reference | undefined, { reference: other }: Attempt): boolean =>
  reference !== undefined && reference.text === other?.text && reference.namespace === other.namespace;

const noCounts = (): RowCounts => ({
  ...{ rows: 0, new: 0, inDoubt: 0, placed: 0, tried: 0, skipped: 0, refused: 0, failedBefore: 0, again: 0 },
});

/** If the service was not read, an attempt that may have been ordered counts as placed. */
const assumed = (one: Attempt): Attempt =>
  one.state === 'unknown' || one.state === 'intended' ? { ...one, state: 'placed' } : one;

/**
 * The key of the first attempt at the row that an attempt belongs to. A file that `bulk retry --to` wrote gives the
 * keys of the next attempts. Any other key given in a file stays as it is.
 */
function keyFor(firstKey: string, { key, reference }: Attempt): string {
  if (reference?.namespace !== ownKeyNamespace) return firstKeyOf(key);
  return firstKeyOf(reference.text) === firstKey ? firstKey : key;
}

const isUsed = (record: JournalRecord | undefined): boolean =>
  record !== undefined && (record.order_id !== null || record.state === 'forgotten');

/** Whether a key is of a later attempt at the same row. */
const isLaterAttempt = (key: string, other: string): boolean =>
  firstKeyOf(other) === firstKeyOf(key) && attemptNumberOf(other) > attemptNumberOf(key);

/**
 * If `bulk retry --to` wrote the key of a row: the time of the attempt that the row retries. Undefined for any other
 * key. A later attempt that is alike may have met the need of the row.
 */
function retriedAttemptAt(key: string, related: readonly Attempt[]): number | undefined {
  if (firstKeyOf(key) === key) return undefined;
  const times = related.filter((one) => isLaterAttempt(one.key, key)).map(({ madeAt }) => madeAt);
  return times.length === 0 ? undefined : Math.max(...times);
}
