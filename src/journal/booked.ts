import { ErrandError, StorageError } from '../platform/errors.ts';

/**
 * How what became of an intent was written down. `follows`: the shared database did not take it, and gets it from this
 * machine as soon as it is reached. `taken`: another process had taken the record over, so that nothing was written.
 */
export type Booked = 'booked' | 'follows' | 'taken';

/** The service made a second one of an intent, which must never happen. */
export class MadeTwiceError extends ErrandError {
  override readonly name = 'MadeTwiceError';

  /** @param known what the journal has. @param madeId what the service has made now. */
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

/** Another process works on a record of this one, which had stood still for too long. */
export const takenOver = (key: string): ErrandError =>
  new ErrandError(
    'conflict',
    `another process has taken ${key} over; nothing more is sent for it from here`,
    {
      idempotencyKey: key,
      outcome: 'not_sent',
    },
  );

/** Whether nobody knows if what was written last is in the database that machines share. */
export const isUnsettled = (error: unknown): error is StorageError =>
  error instanceof StorageError && error.facts.code === unsettledCode;

export const unsettledCode = 'database_unsettled';
