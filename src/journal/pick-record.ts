import { ErrandError, UsageError } from '../platform/errors.ts';
import type { JournalRecord } from './journal-record.ts';

/** The record that a key, or its beginning, names; of several services' the one at `baseUrl`. @throws ErrandError not_found, UsageError. */
export function pickRecord(records: readonly JournalRecord[], key: string, baseUrl: string): JournalRecord {
  const exact = records.filter((record) => record.key === key);
  const named = exact.length > 0 ? exact : records;
  const here = named.filter((record) => record.base_url === baseUrl);
  const [record, ...more] = here.length > 0 ? here : named;
  if (!record)
    throw new ErrandError('not_found', `the journal has no record of ${key}`, {
      hint: 'Where the journal was lost, the same order with --idempotency-key and the whole key settles it just as well.',
      next: [listStep],
    });
  if (more.length === 0) return record;
  throw new UsageError(`${key} names ${records.length} records of the journal; give the whole key`, {
    next: [listStep],
  });
}

const listStep = { command: 'errand order journal list', when: 'to see what is in doubt' };
