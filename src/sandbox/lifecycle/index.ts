/**
 * The life of an order: pure, time and seed are arguments. The core calls
 * `createOrder` once, then `advance` before each read, and keeps `{record, plan}` between.
 */
export type * from './types.ts';
