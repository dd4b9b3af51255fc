import { contentIn } from '../../format/canonical-need.ts';
import type { Client } from '../../http/client.ts';
import { unlessMissing } from '../../http/response.ts';
import type {
  Attempt,
  AttemptChange,
  AttemptScope,
  AttemptState,
  Attempts,
  Reference,
} from '../../journal/attempts.ts';
import type { Journal } from '../../journal/journal.ts';
import { attemptsInMemory, journalExists } from '../../journal/journal-tables.ts';
import { compareNeeds, needOf } from '../../orders/needs/need.ts';
import { knownScopeOf, scopeOf } from '../../orders/needs/scope.ts';
import { seeOrder } from '../../orders/needs/service-orders.ts';
import type { OrderRecord } from '../../orders/order-record.ts';
import { findBatch } from '../../orders/send-batch.ts';
import { readOrder } from '../../orders/submit/existing.ts';
import { asBatch } from '../../orders/submit/intent.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import {
  type Batch,
  type BatchRow,
  isMet,
  orderOfAttempt,
  rowsOf,
  stateOf,
  withdrawalOf,
} from '../upload/batch.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';
import { withMetOrders } from '../upload/met-orders.ts';
import { hasUploads } from '../upload/named.ts';
import { returnsOf } from './returned-orders.ts';
import { needsOfSent, ownKeyNamespace, quantitiesIn, quantitiesOfOrder } from './row-need.ts';

/** The store of a command's attempts, with the account that they belong to. */
export interface AttemptStore {
  readonly attempts: Attempts;
  readonly scope: AttemptScope;
  readonly journal: Pick<Journal, 'find' | 'madeBy'>;
}

/**
 * Opens the store of attempts. A preview creates no journal: if there is none yet, the preview stores what it reads in
 * memory. @throws StorageError; ErrandError unavailable if the service cannot be asked which account the API key
 * belongs to.
 */
export async function attemptStore(context: Context): Promise<AttemptStore> {
  const isFirst = context.previewsRequests && !journalExists(context.settings);
  const journal = isFirst ? undefined : await context.journal();
  const attempts = await (journal ? journal.attempts() : attemptsInMemory());
  const scope = await (context.previewsReads ? knownScopeOf : scopeOf)(context, attempts);
  return { journal: journal ?? noJournal, scope, attempts };
}

const noJournal = { find: () => undefined, madeBy: () => undefined } as const;

/** Result of reading a batch. */
export interface SeenBatch {
  /** Journal key of the batch. */
  readonly key: string;
  /** The attempts of the batch, already updated. */
  readonly attempts: readonly Attempt[];
  /** Whether the batch may have been sent although no response is recorded. */
  readonly isInDoubt: boolean;
}

/** Maximum number of batches read concurrently. */
const maxInFlight = 4;

/**
 * Age in ms after which an attempt without a journal record counts as never sent. Such attempts exist because earlier
 * versions saved attempts and records separately.
 */
const claimMs = 120_000;

/** Maximum number of orders that are read one by one to find out whether they were returned. */
const maxById = 20;

/**
 * Reads batches from the service and updates the attempts of their rows. If a batch was never sent or was refused, its
 * attempts end. @param keys are journal keys. @throws ErrandError if a batch cannot be read.
 */
export async function* seeBatches(
  context: Context,
  store: AttemptStore,
  keys: Iterable<string>,
): AsyncGenerator<SeenBatch> {
  async function* all() {
    yield* keys;
  }
  const seen = inFlight(all(), (key) => seeBatch(context, store, key), {
    limit: maxInFlight,
    now: context.clock.monotonic,
  });
  yield* seen;
}

async function seeBatch(context: Context, store: AttemptStore, key: string): Promise<SeenBatch> {
  const { attempts, scope, journal } = store;
  const own = (await attempts.ofUpload(scope, key)).filter(({ state }) => state !== 'unsent');
  const record = journal.find(key, scope.service);
  const known = record?.order_id ?? (await idOf(context, key));
  const id = known ?? (record?.state === 'forgotten' ? await search(context, key, store) : undefined);
  if (id != null) return { key, isInDoubt: false, attempts: await applied(context, store, own, id) };
  const end = stateWithout(record?.state, own, context.serviceClock.now());
  if (end) await attempts.change(own.map(({ serial }) => ({ serial, state: end })));
  const isInDoubt = record?.state === 'intended' || record?.state === 'damaged';
  return { key, isInDoubt, attempts: own.map((one) => ({ ...one, state: end ?? one.state })) };
}

/** Does the same as `seeBatches`, but reads only what is stored. A batch with a recorded response is not in doubt. */
export async function* storedBatches(
  { attempts, scope, journal }: AttemptStore,
  keys: Iterable<string>,
): AsyncGenerator<SeenBatch> {
  for (const key of keys) {
    const record = journal.find(key, scope.service);
    yield {
      key,
      attempts: await attempts.ofUpload(scope, key),
      isInDoubt: record?.state === 'intended' || record?.state === 'damaged',
    };
  }
}

