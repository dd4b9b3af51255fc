import type { Attempt, Reference } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { attemptKey, metadataOf } from '../../orders/needs/reference.ts';
import { firstKeyOf, keysOfRow } from '../../orders/needs/row-key.ts';
import { windowsOf } from '../../orders/needs/windows.ts';
import { StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { stableKey } from '../rows.ts';
import {
  type Batch,
  isFailed,
  LaterAttempt,
  type LaterAttempts,
  type OtherAttempt,
  outcomeOf,
  rowName,
  rowsOf,
  stateOf,
  withLater,
  withReturned,
} from '../upload/batch.ts';
import { hasUploads, type KnownUpload, knownUpload, type NamedBatches } from '../upload/named.ts';
import {
  type AttemptStore,
  applyBatch,
  attemptStore,
  seeBatches,
  seeReturns,
  seeSingles,
} from './batch-outcome.ts';
import { attemptsElsewhere } from './elsewhere.ts';
import { ordersFor, recordOrders } from './reference-look.ts';
import { type OrderReturns, returnedOrders } from './returned-orders.ts';
import { ownKeyNamespace } from './row-need.ts';

/**
 * The batches that were uploaded together. Attempts of these batches at different rows are attempts at different needs.
 */
interface Together {
  /** Journal keys of these batches. */
  readonly keys: ReadonlySet<string>;
  /** Keys of the first attempts at all rows of these batches. */
  readonly rowKeys: ReadonlySet<string>;
}

/** A row's own attempt, which failed or was withdrawn. Other attempts may have followed it. */
interface EndedAttempt {
  readonly row: { readonly batchId: string; readonly index: number };
  readonly after: LaterAttempt['after'];
  readonly own: Attempt;
  readonly orderId: string | undefined;
  /** Idempotency key with which an earlier version of errand would have retried the row. */
  readonly oldRetryKey: string;
  readonly together: Together;
}

/** The later attempt that decides a row's state. */
interface FollowingAttempt {
  readonly attempt: Attempt;
  /** The ended row that made the next attempt, if there is one. */
  readonly follower: EndedAttempt | undefined;
  /** Attempts between the row's own attempt and the later one. */
  readonly between: readonly Attempt[];
}

/** Maximum number of times to read from the service. Each time, other processes may have placed further orders. */
const maxLooks = 4;

/** Facts about rows that the rows' batches do not contain. */
export interface Outcomes extends OrderReturns {
  readonly later: LaterAttempts;
}

/**
 * Reads which orders of batches were returned, and the outcome of later attempts at the same rows, wherever those were
 * made. @param batches include the statuses of orders that rows already had. @throws ErrandError if a later attempt
 * cannot be read.
 */
export async function readOutcomes(
  context: Context,
  named: Pick<NamedBatches, 'uploads' | 'counted'>,
  batches: readonly Batch[],
): Promise<Outcomes> {
  const returns = await returnedOrders(context, batches);
  const later = await laterAttempts(context, named, withReturned(batches, returns.returned));
  return { ...returns, later };
}

/** Adds the outcomes to the rows of batches. After that, `stateOf` returns the final state of a row. Pure. */
export const withOutcomes = (batches: readonly Batch[], { returned, later }: Outcomes): Batch[] =>
  withLater(withReturned(batches, returned), later);

/** Rows of a batch whose orders have ended. */
interface EndedRows {
  readonly batch: Batch;
  readonly rows: ReturnType<typeof rowsOf>;
}

/**
 * Finds the later attempts at the needs of rows that failed or were withdrawn. A later attempt may be a row of any
 * batch or a single order. It is recognized by the row's reference, for which the service is queried as well, or by its
 * similar content. Each later attempt counts for one row only.
 */
async function laterAttempts(
  context: Context,
  { uploads, counted }: Pick<NamedBatches, 'uploads' | 'counted'>,
  batches: readonly Batch[],
): Promise<LaterAttempts> {
  const ended = counted(batches).flatMap((batch): EndedRows | [] => {
    const rows = rowsOf(batch).filter((row) => isFailed(row, batch) || stateOf(row, batch) === 'withdrawn');
    return rows.length > 0 ? { batch, rows } : [];
  });
  if (ended.length === 0) return new Map();
  try {
    const { later, unknown } = journalExists(context.settings)
      ? await recordedAttempts(context, uploads, batches, ended)
      : { later: [], unknown: ended };
    return new Map([...later, ...(await attemptsElsewhere(context, batches, unknown))]);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    context.note(`${error.message}; whether rows were ordered since is not known`);
    return new Map();
  }
}

/** @returns the later attempts, and the rows whose own attempts this machine's journal does not have. */
async function recordedAttempts(
  context: Context,
  uploads: NamedBatches['uploads'],
  batches: readonly Batch[],
  ended: readonly EndedRows[],
): Promise<{ readonly later: LaterAttempts; readonly unknown: readonly EndedRows[] }> {
  const looking = new LaterLook(context, await attemptStore(context), uploads);
  const whole = new Map(batches.map((batch) => [batch.id, batch]));
  const unknown: EndedRows[] = [];
  for (const { batch, rows } of ended) {
    const added = await looking.add(whole.get(batch.id) ?? batch, rows);
    const others = rows.filter(({ index }) => !added.has(index));
    if (others.length > 0) unknown.push({ batch, rows: others });
  }
  return { later: await looking.found(), unknown };
}

class LaterLook {
  readonly #context: Context;
  readonly #store: AttemptStore;
  readonly #uploads: NamedBatches['uploads'];
  readonly #rows: EndedAttempt[] = [];
  readonly #together = new Map<string, Promise<Together>>();
  /** Serials of the attempts that were read from the service. */
  readonly #read = new Set<number>();
  /** References for which the service was queried. */
  readonly #listed = new Set<string>();

  constructor(context: Context, store: AttemptStore, uploads: NamedBatches['uploads']) {
    this.#context = context;
    this.#store = store;
    this.#uploads = uploads;
  }

  /** Adds rows of a batch. @returns the indexes of the rows whose attempts this machine's journal has. */
  async add(batch: Batch, ended: EndedRows['rows']): Promise<ReadonlySet<number>> {
    const added = new Set<number>();
    const { attempts, scope } = this.#store;
    const key = this.#keyOf(batch.id);
    if (key === undefined) return added;
    const own = await applyBatch(this.#context, this.#store, await attempts.ofUpload(scope, key), batch);
    const together = await this.#togetherWith(batch.id, key);
    for (const row of ended) {
      const { index } = row;
      const attempt = own[index];
      if (!attempt) continue;
      added.add(index);
      this.#rows.push({
        ...{ row: { batchId: batch.id, index }, own: attempt, orderId: attempt.orderId, together },
        after: isFailed(row, batch) ? 'failed' : 'withdrawn',
        oldRetryKey: stableKey(['retry', batch.id, index]),
      });
    }
    return added;
  }

  #keyOf = (id: string): string | undefined => keyOfBatch(this.#store, this.#uploads, id);

  async #togetherWith(id: string, key: string): Promise<Together> {
    const upload = await uploadWith(this.#context, this.#uploads, { id, key });
    const known = this.#together.get(upload?.name ?? id) ?? togetherIn(this.#store, key, upload);
    this.#together.set(upload?.name ?? id, known);
    return known;
  }

  /** The service's id of a batch, by the batch's journal key. */
  async #idOf(key: string): Promise<string | undefined> {
    const id = this.#store.journal.find(key, this.#store.scope.service)?.order_id ?? undefined;
    return id ?? (hasUploads(this.#context) ? (await this.#context.uploads()).idOf(key) : undefined);
  }

  async #uploadOf(key: string | undefined): Promise<string | undefined> {
    return key === undefined ? undefined : nameOfUpload(this.#context, key);
  }

  /** @throws ErrandError if a later attempt cannot be read. */
  async found(): Promise<LaterAttempts> {
    for (let looks = 0; ; looks += 1) {
      const { later, unread, unmet } = await this.#chosen();
      const isRead = unread.length === 0 || looks >= maxLooks;
      if (isRead && !(await this.#look(unmet))) return this.#shown(later);
      if (!isRead) await this.#see(unread);
    }
  }

  async #chosen() {
    const { attempts, scope } = this.#store;
    const akin = await attempts.akin(
      scope,
      this.#rows.map(({ own }) => own.serial),
      // A row in a file written by `bulk retry --to` has the key of a second or later attempt.
      this.#rows.flatMap(({ own }) =>
        own.reference
          ? []
          : keysOfRow(own.key).map((text) => [own.serial, { namespace: ownKeyNamespace, text }] as const),
      ),
    );
    const { rowMs } = windowsOf(this.#context);
    const related = new Map(
      this.#rows.map((row) => [
        row,
        (akin.get(row.own.serial) ?? []).flatMap((one) => {
          const kind = kindOf(row, one, { rowMs, isRead: this.#read.has(one.serial) });
          return kind ? { one, kind } : [];
        }),
      ]),
    );
    const unread = new Map<number, Attempt>();
    for (const { one } of [...related.values()].flat())
      if (isOpen(one) && !this.#read.has(one.serial)) unread.set(one.serial, one);
    const taken = new Set<number>();
    const later = new Map<EndedAttempt, FollowingAttempt>();
    // Start with the latest rows. If a later row follows an earlier one, the earlier row can then take over the outcome
    // of the later row.
    const rows = this.#rows.toSorted((one, other) => other.own.madeAt - one.own.madeAt);
    const bySerial = new Map(rows.map((row) => [row.own.serial, row]));
    const choose = (isOfStep: (of: { readonly one: Attempt; readonly kind: Kinship }) => boolean): void => {
      for (const row of rows) {
        if (later.has(row)) continue;
        const mine = (related.get(row) ?? [])
          .filter(isOfStep)
          .flatMap(({ one }) => (taken.has(one.serial) ? [] : one));
        const next = mine.find((one) => bySerial.has(one.serial) && one.madeAt > row.own.madeAt);
        const found = mine.find(isLive) ?? mine.find(isUnclear) ?? next ?? lastEnded(row, mine);
        if (!found) continue;
        taken.add(found.serial);
        const follower = bySerial.get(found.serial);
        const attempt = (follower && later.get(follower)?.attempt) ?? found;
        later.set(row, { attempt, follower, between: [] });
      }
    };
    // Match by reference or key first, because content cannot distinguish equal rows.
    const isGoingOn = (one: Attempt): boolean => !isEnded(one) || bySerial.has(one.serial);
    choose(({ one, kind }) => isGoingOn(one) && kind === 'own');
    choose(({ one }) => isGoingOn(one));
    choose(() => true);
    for (const [row, following] of later)
      later.set(row, { ...following, between: endedBetween(row, related.get(row) ?? [], taken) });
    const unmet = this.#rows.filter((row) => {
      const one = later.get(row);
      return !one || !isLive(one.attempt);
    });
    return { later, unread: [...unread.values()], unmet };
  }

  /** Reads the current state of attempts. */
  async #see(unread: readonly Attempt[]): Promise<void> {
    const batches = new Set(unread.flatMap(({ upload }) => upload ?? []));
    const asked = new Set(unread.map(({ serial }) => serial));
    const placed: Attempt[] = [];
    for await (const { attempts } of seeBatches(this.#context, this.#store, batches))
      for (const one of attempts) {
        this.#read.add(one.serial);
        if (one.state === 'placed' && asked.has(one.serial)) placed.push(one);
      }
    // A batch does not show whether its orders were returned.
    await seeReturns(this.#context, this.#store, placed);
    await seeSingles(
      this.#context,
      this.#store,
      unread.filter(({ upload }) => upload === undefined),
    );
    for (const { serial } of unread) this.#read.add(serial);
  }

  /** Queries the service once for the references of rows. @returns whether there was anything to query. */
  async #look(rows: readonly EndedAttempt[]): Promise<boolean> {
    const references = new Set(
      rows.flatMap(({ own: { reference } }) => {
        const isNamed = reference !== undefined && reference.namespace !== ownKeyNamespace;
        return isNamed && !this.#listed.has(metadataOf(reference)) ? metadataOf(reference) : [];
      }),
    );
    if (references.size === 0) return false;
    for (const reference of references) this.#listed.add(reference);
    for await (const orders of ordersFor(this.#context, this.#store, references))
      for (const { serial } of await recordOrders(this.#context, this.#store, orders)) this.#read.add(serial);
    return true;
  }

  async #shown(later: ReadonlyMap<EndedAttempt, FollowingAttempt>): Promise<LaterAttempts> {
    const { attempts, scope } = this.#store;
    const shown = new Map<string, LaterAttempt>();
    const rowsOfBatch = new Map<string, readonly Attempt[]>();
    const rowOf = async ({ serial, upload }: Attempt): Promise<OtherAttempt['row']> => {
      if (upload === undefined) return undefined;
      const made =
        rowsOfBatch.get(upload) ??
        (await attempts.ofUpload(scope, upload)).filter(({ state }) => state !== 'unsent');
      rowsOfBatch.set(upload, made);
      const batchId = await this.#idOf(upload);
      const index = made.findIndex((one) => one.serial === serial);
      return batchId === undefined || index < 0 ? undefined : { batchId, index };
    };
    for (const [{ row, after }, { attempt, follower, between }] of later) {
      const { serial, key, state, orderId, upload } = attempt;
      const others: OtherAttempt[] = [];
      for (const one of between) others.push({ orderId: one.orderId, row: await rowOf(one) });
      shown.set(
        rowName(row.batchId, row.index),
        new LaterAttempt({
          ...{ after, orderId, serial, upload: await this.#uploadOf(upload) },
          ...outcomeOf(state),
          // An order that was found in the service's list has its id as the key, because the service does not reveal
          // the idempotency key.
          isFromElsewhere: upload === undefined && key === orderId,
          row: follower?.row ?? (await rowOf(attempt)),
          between: others,
        }),
      );
    }
    return shown;
  }
}

/** Journal key of a batch; undefined if the batch is not known here. */
export function keyOfBatch(
  { journal, scope }: AttemptStore,
  uploads: NamedBatches['uploads'],
  id: string,
): string | undefined {
  const of = uploads.flatMap(({ batches }) => batches).find((one) => one.id === id);
  return of?.key ?? journal.madeBy(id, scope.service)?.key;
}

/** The upload that a batch belongs to, whether the user named the upload or not. */
export async function uploadWith(
  context: Context,
  uploads: NamedBatches['uploads'],
  { id, key }: { readonly id: string; readonly key: string },
): Promise<KnownUpload | undefined> {
  const named = uploads.find(({ batches }) => batches.some((one) => one.id === id));
  if (named) return named;
  const name = await nameOfUpload(context, key);
  return name === undefined ? undefined : knownUpload(context, name);
}

async function nameOfUpload(context: Context, key: string): Promise<string | undefined> {
  return hasUploads(context) ? (await context.uploads()).ofBatch(key)?.name : undefined;
}

/**
 * Finds the batches that were uploaded together with a batch. @param key is the journal key of the batch. @param upload
 * is the upload that the batch belongs to, if any.
 */
export async function togetherIn(
  { attempts, scope }: AttemptStore,
  key: string,
  upload: KnownUpload | undefined,
): Promise<Together> {
  const keys = new Set([key, ...(upload?.batches.map((one) => one.key) ?? [])]);
  const rowKeys = new Set<string>();
  for (const one of keys)
    for (const attempt of await attempts.ofUpload(scope, one)) rowKeys.add(firstKeyOf(attempt.key));
  return { keys, rowKeys };
}

type Stated = Pick<Attempt, 'state'>;

const isLive = ({ state }: Stated): boolean => state === 'placed';
const isUnclear = ({ state }: Stated): boolean => state === 'intended' || state === 'unknown';
const isEnded = ({ state }: Stated): boolean => ['failed', 'cancelled', 'returned'].includes(state);
const isOpen = ({ state }: Stated): boolean => state === 'placed' || isUnclear({ state });

/**
 * The ended attempts that came after a row's own attempt and that no other row has taken. Marks them as taken. Takes
 * only one attempt per batch: a batch tries each need once, and its other similar attempts belong to equal rows.
 */
function endedBetween(
  { own }: EndedAttempt,
  related: readonly { readonly one: Attempt }[],
  taken: Set<number>,
): readonly Attempt[] {
  const batches = new Set<string>();
  return related.flatMap(({ one }) => {
    const { serial, upload, orderId, madeAt } = one;
    const isLater = orderId === undefined ? serial > own.serial : madeAt > own.madeAt;
    if (!isEnded(one) || !isLater || taken.has(serial)) return [];
    if (upload !== undefined && batches.size === batches.add(upload).size) return [];
    taken.add(serial);
    return one;
  });
}

/** The last ended attempt that made an order after the row's own attempt. */
const lastEnded = ({ own }: EndedAttempt, attempts: readonly Attempt[]): Attempt | undefined =>
  attempts
    .filter((one) => isEnded(one) && one.orderId !== undefined && one.madeAt > own.madeAt)
    .toSorted((one, other) => one.madeAt - other.madeAt)
    .at(-1);

type Kinship = 'own' | 'alike';

/**
 * How an attempt is related to the need of a row: `own` if the reference or key matches, `alike` if the content
 * matches, undefined if neither does.
 */
function kindOf(
  { own, orderId, oldRetryKey, together }: EndedAttempt,
  other: Attempt,
  { rowMs, isRead }: { readonly rowMs: number; readonly isRead: boolean },
): Kinship | undefined {
  if (other.orderId !== undefined && other.orderId.toLowerCase() === orderId?.toLowerCase()) return undefined;
  // Ignore a batch of the same upload that is still in doubt after reading. The retry that made the batch settles it.
  const isSibling = other.upload !== undefined && together.keys.has(other.upload);
  if (isSibling && isUnclear(other) && isRead) return undefined;
  const { reference } = own;
  if (
    reference &&
    other.reference?.text === reference.text &&
    other.reference.namespace === reference.namespace
  )
    return 'own';
  const isNamedByKey = other.reference?.namespace === ownKeyNamespace;
  const first = firstKeyOf(isNamedByKey ? (other.reference?.text ?? '') : other.key);
  if (reference?.namespace === ownKeyNamespace && isKeyOf(reference, other.key)) return 'own';
  if (!reference && (first === firstKeyOf(own.key) || other.key === oldRetryKey)) return 'own';
  if (isSibling || together.rowKeys.has(first)) return undefined;
  const isComparable = reference?.namespace !== ownKeyNamespace && (!reference || !other.reference);
  // If an attempt has no order, its time comes from this machine's clock, which may be behind the service's clock. So
  // compare serials, which follow the order of recording.
  const isUndated = isUnclear(other) && other.orderId === undefined;
  const isLater = isUndated ? other.serial > own.serial : other.madeAt >= own.madeAt;
  if (!isComparable || other.likeness !== 'alike' || !isLater) return undefined;
  if (other.run === own.run || other.run === undefined) return 'alike';
  // An attempt for another occasion belongs to another need. But the user may have corrected a row without an occasion
  // and sent it again with one.
  return own.run === undefined && other.madeAt - own.madeAt <= rowMs ? 'alike' : undefined;
}

/** Maximum number of attempts whose derived keys are recognized, if the file gives the key. */
const maxFurther = 9;

/** Whether a key is the one that a file gives, or is derived from it for a later attempt. */
function isKeyOf(given: Reference, key: string): boolean {
  if (key === given.text) return true;
  for (let number = 2; number <= maxFurther; number += 1) if (attemptKey(given, number) === key) return true;
  return false;
}
