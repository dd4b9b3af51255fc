import { own } from '../../../api/json.ts';
import type { Column } from '../../../format/result.ts';
import type { JournalRecord } from '../../../journal/journal-record.ts';
import { ownOpenText } from '../../../journal/owner.ts';
import { referenceIn, referenceKey } from '../../../orders/needs/reference.ts';
import type { Context } from '../../../run/context.ts';

export const journalColumns: readonly Column<JournalRecord>[] = [
  { name: 'key', path: 'key', names: 'intents', weight: 10 },
  { name: 'state', path: 'state', kind: 'status', weight: 9 },
  { name: 'written', path: 'created_at', kind: 'time', isLocal: true, weight: 8 },
  { name: 'profile', path: 'profile', weight: 4 },
  { name: 'ceiling', path: 'body.max_price', kind: 'money', weight: 6 },
  { name: 'what', path: 'body.products.0.url', weight: 5, value: ({ body }) => whatOf(Object(body)) },
  { name: 'made', path: 'order_id', kind: 'id', weight: 7 },
  { name: 'why', path: 'message', weight: 3, isProse: true },
  { name: 'sent with', path: 'sent_with', weight: 1 },
  { name: 'service', path: 'base_url', weight: 2 },
];

const reference: Column<JournalRecord> = {
  ...{ name: 'reference', path: `body.metadata.${referenceKey}`, weight: 7 },
};

/**
 * Columns for a list of records. On a terminal, the reference column appears only if at least one record has a
 * reference.
 */
export const columnsFor = (records: readonly Pick<JournalRecord, 'body'>[]) => ({
  columns: [...journalColumns, reference],
  screen: records.some(({ body }) => referenceIn(own(body, 'metadata')))
    ? [...journalColumns.slice(0, 2), reference, ...journalColumns.slice(2)]
    : journalColumns,
});

/** Describes an order by its first product, and a batch by its number of rows and its file. */
function whatOf({ products, rows, filename }: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(rows)) return `${rows.length} rows of ${String(filename)}`;
  return Array.isArray(products) ? Object(products[0]).url : undefined;
}

/** Omits `account`, since the key in `sent_with` already identifies the account. */
export const shown = ({ account: _, ...record }: JournalRecord): Omit<JournalRecord, 'account'> => record;

/** Help text for the arguments of journal commands. */
export const keysMeaning = 'keys of the journal, or their beginnings; - reads them from stdin';

/**
 * Accept every text here. A key may be chosen by the user, so the only possible check is whether the journal has it.
 */
export const asItIs = (_: string, key: string): string => key;

/**
 * Formats one line about open records in the journal of this machine while errand uses a shared journal. Undefined if
 * there are no such records.
 * @throws StorageError.
 */
export async function ownOpenLine(context: Context): Promise<string | undefined> {
  if (!context.settings.database) return undefined;
  const open = await (await context.journal()).openInOwn();
  if (open.length === 0) return undefined;
  return `${ownOpenText(open)}, which stops spending: errand order journal move`;
}