/** New state for the attempts of a batch without an id; undefined if their states stay unchanged. */
function stateWithout(
  recorded: string | undefined,
  own: readonly Attempt[],
  now: number,
): AttemptState | undefined {
  if (recorded === 'refused') return 'unsent';
  if (recorded === 'forgotten') return 'unknown';
  const isLost =
    recorded === undefined &&
    own.every(({ madeAt, state }) => state === 'intended' && now - madeAt > claimMs);
  return isLost ? 'unsent' : undefined;
}

async function idOf(context: Context, key: string): Promise<string | undefined> {
  if (!hasUploads(context)) return undefined;
  return (await context.uploads()).idOf(key);
}

/** Searches the service for a batch that the user gave up on (`forgotten`). @returns the id of the batch. */
async function search(
  context: Context,
  key: string,
  { journal, scope }: AttemptStore,
): Promise<string | undefined> {
  const record = journal.find(key, scope.service);
  if (!record) return undefined;
  const { filename, rows } = await asBatch(record);
  const intent = { key, baseUrl: scope.service };
  return findBatch(context, intent, { key, filename: filename ?? '', rows }, record.created_at);
}

/** Reads a batch and updates its attempts. */
async function applied(
  context: Context,
  store: AttemptStore,
  own: readonly Attempt[],
  id: string,
): Promise<readonly Attempt[]> {
  const client = await context.client();
  const found = await unlessMissing(client.call('bulk.get', { path: { batch_id: id } }));
  if (!found) {
    const state = gone(store);
    await store.attempts.change(own.map(({ serial }) => ({ serial, state })));
    return own.map((one) => ({ ...one, state }));
  }
  const [batch = found.body] = await withMetOrders(context, [found.body]);
  return applyBatch(context, store, own, batch, await comparedOrders(client, store, own, batch));
}

/** For each row whose key already had an order: whether that order matches the row. Keyed by row index. */
type ComparedRows = ReadonlyMap<number, boolean>;

/**
 * Compares rows with the orders that their keys already had, because another machine may have used the same reference
 * for a different order.
 */
async function comparedOrders(
  client: Client,
  { journal, scope }: AttemptStore,
  own: readonly Attempt[],
  batch: Batch,
): Promise<ComparedRows> {
  const compared = new Map<number, boolean>();
  const found = rowsOf(batch).filter((row) => isToCompare(row, batch, latestOf(own, batch)[row.index]));
  if (found.length === 0) return compared;
  const [{ upload = '' } = {}] = own;
  const needs = needsOfSent(journal.find(upload, scope.service));
  for (const row of found) {
    const id = orderOfAttempt(row, batch);
    const order = id === undefined ? undefined : await unlessMissing(readOrder(client, id));
    const [need, content] = [needs[row.index], order && contentIn(order, 'items')];
    const isOther =
      order &&
      need &&
      content &&
      (compareNeeds(need.need, needOf(content)) !== 'alike' ||
        quantitiesIn(need) !== quantitiesOfOrder(order));
    compared.set(row.index, !isOther);
  }
  return compared;
}

const isToCompare = (row: BatchRow, batch: Batch, attempt: Attempt | undefined): boolean =>
  attempt !== undefined && attempt.orderId === undefined && metReference(row, batch, attempt) !== undefined;

/** The reference of a row whose key already has an order. */
const metReference = (
  row: BatchRow,
  batch: Batch,
  { reference }: Pick<Attempt, 'reference'>,
): Reference | undefined =>
  isMet(row, batch) && reference?.namespace !== ownKeyNamespace ? reference : undefined;

/**
 * The batch's attempts from the last time it was sent. Earlier attempts exist if the service refused the batch before.
 */
function latestOf(own: readonly Attempt[], batch: Batch): readonly Attempt[] {
  const count = Math.max(rowsOf(batch).length, Number(batch.row_count) || 0);
  return own.slice(-Math.max(count, 1));
}

/** State for attempts whose batch or order the service does not have. A sandbox may have been reset or restored. */
const gone = ({ scope }: Pick<AttemptStore, 'scope'>): AttemptState => (scope.isTest ? 'unsent' : 'unknown');

/**
 * Updates the attempts of a batch from the batch as it was read. @param compared tells which rows match the order that
 * their key already had. A row with such an order stays unchanged if it was not compared. @returns the updated
 * attempts.
 */
