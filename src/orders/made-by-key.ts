import { contentHash } from '../journal/content.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import type { OrderContext } from '../run/order-context.ts';
import { keyOfAnother } from './existing.ts';
import type { IntentOf } from './intent.ts';
import type { JournaledOperation, MadeBy } from './order-record.ts';
import type { Made } from './placed.ts';
import { resumeKnown } from './resume.ts';

/** What the key of an intent has led to, where that is the same. @throws ErrandError conflict where it is another. */
export async function madeByKey<N extends JournaledOperation>(
  context: OrderContext,
  { operation, body }: IntentOf<N>,
  record: JournalRecord,
): Promise<Made<MadeBy[N]>> {
  const isSame = record.operation === operation && record.body_hash === contentHash(operation, body);
  if (!isSame) throw keyOfAnother(record, body);
  return resumeKnown(context, operation, record);
}
