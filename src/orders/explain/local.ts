import { isDeepStrictEqual } from 'node:util';
import { objectsIn, own, textIn } from '../../api/json.ts';
import type { Attempt, Reference } from '../../journal/attempts.ts';
import { recordOfRow } from '../../journal/audit-record.ts';
import type { StoredEvent } from '../../journal/events.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { Reservation } from '../../journal/reservation-row.ts';
import { webhooksExist } from '../../journal/webhook-store.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { referenceIn } from '../needs/reference.ts';
import { knownScopeOf } from '../needs/scope.ts';

/** Local information about an order. */
export interface LocalPart {
  readonly record: JournalRecord | undefined;
  /** Audit records, as stored. */
  readonly chain: readonly Readonly<Record<string, unknown>>[];
  /** Attempts that have the order's reference, oldest first; empty if the order has no reference. */
  readonly attempts: readonly Attempt[];
  readonly reservation: Reservation | undefined;
  /** The row of a batch from which the order was made. */
  readonly row: { readonly batch: string; readonly number: number } | undefined;
  /** Oldest first. */
  readonly events: readonly StoredEvent[];
}

const nothing: LocalPart = {
  record: undefined,
  chain: [],
  attempts: [],
  reservation: undefined,
  row: undefined,
  events: [],
};

/** How many of this machine's batches are fetched at most, to find the row of an order. */
const maxBatches = 5;
/** Maximum time, in ms, between the creation of a batch and the creation of the orders for its rows. */
const batchLifetimeMs = 24 * 3600 * 1000;
/** Maximum number of events shown for an order. Beyond it, only the newest are shown. */
const maxEvents = 100;

/**
 * Collects what this machine knows about an order. If something cannot be read, says so in a note; what the service
 * knows is shown anyway.
 */
export async function localPart(context: Context, id: string, order: unknown): Promise<LocalPart> {
  const { baseUrl } = context.settings;
  const events = await storedEvents(context, id);
  if (!journalExists(context.settings)) return { ...nothing, events };
  try {
    const journal = await context.journal();
    const made = journal.madeBy(id, baseUrl.value);
    const row = made || order === undefined ? undefined : await rowOf(context, journal, id, order);
    const record = made ?? row?.record;
    const returns = objectsIn(order, 'returns').flatMap((one) => textIn(one, 'id') ?? []);
    const ids = [id, ...returns, ...(row ? [row.batch] : [])];
    const chain = journal.audit.about(ids, record ? [record.key] : [], baseUrl.value).map(recordOfRow);
    const key = record && record.operation !== 'bulk.create' ? record.key : undefined;
    const attempts = await attemptsFor(context, journal, referenceOf(order, record));
    const reservation = journal.reservations.about(baseUrl.value, id, key);
    return { record, chain, attempts, row, events, reservation };
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    context.note(`what this machine knows of it cannot be read: ${error.message}`);
    return { ...nothing, events };
  }
}

/** Collects what this machine knows about an intent that has no result yet. */
export async function partOfIntent(context: Context, record: JournalRecord): Promise<LocalPart> {
  const journal = await context.journal();
  const { audit, reservations } = journal;
  const { key, base_url: service } = record;
  return {
    ...nothing,
    record,
    attempts: await attemptsFor(context, journal, referenceOf(undefined, record)),
    chain: audit.about([], [key], service).map(recordOfRow),
    reservation: reservations.about(service, undefined, key),
  };
}

/** The reference of an order: as the service shows it, or else as it was sent. */
export const referenceOf = (order: unknown, record: JournalRecord | undefined): Reference | undefined =>
  referenceIn(own(order, 'metadata')) ?? referenceIn(own(record?.body, 'metadata'));

async function attemptsFor(
  context: Context,
  journal: Journal,
  reference: Reference | undefined,
): Promise<readonly Attempt[]> {
  if (!reference) return [];
  try {
    const need = { reference, products: [], recipient: '' };
    const attempts = await journal.attempts();
    const [related = []] = await attempts.related(await knownScopeOf(context, attempts), [need]);
    return related
      .filter(({ reference: of, state }) => isDeepStrictEqual(of, reference) && state !== 'unsent')
      .toSorted((one, other) => one.number - other.number || one.madeAt - other.madeAt);
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return [];
  }
}

/** Finds the row of an order. Searches the newest batches that were sent around the time when the order was created. */
async function rowOf(
  context: Context,
  journal: Journal,
  id: string,
  order: unknown,
): Promise<(NonNullable<LocalPart['row']> & { readonly record: JournalRecord }) | undefined> {
  const made = Date.parse(textIn(order, 'created_at') ?? '');
  const isNear = (record: JournalRecord): boolean => {
    const ageMs = made - Date.parse(record.created_at);
    return ageMs > -batchLifetimeMs && ageMs < batchLifetimeMs;
  };
  const batches = journal
    .list(true)
    .filter(({ operation, base_url: url, order_id: batch }) => {
      return operation === 'bulk.create' && url === context.settings.baseUrl.value && batch !== null;
    })
    .filter(isNear)
    .slice(-maxBatches)
    .toReversed();
  const client = batches.length > 0 ? await context.client() : undefined;
  for (const record of batches) {
    const batch = record.order_id ?? '';
    const { body } = (await client?.call('bulk.get', { path: { batch_id: batch } })) ?? {};
    const index = objectsIn(body, 'rows').findIndex((row) => textIn(row, 'order_id') === id);
    if (index >= 0) return { record, batch, number: index + 1 };
  }
  return undefined;
}

async function storedEvents(context: Context, id: string): Promise<StoredEvent[]> {
  const { baseUrl, folders } = context.settings;
  if (!webhooksExist(folders.state)) return [];
  const { events } = await context.webhooks();
  const found: StoredEvent[] = [];
  for (const event of events.list({ orderId: id })) {
    if (event.base_url === baseUrl.value) found.push(event);
    if (found.length === maxEvents) break;
  }
  return found.toReversed();
}
