/**
 * The life of an order: pure, time and seed are arguments. The core calls `createOrder` once and `advance`
 * before each read, and keeps `{record, plan}` in between.
 */
export { advance, cancelPending, nextDue } from './advance.ts';
export { creationRefusal } from './creation.ts';
export { forceTransition } from './force.ts';
export { moved } from './moved.ts';
export { createOrder } from './plan.ts';
export { publicTracking } from './public-tracking.ts';
export { slugOf } from './shop-url.ts';
export {
  isTestSlug,
  listingOutcomes,
  type TestProduct,
  type TestSlug,
  testProducts,
  testProductsResponse,
  testSlugs,
} from './test-products.ts';
export { milestones } from './timeline.ts';
export type * from './types.ts';
export { forcedKinds } from './types.ts';
