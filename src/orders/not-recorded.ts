import type { Intent, JournalRecord } from '../journal/journal-record.ts';
import { DamagedError, type ErrandError, StorageError } from '../platform/errors.ts';
import { thingOf } from './things.ts';

/** Nothing was sent now; what an earlier command has sent for the same intent stands all the same. */
export function notRecorded(
  error: StorageError,
  { operation }: Intent,
  earlier: JournalRecord | 'unknown' | undefined,
): ErrandError {
  const { one } = thingOf(operation);
  if (!earlier || earlier === 'unknown') {
    const isUnsure = earlier === 'unknown' || error instanceof DamagedError;
    const sent = isUnsure
      ? 'nothing was sent now, and an earlier command may have ordered'
      : 'nothing was sent';
    const outcome = isUnsure ? 'unknown' : 'not_sent';
    const facts = { ...error.facts, outcome, cause: error } as const;
    return new StorageError(`${error.message}; ${sent}`, facts, error.category);
  }
  const { key, order_id: id, created_at: since } = earlier;
  const what = id === null ? `is in doubt since ${since}, as ${key}` : `exists already: ${id}`;
  const facts = {
    ...error.facts,
    idempotencyKey: key,
    outcome: error instanceof DamagedError || id === null ? 'unknown' : 'applied',
    cause: error,
  } as const;
  const message = `${error.message}; nothing was sent now, and the same ${one} ${what}`;
  return new StorageError(message, facts, error.category);
}