export async function applyBatch(
  context: Context,
  { attempts }: Pick<AttemptStore, 'attempts'>,
  all: readonly Attempt[],
  batch: Batch,
  compared: ComparedRows = new Map(),
): Promise<readonly Attempt[]> {
  const rows = rowsOf(batch);
  const latest = latestOf(
    all.filter(({ state }) => state !== 'unsent'),
    batch,
  );
  const seenAt = context.serviceClock.now();
  const createdAt = Date.parse(String(batch.created_at));
  const changes: AttemptChange[] = [];
  for (const row of rows) {
    const attempt = latest[row.index];
    if (!attempt) continue;
    const isSame = compared.get(row.index) ?? (isToCompare(row, batch, attempt) ? undefined : true);
    if (isSame === undefined) continue;
    const madeAt = Number.isNaN(createdAt) ? attempt.madeAt : createdAt;
    const orderId = isSame ? (orderOfAttempt(row, batch) ?? attempt.orderId) : undefined;
    changes.push({
      serial: attempt.serial,
      state: isSame ? attemptStateOf(row, batch, attempt) : 'failed',
      orderId,
      madeAt,
      seenAt,
    });
  }
  await attempts.change(changes);
  const bySerial = new Map(changes.map((change) => [change.serial, change]));
  return latest.map((one) => {
    const { state = one.state, orderId, madeAt = one.madeAt } = bySerial.get(one.serial) ?? {};
    return { ...one, state, orderId: orderId ?? one.orderId, madeAt, seenAt };
  });
}

/**
 * State of a row's attempt. A batch does not show whether an order was returned, so an attempt that is known to be
 * returned stays `returned`.
 */
function attemptStateOf(row: BatchRow, batch: Batch, { state }: Attempt): AttemptState {
  switch (stateOf(row, batch)) {
    case 'refused':
      return 'failed';
    case 'failed':
      return 'failed';
    case 'withdrawn':
      return withdrawalOf(row) ?? 'cancelled';
    default:
      return state === 'returned' ? 'returned' : 'placed';
  }
}

/**
 * Updates the attempts of batches that were read for another purpose. Errors are ignored, because every decision reads
 * these batches again.
 */
export async function recordOutcomes(context: Context, batches: Iterable<Batch>): Promise<void> {
  if (!journalExists(context.settings)) return;
  try {
    const store = await attemptStore(context);
    for (const batch of batches) {
      const record = store.journal.madeBy(batch.id, store.scope.service);
      const own = record ? await store.attempts.ofUpload(store.scope, record.key) : [];
      if (own.length > 0) await applyBatch(context, store, own, batch);
    }
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}

/** Finds out which of the placed orders were returned, and updates their attempts. @throws ErrandError. */
export async function seeReturns(
  context: Context,
  { attempts }: Pick<AttemptStore, 'attempts'>,
  placed: readonly Pick<Attempt, 'serial' | 'orderId'>[],
): Promise<void> {
  const client = await context.client();
  const byId = new Map(
    placed.flatMap((one) => (one.orderId ? [[one.orderId.toLowerCase(), one] as const] : [])),
  );
  const returned = byId.size <= maxById ? byId.keys() : (await returnsOf(context, byId)).keys();
  for (const id of returned) {
    const one = byId.get(id);
    const seen = one && (await seeOrder(client, id));
    if (seen && seen.state !== 'placed')
      await attempts.change([{ serial: one.serial, state: seen.state, seenAt: context.serviceClock.now() }]);
  }
}

/**
 * Reads the current state of single orders, and saves it. @returns the orders that were found, with the serials of
 * their attempts. @throws ErrandError if a state cannot be read.
 */
export async function seeSingles(
  context: Context,
  store: AttemptStore,
  singles: Iterable<Attempt>,
): Promise<readonly { readonly serial: number; readonly order: OrderRecord }[]> {
  const { attempts, journal, scope } = store;
  const client = await context.client();
  const changes: AttemptChange[] = [];
  const orders: { serial: number; order: OrderRecord }[] = [];
  for (const { serial, key, state, madeAt, orderId: known } of singles) {
    const record = known === undefined ? journal.find(key, scope.service) : undefined;
    const orderId = known ?? record?.order_id ?? undefined;
    const seenAt = context.serviceClock.now();
    const found = orderId === undefined ? undefined : await seeOrder(client, orderId);
    if (found) {
      orders.push({ serial, order: found.order });
      changes.push({ serial, orderId, seenAt, state: found.state, madeAt: found.madeAt });
    } else if (orderId !== undefined) changes.push({ serial, orderId, seenAt, state: gone(store) });
    else if (record?.state === 'refused') changes.push({ serial, seenAt, state: 'failed' });
    else if (record?.state === 'forgotten' && state === 'intended')
      changes.push({ serial, seenAt, state: 'unknown' });
    else if (!record && state === 'intended' && seenAt - madeAt > claimMs)
      changes.push({ serial, seenAt, state: 'unsent' });
  }
  await attempts.change(changes);
  return orders;
}
