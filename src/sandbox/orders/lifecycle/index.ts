/**
 * The order lifecycle. The functions are pure: time and seed are arguments. The sandbox calls `createOrder` once,
 * stores `{record, plan}`, and calls `advance` before each read.
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
