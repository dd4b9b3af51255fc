import { limits } from '../limits.ts';
import type { Parameter } from '../operation.ts';

export const offset = {
  type: 'integer',
  min: limits.offset.min,
  default: limits.offset.default,
  description: 'how many records to skip',
} as const satisfies Parameter;

export const orderId = {
  type: 'uuid',
  required: true,
  description: 'id of the order',
} as const satisfies Parameter;

/** The `limit` of a list endpoint. */
export const list = <const B extends { min: number; max: number; default: number }>(bounds: B) =>
  ({
    type: 'integer',
    ...bounds,
    description: 'how many records to return',
  }) as const satisfies Parameter;

export const retailer = {
  type: 'string',
  required: true,
  minLength: 1,
  description: "a retailer's identifier, or the domain of a hosted storefront",
} as const satisfies Parameter;

export const freeShipping = {
  type: 'boolean',
  default: false,
  description: 'keep items that ship free; applied after paging, refused for store domains',
} as const satisfies Parameter;

export const freshness = {
  max_age: {
    type: 'integer',
    min: limits.maxAgeSeconds.min,
    description: 'oldest response to accept, in seconds; not together with newer_than',
  },
  newer_than: {
    type: 'integer',
    description: 'earliest retrieval time, unix seconds; not together with max_age',
  },
  async: { type: 'boolean', description: 'respond at once with status=processing' },
} as const satisfies Record<string, Parameter>;

export const freshnessRules = [{ exclusive: ['max_age', 'newer_than'] }] as const;
