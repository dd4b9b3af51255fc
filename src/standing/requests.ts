import { numberIn, textIn } from '../api/json.ts';
import type { Output } from '../api/outputs/index.ts';
import { unlessMissing } from '../http/response.ts';
import { type JournalRecord, wasSentWithTestKey } from '../journal/journal-record.ts';
import { journalExists } from '../journal/journal-tables.ts';
import { isOthers } from '../journal/take-over.ts';
import { metadataOf } from '../orders/needs/reference.ts';
import { knownScopeOf } from '../orders/needs/scope.ts';
import { isOfAccount, settleSent } from '../orders/needs/settle-sent.ts';
import { type OrderRecord, stateOfOrder } from '../orders/order-record.ts';
import { readOrder } from '../orders/submit/existing.ts';
import { beforeSend } from '../orders/submit/record.ts';
import { ErrandError, exitCodes, type NextStep, stopOf } from '../platform/errors.ts';
import { safeText } from '../platform/redact/safe-text.ts';
import type { Context } from '../run/context.ts';
import { type Day, dateText, dayAt, dueAt, halfStep } from './cadence.ts';
import type { StandingEntry } from './entries.ts';
import { type DateOrder, dateOrderOf, listDateOrders, occasionIn, referenceFor, stateOf } from './orders.ts';
import { firstDay } from './plan.ts';

type DateRow = Output<'StandingDate'>;

/** A request for a date that was sent, but whose outcome is unknown or was not reported. */
export interface OpenRequest {
  /** Id of the entry for which the request was sent. Since then, the entry may have been removed or changed. */
  readonly id: string;
  readonly day: Day;
  readonly record: JournalRecord;
}

/**
 * Lists requests for standing orders that interrupted runs or lost responses have left open at the service in use.
 * Excludes requests that another process is working on. Reads the journal of this machine, or the shared journal.
 * @throws StorageError.
 */
export async function openRequests(context: Context): Promise<readonly OpenRequest[]> {
  const open: OpenRequest[] = [];
  for (const request of await unfinishedRequests(context)) {
    const { record } = request;
    if (isOthers(record)) continue;
    // A run with the other account's key reports what was bought with that key.
    if (record.state === 'responded' && !(await isOfAccount(context, record))) continue;
    open.push(request);
  }
  return open;
}

async function unfinishedRequests(context: Context): Promise<readonly OpenRequest[]> {
  if (!journalExists(context.settings)) return [];
  const { value: baseUrl } = context.settings.baseUrl;
  const isTest = context.isRehearsal();
  const journal = await context.journal().catch((error: unknown) => {
    throw beforeSend(error);
  });
  return journal.list().flatMap((record): readonly OpenRequest[] => {
    const { operation, state, base_url: sentTo, body } = record;
    if (operation !== 'order.create' || sentTo !== baseUrl || wasSentWithTestKey(record) !== isTest)
      return [];
    if (state !== 'intended' && state !== 'responded') return [];
    const occasion = occasionIn(body.metadata);
    return occasion ? [{ ...occasion, record }] : [];
  });
}

/**
 * Dates of an entry for which an order may or may not have been placed.
 * @throws StorageError.
 */
export async function doubtfulDates(
  context: Context,
  { id }: Pick<StandingEntry, 'id'>,
): Promise<readonly DateOrder[]> {
  const requests = await unfinishedRequests(context);
  return requests
    .filter((request) => request.id === id && request.record.state === 'intended')
    .map(({ day, record }) => ({
      ...{ id: record.key, day, state: 'intended', version: undefined, order: {} },
      madeAt: Date.parse(record.created_at),
    }));
}

/** Which orders of an entry to read. Times are ms since the epoch. */
interface Span {
  /** Excludes orders that the service created earlier. */
  readonly since?: number;
  readonly closed?: Day | undefined;
  readonly reopened?: readonly Day[];
}

/**
 * Reads the orders of an entry. These are the orders that the service lists, newer orders that only the journal knows,
 * and requests in doubt.
 * @throws ErrandError.
 */
