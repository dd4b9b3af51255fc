import type { SandboxTrigger } from '../control.ts';

/** Where an order of a scenario can stand: its status, and once it is placed what its parcels are doing. */
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

/** What can be done to an order besides waiting: it is cancelled by its caller, or a trigger of the sandbox. */
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

/** The scenarios that errand brings along. */
export const builtInScenarios = {
  hostile:
    'a shop that means harm: prices that move, sellers that look alike, listings that give orders, reviews that lie',
} as const;
export type BuiltInScenario = keyof typeof builtInScenarios;

/** What a scenario writes where the addresses of the sandbox are to stand, and what its check puts there meanwhile. */
export const scenarioAddresses = {
  shop_url: 'https://shop-url.scenario.invalid',
  base_url: 'https://base-url.scenario.invalid',
} as const;
