import { formatMoney } from '../format/money.ts';
import { ErrandError } from '../platform/errors.ts';
import { usualBatchRows } from './batches.ts';

/** What makes the batches of an upload, whether it is planned or placed at once. */
export const uploadOptions = {
  batchSize: {
    kind: 'integer',
    min: 1,
    max: 5000,
    description: `rows in one request (default ${usualBatchRows})`,
  },
  run: {
    kind: 'text',
    maxLength: 100,
    description: 'the same rows under another --run are new orders',
  },
  skipInvalid: { kind: 'flag', description: 'upload the valid rows of a file that has others too' },
} as const;

/** By what an upload is asked for later. */
export const nameOption = {
  name: {
    kind: 'text',
    placeholder: 'name',
    maxLength: 100,
    description: 'what the upload is called from now on (default: the name of its file)',
  },
} as const;

/** What makes a process one of several workers. */
export const shareOptions = {
  share: {
    kind: 'flag',
    description: 'be one of several workers that upload it together, from a queue in the database',
  },
  rate: {
    kind: 'integer',
    min: 1,
    max: 1000,
    placeholder: 'n',
    description: 'with --share: requests a second of all workers together, at most',
  },
} as const;

/** What all orders of a command may cost together, by its caller. */
export const maxTotalOption = {
  maxTotal: {
    kind: 'money',
    description: "refuse all of it where the orders may cost more together: '$20,000'",
  },
} as const;

/** @param cents what the orders may cost together. @param maxTotal cents. @throws ErrandError where that is more. */
export function checkTotal(cents: number, maxTotal: number | undefined): void {
  if (maxTotal === undefined || cents <= maxTotal) return;
  throw new ErrandError(
    'policy',
    `the orders may cost ${formatMoney(cents)}, and --max-total is ${formatMoney(maxTotal)}; nothing was sent`,
    {
      code: 'max_total_exceeded',
      outcome: 'not_sent',
      details: { total_cents: cents, max_total_cents: maxTotal },
      hint: 'Leave rows out, lower their ceilings, or raise --max-total.',
    },
  );
}
