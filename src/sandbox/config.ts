import { join } from 'node:path';
import { sandboxWalletCents } from '../api/limits.ts';
import type { PaymentMethod } from './payments/challenge.ts';

/** The settings that may differ between sandboxes. Handlers must not hard-code any of these settings. */
export interface SandboxConfig {
  /** Prefix of keys and ids, without the underscore. */
  readonly prefix: string;
  /** Base URLs of the service and of its shop, as used in links. They have no trailing slash. */
  readonly baseUrl: string;
  readonly shopUrl: string;
  readonly forwardingDomain: string;
  /** Divides every delay in an order's timeline. */
  readonly speed: number;
  /** Delay before each response, ms. */
  readonly latencyMs: number;
  /**
   * Maximum time, in ms of real time, that a read spends on due events. All other due events are processed in the
   * background.
   */
  readonly readBudgetMs: number;
  /** Keys per day per client address. */
  readonly mintLimitPerDay: number;
  /** Extra hosts to accept (`name` or `name:port`), in addition to local names and the sandbox's own address. */
  readonly allowedHosts: readonly string[];
  /** Allowed webhook targets: this machine, external hosts, and explicitly named receivers (`host` or `host:port`). */
  readonly webhooks: {
    readonly loopback: boolean;
    readonly external: boolean;
    readonly named: readonly string[];
  };
  readonly orderFeeCents: number;
  readonly startBalanceCents: number;
  /** Payment methods accepted from callers without an account, in challenge order. */
  readonly paymentMethods: readonly PaymentMethod[];
  /** Headers that request a payment: `WWW-Authenticate: Payment`, `PAYMENT-REQUIRED`, or both. */
  readonly paymentSchemes: readonly PaymentScheme[];
}

export const paymentSchemes = ['mpp', 'x402'] as const;
export type PaymentScheme = (typeof paymentSchemes)[number];

/** Database path of the embedded sandbox; `sandbox serve` uses the same file by default. */
export const sandboxFile = (stateDir: string): string => join(stateDir, 'sandbox.db');

/** Name of the store fact that holds a scenario's listings, as JSON. */
export const givenListingsName = 'scenario_listings';

/** Path of the shop, which shares the service's origin. */
export const shopPath = '/shop';

/** Paths of HTML pages. The route table of the API does not list these paths, because pages are not part of the API. */
export const devicePath = '/device';
export const claimPath = '/claim';
export const consolePath = '/console';

/** Default daily mint limit of a served sandbox. The specification only says "a few a day". */
export const servedMintsPerDay = 25;

/**
 * Default `readBudgetMs` of a served sandbox. It is short, because a served sandbox also processes due events in the
 * background.
 */
export const servedReadBudgetMs = 5;

/**
 * Builds a sandbox configuration. By default, the number of keys is practically unlimited, because only its owner uses
 * an embedded sandbox.
 */
export function sandboxConfig(baseUrl: string, more: Partial<SandboxConfig> = {}): SandboxConfig {
  return {
    prefix: 'sbx',
    baseUrl,
    shopUrl: `${baseUrl}${shopPath}`,
    forwardingDomain: 'forward.sandbox.example',
    speed: 1,
    latencyMs: 0,
    readBudgetMs: Number.POSITIVE_INFINITY,
    mintLimitPerDay: 1000,
    allowedHosts: [],
    webhooks: { loopback: true, external: false, named: [] },
    orderFeeCents: 100,
    startBalanceCents: sandboxWalletCents,
    paymentMethods: ['sandbox', 'stripe', 'tempo', 'x402'],
    paymentSchemes: ['mpp'],
    ...more,
  };
}
