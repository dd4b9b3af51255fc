import type { JournalRecord } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { mayHaveMade } from '../../journal/take-over.ts';
import type { Context } from '../../run/context.ts';
import { rowKeysOf } from '../../spending/policy/facts.ts';

/** A batch of the journal that orders rows of a plan, or may have. */
export interface EarlierBatch {
  readonly record: JournalRecord;
  /** Of all its rows, in their order. */
  readonly keys: readonly string[];
}

/** What the journal of this machine holds for this service; nothing where there is none yet. @throws StorageError. */
export async function journaled(context: Context): Promise<readonly JournalRecord[]> {
  const { baseUrl } = context.settings;
  if (!journalExists(context.settings)) return [];
  return (await context.journal()).list(true).filter(({ base_url: at }) => at === baseUrl.value);
}

/** The batches that have ordered some of these rows, or may have, oldest first. @param keys of the rows. */
export async function earlierBatches(
  context: Context,
  records: readonly JournalRecord[],
  keys: ReadonlySet<string>,
): Promise<EarlierBatch[]> {
  const sender = await context.sender();
  return records
    .filter((record) => record.operation === 'bulk.create' && mayHaveMade(record, sender))
    .map((record) => ({ record, keys: rowKeysOf(record.body) }))
    .filter((batch) => batch.keys.some((key) => keys.has(key)));
}

/** `batch ID`, or `KEY, which is in doubt`. */
export const placedText = ({ record: { key, order_id: id, state } }: EarlierBatch): string =>
  id === null ? `${key}, which ${state === 'forgotten' ? 'was given up' : 'is in doubt'}` : `batch ${id}`;
