import { operations } from '../../api/operations/index.ts';
import { consolePath, shopPath } from '../config.ts';
import type { Link } from './pages/html.ts';

/** The sections of the console, a list each, in the order of their links. */
export const sections = {
  orders: { path: `${consolePath}/orders`, text: 'Orders' },
  batches: { path: `${consolePath}/batches`, text: 'Batches' },
  returns: { path: `${consolePath}/returns`, text: 'Returns' },
  accounts: { path: `${consolePath}/accounts`, text: 'Accounts' },
  payments: { path: `${consolePath}/payments`, text: 'Payments' },
  deliveries: { path: `${consolePath}/deliveries`, text: 'Deliveries' },
  requests: { path: `${consolePath}/requests`, text: 'Requests' },
  time: { path: `${consolePath}/time`, text: 'Time' },
  faults: { path: `${consolePath}/faults`, text: 'Faults' },
  keys: { path: `${consolePath}/keys`, text: 'Keys' },
} as const satisfies Readonly<Record<string, Link>>;

export type SectionName = keyof typeof sections;

/** The links of every page of the console. */
export const consoleLinks: readonly Link[] = [
  { path: '/', text: 'Console' },
  ...Object.values(sections),
  { path: shopPath, text: 'Shop', isAside: true },
  { path: operations['openapi.get'].path, text: 'API' },
];
