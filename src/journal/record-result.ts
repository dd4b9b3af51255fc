import { ErrandError, StorageError } from '../platform/errors.ts';

/**
 * How a result was persisted. `follows`: the shared database was unavailable, so this machine sends the result later.
 * `taken`: another process had taken over the record, so nothing was written.
 */
export type RecordResult = 'booked' | 'follows' | 'taken';

/** The service executed an intent twice, which must never happen. */
export class MadeTwiceError extends ErrandError {
  override readonly name = 'MadeTwiceError';

  /**
   * @param known is the id in the journal.
   * @param madeId is the id that the service reports now.
   */
  constructor(key: string, known: string, madeId: string) {
    super(
      'conflict',
      `the service has made two of ${key}: ${known}, which the journal knows, and ${madeId}`,
      {
        outcome: 'applied',
        retryable: false,
        idempotencyKey: key,
        details: { made: [known, madeId] },
        hint: 'One key must be one order: cancel one of them, and tell the service.',
      },
    );
  }
}

/**
 * The error for a record of this process that another process has taken over, because the record was idle for too long.
 */
export const takenOver = (key: string): ErrandError =>
  new ErrandError(
    'conflict',
    `another process has taken ${key} over; nothing more is sent for it from here`,
    {
      idempotencyKey: key,
      outcome: 'not_sent',
    },
  );

/** True if nobody knows whether the last write reached the shared database. */
export const isUnsettled = (error: unknown): error is StorageError =>
  error instanceof StorageError && error.facts.code === unsettledCode;

export const unsettledCode = 'database_unsettled';
