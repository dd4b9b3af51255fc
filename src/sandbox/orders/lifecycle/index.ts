/**
 * The order lifecycle. Pure: time and seed are arguments. The core calls `createOrder` once and `advance` before each
 * read, and stores `{record, plan}` in between.
 */
export { advance, cancelPending, nextDue } from './advance.ts';
export { createOrder, creationError as creationRefusal } from './creation.ts';
export { forceTransition } from './force.ts';
export { moved } from './parcels.ts';
export { milestones, publicTracking } from './record.ts';
export {
  isTestSlug,
  listingOutcomes,
  slugOf,
  type TestProduct,
  type TestSlug,
  testProducts,
  testProductsResponse,
  testSlugs,
} from './test-products.ts';
export type * from './types.ts';
export { forcedKinds } from './types.ts';
