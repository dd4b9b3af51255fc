import type { Client } from '../../http/client.ts';
import { type JournalRecord, paidAccount } from '../../journal/journal-record.ts';
import { ErrandError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { findOrders, type Recognition } from '../needs/search.ts';
import type { OrderRecord } from '../order-record.ts';
import { findBatch } from '../send-batch.ts';
import { findReturn } from '../send-return.ts';
import { asBatch, asOrder, asReturn, labelsOf } from './intent.ts';

const maxShown = 5;

/** An order or batch at the service that may have come from a record. */
interface Alike {
  readonly id: string;
  readonly created_at?: unknown;
  readonly status?: unknown;
  readonly recipient?: string;
}

/** What was found when the service was searched for the result of a record. Used in errors. */
export interface Found {
  /** Full sentence. */
  readonly text: string;
  /** Orders or batches that were found. Null if the service gives no answer; that proves nothing. */
  readonly alike: readonly Alike[] | null;
  readonly next: readonly { readonly command: string; readonly when: string }[];
}

/** Searches the service for the possible result of a record. Sends nothing for the record. */
export async function searchService(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
  recognition: Recognition = {},
): Promise<Found> {
  if (record.account === paidAccount) return { text: paidText, alike: null, next: [] };
  const { one, many, get } = labelsOf(record.operation);
  const alike = await readAlike(context, client, record, recognition);
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
  recognition: Recognition,
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
        return firstOf(await findOrders(context, await searched(record), recognition));
    }
  } catch (error) {
    if (error instanceof ErrandError && !context.signal.aborted) return null;
    throw error;
  }
}

/** The time in a damaged record may be invalid. */
const sinceOf = ({ created_at: since }: JournalRecord): string =>
  new Date(Date.parse(since) || 0).toISOString();

const searched = async (record: JournalRecord) => ({
  body: await asOrder(record),
  key: record.key,
  since: Date.parse(sinceOf(record)),
});

const firstOf = (found: readonly OrderRecord[]): readonly Alike[] => found.slice(0, maxShown).map(shown);

function shown({ id, created_at, status, shipping_address: address }: OrderRecord): Alike {
  const { first_name: first, last_name: last } = Object(address);
  return { id: String(id), created_at, status, recipient: [first, last].filter(Boolean).join(' ') };
}
