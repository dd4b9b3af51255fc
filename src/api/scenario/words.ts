import type { SandboxTrigger } from '../control.ts';

/**
 * States in which a scenario's order can start. Each is the status of the order or, for a placed order, the progress of
 * its parcels.
 */
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

/**
 * Events that a scenario can apply to an order, besides waiting. Each is a cancellation by the caller or a sandbox
 * trigger.
 */
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

/**
 * Placeholders for the sandbox's URLs in a scenario. Each has a stand-in URL, which is used to validate the scenario.
 */
export const scenarioAddresses = {
  shop_url: 'https://shop-url.scenario.invalid',
  base_url: 'https://base-url.scenario.invalid',
} as const;
