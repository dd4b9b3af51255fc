import { consolePath } from '../config.ts';
import type { Link } from './html.ts';

/** Sections of the console. Each section has a list page. */
export const sections = {
  orders: { path: `${consolePath}/orders`, text: 'Orders' },
  batches: { path: `${consolePath}/batches`, text: 'Batches' },
  returns: { path: `${consolePath}/returns`, text: 'Returns' },
  accounts: { path: `${consolePath}/accounts`, text: 'Accounts' },
  wallets: { path: `${consolePath}/wallets`, text: 'Wallets' },
  payments: { path: `${consolePath}/payments`, text: 'Payments' },
  deliveries: { path: `${consolePath}/deliveries`, text: 'Deliveries' },
  requests: { path: `${consolePath}/requests`, text: 'Requests' },
  time: { path: `${consolePath}/time`, text: 'Time' },
  faults: { path: `${consolePath}/faults`, text: 'Faults' },
  keys: { path: `${consolePath}/keys`, text: 'Keys' },
} as const satisfies Readonly<Record<string, Link>>;

export type SectionName = keyof typeof sections;

/** Sections grouped by purpose, in navigation order. */
export const groups: readonly { readonly text: string; readonly names: readonly SectionName[] }[] = [
  { text: 'Orders', names: ['orders', 'batches', 'returns'] },
  { text: 'Programs', names: ['requests', 'deliveries', 'keys', 'accounts'] },
  { text: 'Money', names: ['wallets', 'payments'] },
  { text: 'Lab', names: ['time', 'faults'] },
];

export const keysPath = sections.keys.path;
export const ordersPath = sections.orders.path;
export const deliveriesPath = sections.deliveries.path;

export const walletPath = (userId: string): string => `${consolePath}/wallets/${userId}`;

/** Page of the clock and the snapshots. */
export const timePath = sections.time.path;
export const faultsPath = sections.faults.path;

/** Position of a page in the console's navigation. */
export interface FrameOptions {
  /** The section that the page belongs to. */
  readonly section?: SectionName;
  /** Whether the page is the section's list page rather than a page below that list. */
  readonly isList?: boolean;
  /** The state of the section's list that the page was opened from, as a query string. */
  readonly query?: string;
  /** Whether the page is of the shop. */
  readonly isShop?: boolean;
  /** Whether the page is the console's home page. */
  readonly isDashboard?: boolean;
}
