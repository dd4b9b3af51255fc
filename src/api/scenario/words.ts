import type { SandboxTrigger } from '../control.ts';

/** States a scenario order can start in: its status and, once placed, its parcels' progress. */
export const scenarioOrderStates = [
  'pending',
  'in_progress',
  'order_placed',
  'in_transit',
  'delivered',
  'available_for_pickup',
  'undeliverable',
  'order_failed',
  'cancelled',
  'cancelled_by_retailer',
] as const;
export type ScenarioOrderState = (typeof scenarioOrderStates)[number];

/** Events an order can undergo besides waiting: cancellation by the caller, or a sandbox trigger. */
export const scenarioOrderEvents = [
  'cancelled',
  'placed',
  'failed',
  'shipped',
  'delivered',
  'undeliverable',
  'available-for-pickup',
  'cancelled-by-retailer',
] as const satisfies readonly ('cancelled' | SandboxTrigger)[];

export const scenarioReturnStates = ['open', 'approved', 'denied', 'credited'] as const;
export type ScenarioReturnState = (typeof scenarioReturnStates)[number];

/** Scenarios bundled with errand. */
export const builtInScenarios = {
  hostile:
    'a shop that means harm: prices that move, sellers that look alike, listings that give orders, reviews that lie',
} as const;
export type BuiltInScenario = keyof typeof builtInScenarios;

/** Placeholders for the sandbox's URLs in a scenario, and the stand-ins used to validate it. */
export const scenarioAddresses = {
  shop_url: 'https://shop-url.scenario.invalid',
  base_url: 'https://base-url.scenario.invalid',
} as const;
