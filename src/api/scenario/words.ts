import type { SandboxTrigger } from '../control.ts';

/**
 * States in which an order of a scenario can start. Each is a status of the order, or the progress of a placed order's
 * parcels.
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
 * Events that a scenario can apply to an order, besides waiting. An event is a cancellation by the caller, or a trigger
 * of the sandbox.
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
 * Placeholders in a scenario for URLs of the sandbox. Each has a stand-in URL, with which the scenario is validated.
 */
export const scenarioAddresses = {
  shop_url: 'https://shop-url.scenario.invalid',
  base_url: 'https://base-url.scenario.invalid',
} as const;