export async function ordersOfEntry(
  context: Context,
  entry: StandingEntry,
  { since, ...span }: Span = {},
): Promise<readonly DateOrder[]> {
  const client = await context.client();
  const listed = await listDateOrders(client, entry, since);
  if (!journalExists(context.settings)) return listed;
  const now = context.serviceClock.now();
  const from = Math.ceil(firstDay(entry, { now, closed: undefined, ...span }) - halfStep(entry.schedule));
  const length = dayAt(entry.schedule.timeZone, now) + 2 - from;
  const days = Array.from({ length: Math.max(0, length) }, (_, index) => from + index);
  const attempts = await (await context.journal()).attempts();
  const related = await attempts.related(
    await knownScopeOf(context, attempts),
    days.map((day) => ({ reference: referenceFor(entry, day), products: [], recipient: '' })),
  );
  const unlisted: DateOrder[] = [];
  for (const [index, day] of days.entries())
    for (const { orderId, state } of related[index] ?? []) {
      if (state !== 'placed' || orderId === undefined || listed.some(({ id }) => id === orderId)) continue;
      const order = await unlessMissing(readOrder(client, orderId));
      if (order) unlisted.push(dateOrderOf(orderId, day, order));
    }
  return [...listed, ...unlisted, ...(await doubtfulDates(context, entry))];
}

/**
 * A request to report, and the entry for which it was sent, unless that entry was removed. Also flags that make a
 * suggested command use the same file and service.
 */
interface Sent {
  readonly request: OpenRequest;
  readonly entry: StandingEntry | undefined;
  readonly where: string;
}

/**
 * Settles a request without sending it again.
 * @returns the row to report. In a preview, undefined unless the request is in doubt.
 */
export async function settleRequest(context: Context, sent: Sent): Promise<DateRow | undefined> {
  const { record } = sent.request;
  if (context.previewsRequests)
    return record.state === 'intended'
      ? rowOf(sent, { outcome: 'unknown', message: 'in doubt; a run settles it first', next: [] })
      : undefined;
  try {
    const order = await settleSent(context, record);
    const of = `what was sent at ${record.created_at}, by a run that did not learn what came of it`;
    if (!order) return rowOf(sent, { outcome: 'skipped', message: `no order came of ${of}`, next: [] });
    const state = stateOf(order);
    const outcome = state === 'failed' ? state : state === 'placed' ? 'existed' : 'withdrawn';
    const end = outcome === 'existed' ? '' : `, and it ended: ${safeText(stateOfOrder(order).text, 60)}`;
    const message = `its order was found when the run settled ${of}${end}`;
    const row = rowOf(sent, { outcome, order, message, next: [] });
    if (outcome === 'failed') await context.report(errorOf(row));
    return row;
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    const { message, facts, category } = error;
    const next = [
      { command: `errand standing run${sent.where}`, when: 'in some minutes: looks for it again' },
      ...(facts.next ?? []),
    ];
    const row = rowOf(sent, { outcome: 'unknown', message, next });
    await context.report(
      new ErrandError(category, `${row.name}, ${row.date}: ${message}`, { ...facts, next, cause: error }),
    );
    return row;
  }
}

interface Settled {
  readonly outcome: 'existed' | 'failed' | 'withdrawn' | 'skipped' | 'unknown';
  readonly order?: OrderRecord;
  readonly message: string;
  readonly next: readonly NextStep[];
}

const outcomeCodes: Readonly<Record<string, number>> = {
  unknown: exitCodes.in_doubt,
  failed: exitCodes.ended_badly,
};

const errorOf = ({ name, date, message, outcome, order_id: id }: DateRow): ErrandError =>
  new ErrandError('ended_badly', `${name}, ${date}: ${message}`, {
    code: `standing_${outcome}`,
    details: { name, date, order_id: id },
    outcome: 'applied',
    retryable: false,
  });

function rowOf(
  { request: { id, day, record }, entry }: Sent,
  { outcome, order, message, next }: Settled,
): DateRow {
  return {
    ...{ name: entry?.name ?? id, id, date: dateText(day), outcome, message },
    due_at: entry ? new Date(dueAt(entry.schedule, day)).toISOString() : null,
    reference: metadataOf(referenceFor({ id }, day)),
    order_id: textIn(order, 'id') ?? null,
    max_price: numberIn(order, 'max_price') ?? numberIn(record.body, 'max_price') ?? 0,
    exit_code: outcomeCodes[outcome] ?? 0,
    next: [...next],
  };
}
