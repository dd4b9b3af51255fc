import type { Attempt, Reference } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { attemptKey, metadataOf } from '../../orders/needs/reference.ts';
import { firstKeyOf, keysOfRow } from '../../orders/needs/row-key.ts';
import { windowsOf } from '../../orders/needs/windows.ts';
import { StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { stableKey } from '../rows.ts';
import { type Batch, isFailed, LaterAttempt, type LaterAttempts, rowName, rowsOf } from '../upload/batch.ts';
import { hasUploads, type KnownUpload, knownUpload, type NamedBatches } from '../upload/named.ts';
import { type AttemptStore, applyBatch, attemptStore, seeBatches, seeSingles } from './batch-outcome.ts';
import { ordersFor, recordOrders } from './reference-look.ts';
import { ownKeyNamespace } from './row-need.ts';

/** The batches that were uploaded together. Their attempts at different rows are different needs. */
interface Together {
  /** Journal keys. */
  readonly keys: ReadonlySet<string>;
  /** Keys of the first attempts at all rows. */
  readonly rowKeys: ReadonlySet<string>;
}

/** The attempt of a failed row, which others may have followed. */
interface FailedAttempt {
  /** Name of the row. */
  readonly name: string;
  readonly own: Attempt;
  readonly orderId: string | undefined;
  /** Key by which an earlier version retried the row. */
  readonly oldRetryKey: string;
  readonly together: Together;
}

/** Maximum number of looks at the service. Other processes may place orders meanwhile. */
const maxLooks = 4;

/**
 * Finds for failed rows what became of the later attempts at the same needs, whichever batch or order they were: by
 * their reference, which the service is asked for, too, or because they are like the failed attempt. A later attempt
 * counts for one row.
 * @param batches include the statuses of existing orders. @throws ErrandError if a later attempt cannot be read.
 */
export async function laterAttempts(
  context: Context,
  { uploads, counted }: Pick<NamedBatches, 'uploads' | 'counted'>,
  batches: readonly Batch[],
): Promise<LaterAttempts> {
  const failed = counted(batches).flatMap((batch) => {
    const rows = rowsOf(batch).filter((row) => isFailed(row, batch));
    return rows.length > 0 ? { batch, rows } : [];
  });
  if (failed.length === 0 || !journalExists(context.settings)) return new Map();
  try {
    const looking = new LaterLook(context, await attemptStore(context), uploads);
    const whole = new Map(batches.map((batch) => [batch.id, batch]));
    for (const { batch, rows } of failed) await looking.add(whole.get(batch.id) ?? batch, rows);
    return await looking.found();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    context.note(`${error.message}; whether failed rows were ordered since is not known`);
    return new Map();
  }
}

class LaterLook {
  readonly #context: Context;
  readonly #store: AttemptStore;
  readonly #uploads: NamedBatches['uploads'];
  readonly #rows: FailedAttempt[] = [];
  readonly #together = new Map<string, Promise<Together>>();
  /** Serials of the attempts that were read from the service. */
  readonly #read = new Set<number>();
  /** References that the service was asked for. */
  readonly #listed = new Set<string>();

  constructor(context: Context, store: AttemptStore, uploads: NamedBatches['uploads']) {
    this.#context = context;
    this.#store = store;
    this.#uploads = uploads;
  }

  /** Adds failed rows of a batch. Rows whose attempts are not recorded here are left out. */
  async add(batch: Batch, failed: ReturnType<typeof rowsOf>): Promise<void> {
    const { attempts, scope } = this.#store;
    const key = this.#keyOf(batch.id);
    if (key === undefined) return;
    const own = await applyBatch(this.#context, this.#store, await attempts.ofUpload(scope, key), batch);
    const together = await this.#togetherWith(batch.id, key);
    for (const { index } of failed) {
      const attempt = own[index];
      if (!attempt) continue;
      this.#rows.push({
        ...{ name: rowName(batch.id, index), own: attempt, orderId: attempt.orderId, together },
        oldRetryKey: stableKey(['retry', batch.id, index]),
      });
    }
  }

  #keyOf = (id: string): string | undefined => keyOfBatch(this.#store, this.#uploads, id);

  async #togetherWith(id: string, key: string): Promise<Together> {
    const upload = await uploadWith(this.#context, this.#uploads, { id, key });
    const known = this.#together.get(upload?.name ?? id) ?? togetherIn(this.#store, key, upload);
    this.#together.set(upload?.name ?? id, known);
    return known;
  }

  /** Id of a batch by its journal key. */
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
      // A row of a file of failed rows gives the key of a further attempt.
      this.#rows.flatMap(({ own }) =>
        own.reference
          ? []
          : keysOfRow(own.key).map((text) => [own.serial, { namespace: ownKeyNamespace, text }] as const),
      ),
    );
    const windows = windowsOf(this.#context);
    const taken = new Set<number>();
    const later = new Map<FailedAttempt, Attempt>();
    const unread = new Map<number, Attempt>();
    // A row's own key says more than likeness, by which equal rows cannot be told apart.
    for (const kind of ['own', 'alike'] as const)
      for (const row of this.#rows) {
        if (later.has(row)) continue;
        const mine = (akin.get(row.own.serial) ?? []).filter(
          (one) => !taken.has(one.serial) && kindOf(row, one, windows.rowMs) === kind,
        );
        for (const one of mine) if (isOpen(one) && !this.#read.has(one.serial)) unread.set(one.serial, one);
        const found = mine.find(isLive) ?? mine.find(isUnclear) ?? lastEnded(row, mine);
        if (!found) continue;
        taken.add(found.serial);
        later.set(row, found);
      }
    const unmet = this.#rows.filter((row) => {
      const one = later.get(row);
      return !one || !isLive(one);
    });
    return { later, unread: [...unread.values()], unmet };
  }

  /** Reads the current state of attempts. */
  async #see(unread: readonly Attempt[]): Promise<void> {
    const batches = new Set(unread.flatMap(({ upload }) => upload ?? []));
    for await (const { attempts } of seeBatches(this.#context, this.#store, batches))
      for (const { serial } of attempts) this.#read.add(serial);
    await seeSingles(
      this.#context,
      this.#store,
      unread.filter(({ upload }) => upload === undefined),
    );
    for (const { serial } of unread) this.#read.add(serial);
  }

  /** Asks the service for the references of rows, once. @returns whether it was asked for any. */
  async #look(rows: readonly FailedAttempt[]): Promise<boolean> {
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

  async #shown(later: ReadonlyMap<FailedAttempt, Attempt>): Promise<LaterAttempts> {
    const { attempts, scope } = this.#store;
    const shown = new Map<string, LaterAttempt>();
    const rowsOfBatch = new Map<string, readonly Attempt[]>();
    for (const [{ name }, { serial, state, orderId, upload }] of later) {
      const id = upload === undefined ? undefined : await this.#idOf(upload);
      const made =
        upload === undefined
          ? []
          : (rowsOfBatch.get(upload) ??
            (await attempts.ofUpload(scope, upload)).filter(({ state: of }) => of !== 'unsent'));
      if (upload !== undefined) rowsOfBatch.set(upload, made);
      const index = made.findIndex((one) => one.serial === serial);
      shown.set(
        name,
        new LaterAttempt({
          ...{ orderId, isCalledOff: state === 'cancelled', serial, upload: await this.#uploadOf(upload) },
          state: isEnded({ state }) ? 'failed' : isUnclear({ state }) ? 'unknown' : 'since',
          row: id == null || index < 0 ? undefined : { batchId: id, index },
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

/** The upload of a batch, whether it was named or not. */
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

/** @param key of a batch. @param upload that the batch belongs to. */
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

const isLive = ({ state }: Stated): boolean => state === 'placed' || state === 'returned';
const isUnclear = ({ state }: Stated): boolean => state === 'intended' || state === 'unknown';
const isEnded = ({ state }: Stated): boolean => state === 'failed' || state === 'cancelled';
const isOpen = ({ state }: Stated): boolean => state === 'placed' || isUnclear({ state });

/** The last attempt that made an order, if that was after the row's own. */
const lastEnded = ({ own }: FailedAttempt, attempts: readonly Attempt[]): Attempt | undefined =>
  attempts
    .filter((one) => isEnded(one) && one.orderId !== undefined && one.madeAt > own.madeAt)
    .toSorted((one, other) => one.madeAt - other.madeAt)
    .at(-1);

/** How an attempt belongs to the need of a row: by the row's own name or key, or by its content; undefined if not. */
function kindOf(
  { own, orderId, oldRetryKey, together }: FailedAttempt,
  other: Attempt,
  rowMs: number,
): 'own' | 'alike' | undefined {
  if (other.orderId !== undefined && other.orderId.toLowerCase() === orderId?.toLowerCase()) return undefined;
  // A batch of the same upload that is in doubt is settled by the retry that made it.
  const isSibling = other.upload !== undefined && together.keys.has(other.upload);
  if (isSibling && isUnclear(other)) return undefined;
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
  const isLater = other.madeAt >= own.madeAt;
  if (!isComparable || other.likeness !== 'alike' || !isLater) return undefined;
  if (other.run === own.run || other.run === undefined) return 'alike';
  // Another occasion is another need, but what was corrected may have been sent as one.
  return own.run === undefined && other.madeAt - own.madeAt <= rowMs ? 'alike' : undefined;
}

/** Maximum number of attempts with further keys that are recognized, for a key that a file gives. */
const maxFurther = 9;

/** Whether a key is one that a file gives, or one of the attempts that followed it. */
function isKeyOf(given: Reference, key: string): boolean {
  if (key === given.text) return true;
  for (let number = 2; number <= maxFurther; number += 1) if (attemptKey(given, number) === key) return true;
  return false;
}
