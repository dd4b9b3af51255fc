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
  /** Attempts at a row that this machine's journal does not have, because another machine sent the row. */
  unrecorded?(row: number): readonly Attempt[];
  /** Called at least once for each row; the last call counts. `related` are all attempts at similar needs. */
  note?(row: RowNeed, decision: RowDecision, related: readonly Attempt[]): void;
  /** Whether to ignore an attempt, because the user has already seen it. */
  ignores?(row: RowNeed, attempt: Attempt, related: readonly Attempt[]): boolean;
  /** Whether a row may be sent as the given attempt. */
  covers?(row: RowNeed, attempt: { readonly key: string; readonly number: number }): boolean;
}

export interface RowsAsked extends Pick<Statement, 'skipDuplicates' | 'again'> {
  readonly door: Extract<Door, 'upload' | 'plan' | 'retry'>;
  /** The occasion of the rows; empty if none is named. */
  readonly run: string;
  /**
   * If another worker of the same upload has begun to read from the service: the time at which it began, ms since the
   * epoch. States that were read after that time count as current.
   */
  readonly since?: number | undefined;
  /**
   * Journal keys of the batches of an interrupted upload that now continues. Its rows are not tried again until all of
   * these batches have been sent and reported.
   */
  readonly goesOn?: ReadonlySet<string> | undefined;
}

/**
 * Row counts. `new`, `inDoubt`, `placed`, `tried`, `skipped` and `refused` add up to `rows`. The other counts are parts
 * of `new`.
 */
export interface RowCounts {
  rows: number;
  /** Rows that will be sent. */
  new: number;
  /** Rows in a batch in doubt, which is resent unchanged. */
  inDoubt: number;
  /** Rows whose key or reference already has an order. */
  placed: number;
  /** Rows that the continuing upload has already sent and that have failed or been withdrawn since. */
  tried: number;
  /** Rows left out because they are like earlier orders. */
  skipped: number;
  /** Rows that are not sent until the user says how to treat them. */
  refused: number;
  /** New rows whose last attempt failed. */
  failedBefore: number;
  /** New rows whose last order was cancelled or returned. */
  again: number;
}

/**
 * Why a row is refused. `repeats`: it repeats a row of an earlier upload. `not_covered`: its next attempt is not the
 * planned one.
 */
export type RowRefusal = Refusal | 'repeats' | 'not_covered';

/** Texts for why a row is not sent. The order that blocks the row follows the text, if there is such an order. */
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
  /** The first of these rows. */
  readonly first: RowFinding[];
  /**
   * Number of blocked rows by the journal key of the batch that blocks them. Each upload is represented by one batch.
   * The key undefined counts rows that single orders block.
   */
  readonly byBatch: Map<string | undefined, number>;
}

/** Maximum number of findings to keep for each reason. */
const maxFindings = 100;

/** Maximum number of times to read from the service. Each time, other processes may have placed further orders. */
const maxLooks = 8;

/**
 * Decides which rows are sent, and reads from the service as often as this takes. Saves only what it reads. @throws
 * ErrandError if a read fails. Nothing may be sent then.
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
  /** Journal keys of batches to read. */
  readonly batches: Set<string>;
  /** Attempts of single orders to read, by serial. */
  readonly singles: Map<number, Attempt>;
  /** References to query, in the form in which metadata holds them. */
  readonly references: Set<string>;
}

