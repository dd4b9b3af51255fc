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
    description: 'name of this upload: the same rows under another name are new orders',
  },
  skipInvalid: { kind: 'flag', description: 'upload the valid rows of a file that has others too' },
} as const;
