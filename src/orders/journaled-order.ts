import type { Shape } from '../api/schemas/index.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { ErrandError } from '../platform/errors.ts';

/** The order that a record holds. @throws ErrandError where it holds none. */
export const asOrder = (record: JournalRecord): Promise<Shape<'OrderCreate'>> =>
  held(record, 'OrderCreate', 'an order');

/** The batch that a record holds. @throws ErrandError where it holds none. */
export const asBatch = (record: JournalRecord): Promise<Shape<'BulkUploadRequest'>> =>
  held(record, 'BulkUploadRequest', 'a batch');

/** The return that a record holds. @throws ErrandError where it holds none. */
export const asReturn = (record: JournalRecord): Promise<Shape<'ReturnRequestCreate'>> =>
  held(record, 'ReturnRequestCreate', 'a return');

async function held<N extends 'OrderCreate' | 'BulkUploadRequest' | 'ReturnRequestCreate'>(
  { key, body }: JournalRecord,
  name: N,
  what: string,
): Promise<Shape<N>> {
  const { checkShape } = await import('../api/schemas/check.ts');
  const { value } = checkShape(name, body, 'body');
  if (value) return value;
  throw new ErrandError('unexpected', `the journal's record ${key} does not hold ${what}`);
}