export type RowDecision =
  | Decision
  /** The row is in a batch in doubt. */
  | { readonly do: 'settle'; readonly batch: string }
  /** The continuing upload has already sent the row. */
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
  /**
   * When the service was queried for single references, by reference, ms since the epoch. `#allListedAt` says when it
   * was queried for all references.
   */
  readonly #listedAt = new Map<string, number>();
  #allListedAt: number | undefined;
  /** Quantities from orders and from sent rows, by the serial of the attempt. */
  readonly #quantities = new Map<number, string>();
  /** Names of uploads, by the journal key of each batch. */
  readonly #uploadNames = new Map<string, string>();
  readonly #uploads: Pick<Uploads, 'ofBatch'> | undefined;
  /** Batches in doubt whose rows all belong to this file. Maps the batch's key to the file's row numbers by row key. */
  readonly #settling = new Map<string, Map<string, number>>();
  counts = noCounts();
  refused = new Map<RowRefusal, RefusedRows>();
  /** The first rows that already have an order. */
  readonly placed: RowFinding[] = [];
  /** Journal keys of the batches that ordered rows of this file. */
  readonly placedIn = new Set<string>();
  /** The earlier upload that this file repeats. Rows of an upload count as repeats at any age. */
  repeats:
    | (EarlierUpload & {
        readonly madeAt: number;
        readonly first: readonly Pick<RowFinding, 'row' | 'cells'>[];
      })
    | undefined;
  /** Totals in cents of the maximum prices: of all rows, and of the rows that will be sent. */
  cents = { all: 0, new: 0 };
  /** When this process, or the worker that reads for it, began to read from the service, ms since the epoch. */
  readonly since: number;
  /** Set if a preview cannot read from the service. */
  isAssumed = false;
  /** The error with which sending would fail, if the service cannot be read. */
  unseen: ErrandError | undefined;
  /** Number of rows that have neither a reference nor a key from the file. */
  unnamed = 0;
  /** The columns of the file, in order. A journal record does not preserve this order. */
  #columns: Pick<Batch, 'headings' | 'fileHeadings'> = { headings: [] };
  /** Rows that are not sent. */
  #left = new Set<number>();
  /** Why a row is in no batch of the upload, by row number. */
  leftOut = new Map<number, LeftOutRow>();
  /** Keys of second and later attempts, by row number. */
  #keys = new Map<number, string>();
  /** The key that the file gives a row, by row number. Only for rows that are retried with another key. */
  #givenKeys = new Map<number, string>();
  /** The earlier uploads with the same row, by row number. Only for rows that would be sent. */
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
    // Each row is ordered once per occasion. So if an occasion is named, rows are compared with attempts of any age.
    this.#windows = asked.run === '' ? windows : { ...windows, rowMs: Number.POSITIVE_INFINITY };
  }

  /**
   * Decides about every row from what is known. @returns what has to be read first; empty if the decisions are final.
   */
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
   * Reads the states of attempts, and saves them. If a preview cannot read from the service, it reports that and uses
   * the stored states.
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
    // Infinity rather than the current time, because a response may still set the service's clock.
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

  /**
   * Stores the quantities of the rows that a batch has sent. Rows with a reference are compared with these quantities.
   */
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

  /** Whether some rows block the upload until the user says how to treat them. */
  get isBlocked(): boolean {
    return [...this.refused.keys()].some((why) => !listedOnly.has(why));
  }

  /** Number of rows that block the upload. */
  get blocked(): number {
    return [...this.refused].reduce((sum, [why, { count }]) => (listedOnly.has(why) ? sum : sum + count), 0);
  }

  /** Leaves out the rows that block the upload, so that the other rows are sent. */
  leaveOut(): void {
    for (const [why, { count }] of this.refused)
      if (!listedOnly.has(why)) {
        this.counts.skipped += count;
        this.counts.refused -= count;
        this.refused.delete(why);
      }
    this.repeats = undefined;
  }

  /** Whether every row of the file is sent under its original key. */
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
   * Gives each batch a key that no sent batch has. A batch is never sent twice, so rows that it refused need another
   * batch.
   */
  async *#withFreeKeys(batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    for await (const batch of batches) {
      // A source that gives all rows as one batch gives no key.
      const first = batch.key || keyOfRows(batch.rows);
      let key = first;
      for (let number = 2; isUsed(this.#record(key)); number += 1) key = rowKey(first, number);
      yield { ...batch, key };
    }
  }

  #record = (key: string): JournalRecord | undefined =>
    this.#store.journal.find(key, this.#store.scope.service);

  /** The batches in doubt, which are resent unchanged. */
  settling(): (Batch & { readonly record: JournalRecord })[] {
    return [...this.#settling].flatMap(([key, numbers]) => {
      const record = this.#record(key);
      if (!record || numbers.size === 0) return [];
      // This machine journals uploads as rows of cells, so the cast is safe.
      const rows = (Array.isArray(record.body.rows) ? record.body.rows : []) as UploadRow[];
      const own = rows.map((row) => numbers.get(firstKeyOf(String(row.idempotency_key ?? ''))) ?? 0);
      return [{ key, record, rows, numbers: own, ...this.#columns }];
    });
  }

  /**
   * The journal's claim for a batch of rows to send. It repeats the decisions inside the journal's transaction, because
   * other processes may have claimed rows in the meantime.
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
        // If the row had the key of another attempt, the service would return the order of that attempt.
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

  /** The attempts that matter for a row. Each attempt is returned with the key of the first attempt at its row. */
  #heeded(row: RowNeed, related: readonly Attempt[]): readonly Attempt[] {
    const { hasOwnKey, firstKey } = row;
    const heeded: Attempt[] = [];
    const retriedAt = hasOwnKey ? retriedAttemptAt(firstKey, related) : undefined;
    for (const one of [...related, ...(this.#source.unrecorded?.(row.number) ?? [])]) {
      const isNamedByKey = one.reference?.namespace === ownKeyNamespace;
      if (hasOwnKey) {
        // A single order may also have been placed with the key.
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

  /** The continuing upload's attempts at a row. Empty if any outcome is still unknown. */
  #sentNow(known: readonly Attempt[]): readonly Attempt[] {
    const { goesOn } = this.#asked;
    if (!goesOn) return [];
    const own = known.filter(
      ({ upload, state }) => upload !== undefined && goesOn.has(upload) && state !== 'unsent',
    );
    return own.some(({ state }) => state === 'intended' || state === 'unknown') ? [] : own;
  }

  /** Marks an attempt that has the row's reference but differs from the row: in products, recipient or quantities. */
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

  /** The key with which an attempt at a row is sent. @param number is the number of the attempt. */
  #keyOf(
    { hasOwnKey, firstKey, need: { reference } }: RowNeed,
    known: readonly Attempt[],
    number: number,
  ): string {
    if (hasOwnKey) {
      // A key that the file gives serves for all attempts at the row, with two exceptions: the retry of a failed order,
      // and a row in a file written by `bulk retry --to`, whose key errand derived. Both need other keys from the
      // second attempt on.
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

  /**
   * Collects attempts of earlier uploads that a row may repeat. Such attempts count at any age, so their states are
   * read even if they are old.
   */
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

  /** Name of the upload that a batch belongs to; the batch's own key if the batch has no upload. */
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

/** Codes of the reasons for which rows are left out. A reason without an entry is its own code. */
const leftOutCodes: Readonly<Partial<Record<RowRefusal, string>>> = {
  alike: 'duplicate',
  overlaps: 'duplicate',
  other_namespace: 'duplicate',
};

/** Why a row is in no batch of the upload; undefined if it is in one. Pure. */
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

/** Reasons that keep a row from being sent but do not block the other rows. Such rows are listed. */
export const listedOnly: ReadonlySet<RowRefusal> = new Set(['differs', 'two_live', 'not_covered']);

/** Whether an attempt has this reference. */
const isOf = (reference: Reference | undefined, { reference: other }: Attempt): boolean =>
  reference !== undefined && reference.text === other?.text && reference.namespace === other.namespace;

const noCounts = (): RowCounts => ({
  ...{ rows: 0, new: 0, inDoubt: 0, placed: 0, tried: 0, skipped: 0, refused: 0, failedBefore: 0, again: 0 },
});

/** If the service was not read, an attempt that may have made an order counts as placed. */
const assumed = (one: Attempt): Attempt =>
  one.state === 'unknown' || one.state === 'intended' ? { ...one, state: 'placed' } : one;

/**
 * The key of the first attempt at the row that an attempt belongs to. A file written by `bulk retry --to` gives its
 * rows the keys of their next attempts. Any other key that a file gives is returned unchanged.
 */
function keyFor(firstKey: string, { key, reference }: Attempt): string {
  if (reference?.namespace !== ownKeyNamespace) return firstKeyOf(key);
  return firstKeyOf(reference.text) === firstKey ? firstKey : key;
}

const isUsed = (record: JournalRecord | undefined): boolean =>
  record !== undefined && (record.order_id !== null || record.state === 'forgotten');

/** Whether `other` is the key of a later attempt at the row than `key`. */
const isLaterAttempt = (key: string, other: string): boolean =>
  firstKeyOf(other) === firstKeyOf(key) && attemptNumberOf(other) > attemptNumberOf(key);

/**
 * The time of the attempt that a row retries, if `bulk retry --to` wrote the row's key; undefined for any other key. A
 * similar attempt after that time may have met the row's need.
 */
function retriedAttemptAt(key: string, related: readonly Attempt[]): number | undefined {
  if (firstKeyOf(key) === key) return undefined;
  const times = related.filter((one) => isLaterAttempt(one.key, key)).map(({ madeAt }) => madeAt);
  return times.length === 0 ? undefined : Math.max(...times);
}
