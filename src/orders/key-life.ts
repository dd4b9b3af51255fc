import { objectsIn } from '../contract/json.ts';
import { ErrandError } from '../errors.ts';
import type { Client } from '../http/client.ts';
import type { OrderContext } from '../order-context.ts';
import { shellLine } from '../shell-word.ts';
import { anotherSentence } from '../state/another.ts';
import { journalCommand } from '../state/journal-command.ts';
import type { JournalRecord } from '../state/journal-record.ts';
import { whereFlags } from '../where-flags.ts';
import { differences } from './compare.ts';
import { asOrder } from './journaled-order.ts';
import type { OrderRecord } from './order-record.ts';

/** How long a service is trusted to keep an idempotency key, ms. After that the same key may make a second order. */
export const keyLifeMs = 24 * 3600 * 1000;

const hourMs = 3600 * 1000;
const mostShown = 5;

/** Whether the key of a record may no longer be kept by the service. A time of the future is no reason to think so. */
export const isKeyOld = ({ created_at: since }: JournalRecord, nowMs: number): boolean =>
  Date.parse(since) < nowMs - keyLifeMs;

/**
 * A record that is too old to be sent again unasked, with the orders of that time that look like it: a person decides.
 * @returns ErrandError conflict.
 */
export async function tooOld(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
): Promise<ErrandError> {
  const { key, created_at: since } = record;
  const alike = record.payment === null ? await readAlike(client, record) : undefined;
  const where = whereFlags(context);
  return new ErrandError(
    'conflict',
    `${key} is in doubt since ${since}, longer than a service keeps a key; nothing was ordered. ${record.payment === null ? foundText(alike) : paidText}`,
    {
      idempotencyKey: key,
      outcome: 'unknown',
      retryable: false,
      details: { in_doubt_since: since, orders_alike: alike ?? null },
      hint: `If the order is there, give the key up. If it is not, send it again. ${anotherSentence(record)}`,
      next: [
        ...(alike ?? []).map(({ id }) => ({
          command: shellLine`errand order get ${id}` + where,
          when: 'to look at it',
        })),
        { command: journalCommand('forget', key, where), when: 'where the order is there' },
        {
          command: journalCommand('resume', key, ` --resend${where}`),
          when: 'where it is not: sends it again',
        },
      ],
    },
  );
}

/** Undefined where the service does not say: that does not say what became of the order. */
async function readAlike(client: Client, record: JournalRecord): Promise<readonly Alike[] | undefined> {
  try {
    return await ordersAlike(client, record);
  } catch (error) {
    if (error instanceof ErrandError) return undefined;
    throw error;
  }
}

const paidText = 'Orders without an account are listed nowhere: the wallet shows whether it was paid.';

interface Alike {
  readonly id: string;
  readonly created_at: unknown;
  readonly status: unknown;
  readonly recipient: string;
}

function foundText(alike: readonly Alike[] | undefined): string {
  if (alike === undefined) return 'Which orders look like it could not be read.';
  if (alike.length === 0) return 'No order of that time looks like it.';
  return alike.length === 1
    ? `The order ${alike[0]?.id} looks like it.`
    : `${alike.length} orders look like it.`;
}

/** Orders that were made when this one may have been, and say the same. */
async function ordersAlike(client: Client, record: JournalRecord): Promise<readonly Alike[]> {
  const order = await asOrder(record);
  const since = Date.parse(record.created_at);
  const query = {
    created_after: new Date(since - hourMs).toISOString(),
    created_before: new Date(since + keyLifeMs + hourMs).toISOString(),
    limit: 500,
  };
  const { body } = await client.call('order.list', { query });
  return objectsIn(body, 'orders')
    .filter((found) => differences(order, found).every(({ isSpelling }) => isSpelling))
    .slice(0, mostShown)
    .map(alike);
}

function alike({ id, created_at, status, shipping_address: address }: OrderRecord): Alike {
  const { first_name: first, last_name: last } = Object(address);
  return { id: String(id), created_at, status, recipient: [first, last].filter(Boolean).join(' ') };
}
