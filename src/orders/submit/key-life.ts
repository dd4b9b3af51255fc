import type { Client } from '../../http/client.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { type Intent, type JournalRecord, keyLifetimeMs } from '../../journal/journal-record.ts';
import { reorderSentence } from '../../journal/take-over.ts';
import { ErrandError } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { sharesAnything } from '../needs/search.ts';
import { type Found, searchService } from './alike.ts';

/**
 * Whether the service may have forgotten the key of a record. A record with a date in the future counts as recent, and
 * a record with an invalid date counts as old.
 */
export const isKeyOld = ({ created_at: since }: Pick<JournalRecord, 'created_at'>, nowMs: number): boolean =>
  !(Date.parse(since) >= nowMs - keyLifetimeMs);

/** Whether the clock that dated a record was ahead. If so, the age of the record is unknown. */
export const isAhead = ({ created_at: since }: Pick<JournalRecord, 'created_at'>, nowMs: number): boolean =>
  Date.parse(since) > nowMs + clocksDifferMs;

const clocksDifferMs = 3600 * 1000;

/**
 * The error for a record that is too old to be resent automatically. The error lists similar orders that were made
 * since then, so that a person can decide.
 * @returns ErrandError conflict.
 */
export async function tooOld(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
): Promise<ErrandError> {
  return tooOldWith(context, record, await searchService(context, client, record));
}

/**
 * Before a record is resent whose key the service may have forgotten, checks that no order looks like the record.
 * @throws ErrandError conflict if an order looks like the record, or if the service cannot say.
 */
export async function checkNotThere(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
): Promise<void> {
  const found = await searchService(context, client, record);
  if (found.alike?.length !== 0) throw tooOldWith(context, record, found, false);
}

/** @param isOffered tells whether to offer to send the record again. */
function tooOldWith(
  context: OrderContext,
  record: JournalRecord,
  { text, alike, next }: Found,
  isOffered = true,
): ErrandError {
  const { key, created_at: since } = record;
  const where = whereFlags(context);
  const why = isKeyOld(record, context.clock.now())
    ? 'longer than a service keeps a key'
    : 'by a clock that was ahead';
  return new ErrandError(
    'conflict',
    `${key} is in doubt since ${since}, ${why}; nothing was ordered. ${text}`,
    {
      idempotencyKey: key,
      outcome: 'unknown',
      retryable: false,
      details: { in_doubt_since: since, orders_alike: alike },
      hint: isOffered
        ? `If the order is there, give the key up. If it is not, send it again. ${reorderSentence(record)}`
        : `If the order is there, give the key up. ${reorderSentence(record)}`,
      next: [
        ...next,
        { command: journalCommand('forget', key, where), when: 'where the order is there' },
        ...(isOffered
          ? [
              {
                command: journalCommand('resume', key, ` --resend${where}`),
                when: 'where it is not: sends it again',
              },
            ]
          : []),
      ],
    },
  );
}

/**
 * Blocks an old key if the key's order may exist already. An approval may have taken the key to another machine, and
 * that machine may have sent the order before the service forgot the key.
 * @throws ErrandError conflict.
 */
export async function checkKeyAge(
  context: OrderContext,
  { key, baseUrl }: Pick<Intent, 'key' | 'baseUrl'>,
  mayBeSent: boolean,
): Promise<void> {
  const record = (await context.journal()).find(key, baseUrl);
  if (!record || !isKeyOld(record, context.clock.now())) return;
  const client = await context.client();
  if (mayBeSent) throw await tooOld(context, client, record);
  const found = await searchService(context, client, record, { mayBeOf: sharesAnything });
  if (found.alike?.length !== 0) throw tooOldWith(context, record, found);
}
