import type { OrderContext } from '../order-context.ts';
import { contentHash } from '../state/content.ts';
import type { JournalRecord } from '../state/journal-record.ts';
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
