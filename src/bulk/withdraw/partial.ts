import { ErrandError } from '../../platform/errors.ts';

/**
 * The error that ends a command after some of its rows were done: its outcome is `unknown`, as that of a partial upload.
 * @param doneRows number of rows that are done.
 */
export const partialError = (error: ErrandError, doneRows: number): ErrandError =>
  doneRows === 0
    ? error
    : new ErrandError(error.category, error.message, {
        ...error.facts,
        outcome: 'unknown',
        retryable: true,
        hint: error.facts.hint ?? 'The same command goes on from there; nothing is done twice.',
        cause: error,
      });
