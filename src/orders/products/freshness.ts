import { operations } from '../../api/operations/index.ts';
import { UsageError } from '../../platform/errors.ts';
import { optionFor } from '../../run/from-contract.ts';

const { query: productQuery } = operations['product.get'];

/** What every read of one product takes. */
export const freshnessOptions = {
  retailer: optionFor(productQuery.retailer, { completes: 'retailers' }),
  maxAge: {
    ...optionFor(productQuery.max_age),
    description: 'oldest response to accept, in seconds; not together with --newer-than',
  },
  newerThan: {
    kind: 'date',
    unixSeconds: true,
    description: 'earliest retrieval time, also in unix seconds; not together with --max-age',
  },
  async: { kind: 'flag', description: 'have it fetched, and respond at once with status processing' },
} as const;

/** How a product is requested; ages in seconds. */
export interface Freshness {
  readonly retailer?: string | undefined;
  readonly maxAge?: number | undefined;
  /** ISO 8601. */
  readonly newerThan?: string | undefined;
}

/** The same under wire names. @throws UsageError without a retailer, or for two ages that exclude each other. */
export function freshnessFields({ retailer, maxAge, newerThan }: Freshness): {
  retailer: string;
  max_age?: number;
  newer_than?: number;
} {
  if (retailer === undefined)
    throw new UsageError('--retailer is missing; `errand retailer list -o id` prints them');
  if (maxAge !== undefined && newerThan !== undefined)
    throw new UsageError('--max-age and --newer-than exclude each other');
  return {
    retailer,
    ...(maxAge !== undefined && { max_age: maxAge }),
    ...(newerThan !== undefined && { newer_than: Math.floor(Date.parse(newerThan) / 1000) }),
  };
}
