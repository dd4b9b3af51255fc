import { operations } from '../../contract/operations/index.ts';
import { optionFor } from '../from-contract.ts';

const { query } = operations['product.get'];

/** What every read of one product takes. */
export const readOptions = {
  retailer: optionFor(query.retailer),
  maxAge: optionFor(query.max_age),
  newerThan: { kind: 'date', description: 'earliest retrieval time; not together with --max-age' },
  async: { kind: 'flag', description: 'have it fetched, and answer at once with status processing' },
  wait: { kind: 'flag', description: 'have it fetched, and poll until it is there' },
} as const;
