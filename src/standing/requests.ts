import { numberIn, textIn } from '../api/json.ts';
import type { Output } from '../api/outputs/index.ts';
import { type JournalRecord, wasSentWithTestKey } from '../journal/journal-record.ts';
import { journalExists } from '../journal/journal-tables.ts';
import { isOthers } from '../journal/take-over.ts';
import { metadataOf } from '../orders/needs/reference.ts';
import { settleSent } from '../orders/needs/settle-sent.ts';
import type { OrderRecord } from '../orders/order-record.ts';
import { ErrandError, exitCodes, type NextStep, stopOf } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { type Day, dateText, dueAt } from './cadence.ts';
import type { StandingEntry } from './entries.ts';
import { occasionIn, referenceFor } from './orders.ts';

type DateRow = Output<'StandingDate'>;

/** A request for a date that was sent from here, and whose outcome is not known, or was not reported. */
export interface OpenRequest {
  /** Id of the entry that it was sent for, which may be gone or another by now. */
  readonly id: string;
  readonly day: Day;
  readonly record: JournalRecord;
}

/**
 * The requests for dates of standing orders that interrupted runs, or lost responses, have left open at the service in
 * use. Reads this machine's journal, or the shared one. @throws StorageError.
 */
export async function openRequests(context: Context): Promise<readonly OpenRequest[]> {
  if (!journalExists(context.settings)) return [];
  const { value: baseUrl } = context.settings.baseUrl;
  const isTest = context.isRehearsal();
  const journal = await context.journal();
  return journal.list().flatMap((record): readonly OpenRequest[] => {
    const { operation, state, base_url: sentTo, body } = record;
    if (operation !== 'order.create' || sentTo !== baseUrl || wasSentWithTestKey(record) !== isTest)
      return [];
    if ((state !== 'intended' && state !== 'responded') || isOthers(record)) return [];
    const occasion = occasionIn(body.metadata);
    return occasion ? [{ ...occasion, record }] : [];
  });
}

/** What a row says of a request: its entry, where that is still there, and flags that make a command use the same file. */
interface Sent {
  readonly request: OpenRequest;
  readonly entry: StandingEntry | undefined;
  readonly where: string;
}

/**
 * Settles a request that is not to be sent again, by what was sent for it.
 * @returns what to report; undefined if nothing came of it.
 */
export async function settleRequest(context: Context, sent: Sent): Promise<DateRow | undefined> {
  const { record } = sent.request;
  if (context.previewsRequests)
    return record.state === 'intended'
      ? rowOf(sent, { outcome: 'unknown', message: 'in doubt; a run settles it first', next: [] })
      : undefined;
  try {
    const order = await settleSent(context, record);
    const since = `sent at ${record.created_at} by a run that did not learn what came of it`;
    return order && rowOf(sent, { outcome: 'existed', order, message: since, next: [] });
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
  readonly outcome: 'existed' | 'unknown';
  readonly order?: OrderRecord;
  readonly message: string;
  readonly next: readonly NextStep[];
}

function rowOf(
  { request: { id, day, record }, entry }: Sent,
  { outcome, order, message, next }: Settled,
): DateRow {
  return {
    ...{ name: entry?.name ?? id, id, date: dateText(day), outcome, message },
    due_at: entry ? new Date(dueAt(entry.schedule, day)).toISOString() : null,
    reference: metadataOf(referenceFor({ id }, day)),
    order_id: textIn(order, 'id') ?? null,
    max_price: numberIn(record.body, 'max_price') ?? 0,
    exit_code: outcome === 'unknown' ? exitCodes.in_doubt : 0,
    next: [...next],
  };
}
