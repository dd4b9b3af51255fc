import { join } from 'node:path';
import { sandboxWalletCents } from '../api/limits.ts';
import type { PaymentMethod } from './payments/challenge.ts';

/** What distinguishes one sandbox from another; nothing of it stands fixed in a handler. */
export interface SandboxConfig {
  /** The fixed prefix of keys and ids, without its underscore. */
  readonly prefix: string;
  /** The service's own addresses as its links show them; no trailing slash. */
  readonly baseUrl: string;
  readonly shopUrl: string;
  readonly forwardingDomain: string;
  /** Divides every delay of an order's life. */
  readonly speed: number;
  /** Before each response, ms. */
  readonly latencyMs: number;
  /** Longest that a read waits for what is due, ms of real time: where there is more it comes about meanwhile. */
  readonly patienceMs: number;
  /** Keys a day for each address. */
  readonly mintLimitPerDay: number;
  /** Hosts that it serves, `name` or `name:port`, beside this machine's own names and the address it is reached at. */
  readonly allowedHosts: readonly string[];
  /** Where webhooks go: to this machine, to others, and to receivers (`host` or `host:port`) that are named. */
  readonly webhooks: {
    readonly loopback: boolean;
    readonly external: boolean;
    readonly named: readonly string[];
  };
  readonly orderFeeCents: number;
  readonly startBalanceCents: number;
  /** What a call without an account can be paid by, in the order of the challenges. */
  readonly paymentMethods: readonly PaymentMethod[];
}

/** Where the embedded sandbox keeps its data; `sandbox serve` shares it by default. */
export const sandboxFile = (stateDir: string): string => join(stateDir, 'sandbox.db');

/** Under this fact a store keeps the listings that a scenario brought along, as JSON. */
export const givenListingsName = 'scenario_listings';

/** The shop and the service share one address; the shop is a path of it. */
export const shopPath = '/shop';

/** Where the pages for people are; no part of the service, so its table does not know them. */
export const devicePath = '/device';
export const claimPath = '/claim';
export const consolePath = '/console';

/** What a served sandbox allows of minting by default: the "few a day" of the specification's limits. */
export const servedMintsPerDay = 25;

/** What is due in a served sandbox comes about whoever asks, so that no read has to do it all. */
export const servedPatienceMs = 5;

/** The configuration of a sandbox at an address. Embedded, minting is as good as unlimited: each caller is its owner. */
export function sandboxConfig(baseUrl: string, more: Partial<SandboxConfig> = {}): SandboxConfig {
  return {
    prefix: 'sbx',
    baseUrl,
    shopUrl: `${baseUrl}${shopPath}`,
    forwardingDomain: 'forward.sandbox.example',
    speed: 1,
    latencyMs: 0,
    patienceMs: Number.POSITIVE_INFINITY,
    mintLimitPerDay: 1000,
    allowedHosts: [],
    webhooks: { loopback: true, external: false, named: [] },
    orderFeeCents: 100,
    startBalanceCents: sandboxWalletCents,
    paymentMethods: ['sandbox', 'stripe', 'tempo', 'x402'],
    ...more,
  };
}
