import type { Client } from '../../http/client.ts';
import { pages } from '../../http/paging.ts';
import { type JournalRecord, paidAccount } from '../../journal/journal-record.ts';
import { ErrandError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { differences, hasOtherRecipient, hasSameProduct } from '../compare.ts';
import type { OrderRecord } from '../order-record.ts';
import { findBatch } from '../send-batch.ts';
import { findReturn } from '../send-return.ts';
import { asBatch, asOrder, asReturn, labelsOf } from './intent.ts';

const hourMs = 3600 * 1000;
const maxShown = 5;

/** An order or batch at the service that may have come from a record. */
interface Alike {
  readonly id: string;
  readonly created_at?: unknown;
  readonly status?: unknown;
  readonly recipient?: string;
}

/** Result of searching the service for a record, for use in an error. */
export interface Found {
  /** Full sentence. */
  readonly text: string;
  /** Orders or batches found; null if the service gives no answer, which proves nothing either way. */
  readonly alike: readonly Alike[] | null;
  readonly next: readonly { readonly command: string; readonly when: string }[];
}

/** Searches the service for the possible result of a record, without sending anything for it. */
export async function searchService(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
): Promise<Found> {
  return foundOf(context, record, () => readAlike(context, client, record));
}

async function foundOf(
  context: OrderContext,
  record: JournalRecord,
  read: () => Promise<readonly Alike[] | null>,
): Promise<Found> {
  if (record.account === paidAccount) return { text: paidText, alike: null, next: [] };
  const { one, many, get } = labelsOf(record.operation);
  const alike = await read();
  const next = (alike ?? []).map(({ id }) => ({
    command: `${get} ${shellWord(id)}${whereFlags(context)}`,
    when: 'to look at it',
  }));
  return { text: foundText(alike, one, many), alike, next };
}

const paidText = 'Orders without an account are listed nowhere: the wallet shows whether it was paid.';

function foundText(alike: readonly Alike[] | null, one: string, many: string): string {
  if (alike === null) return `Which ${many} look like it could not be read.`;
  if (alike.length === 0) return `No ${one} of that time looks like it.`;
  return alike.length === 1
    ? `The ${one} ${alike[0]?.id} looks like it.`
    : `${alike.length} ${many} look like it.`;
}

async function readAlike(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
): Promise<readonly Alike[] | null> {
  try {
    switch (record.operation) {
      case 'bulk.create': {
        const { filename, rows } = await asBatch(record);
        const batch = { key: record.key, filename: filename ?? '', rows };
        const id = await findBatch(
          context,
          { key: record.key, baseUrl: record.base_url },
          batch,
          sinceOf(record),
        );
        return id === undefined ? [] : [{ id }];
      }
      case 'return.create': {
        const found = await findReturn(context, client, await asReturn(record), sinceOf(record));
        return found === undefined ? [] : [{ id: found.id }];
      }
      default:
        return await ordersAlike(client, record);
    }
  } catch (error) {
    if (error instanceof ErrandError) return null;
    throw error;
  }
}

/** A damaged record's time may be invalid. */
const sinceOf = ({ created_at: since }: JournalRecord): string =>
  new Date(Date.parse(since) || 0).toISOString();

/** The first few orders that have the same content as the record and were created after it. */
async function ordersAlike(client: Client, record: JournalRecord): Promise<readonly Alike[]> {
  const order = await asOrder(record);
  return firstOf(
    await ordersSince(client, record, (row) => differences(order, row).every(({ isVariant }) => isVariant)),
  );
}

const firstOf = (found: readonly OrderRecord[]): readonly Alike[] =>
  found
    .toSorted((one, other) => Date.parse(String(one.created_at)) - Date.parse(String(other.created_at)))
    .slice(0, maxShown)
    .map(shown);

/**
 * Searches for orders another machine may have placed with a record's key. Counts every later order with the same
 * recipient or product, at any ceiling and in any spelling; excludes orders this machine placed with other keys.
 */
export async function searchKey(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
): Promise<Found> {
  const journal = await context.journal();
  const isOurs = ({ id }: OrderRecord): boolean => journal.otherKeyOf(String(id), record.key) !== undefined;
  return foundOf(context, record, async () => {
    try {
      const order = await asOrder(record);
      const isFound = (row: OrderRecord): boolean =>
        (!hasOtherRecipient(order, row) || hasSameProduct(order, row)) && !isOurs(row);
      return firstOf(await ordersSince(client, record, isFound));
    } catch (error) {
      if (error instanceof ErrandError && !context.signal.aborted) return null;
      throw error;
    }
  });
}

async function ordersSince(
  client: Client,
  record: JournalRecord,
  isFound: (row: OrderRecord) => boolean,
): Promise<OrderRecord[]> {
  const query = { created_after: new Date(Date.parse(sinceOf(record)) - hourMs).toISOString() };
  const found: OrderRecord[] = [];
  for await (const { rows } of pages(client, 'order.list', { query }, { all: true }))
    found.push(...rows.filter(isFound));
  return found;
}

function shown({ id, created_at, status, shipping_address: address }: OrderRecord): Alike {
  const { first_name: first, last_name: last } = Object(address);
  return { id: String(id), created_at, status, recipient: [first, last].filter(Boolean).join(' ') };
}
