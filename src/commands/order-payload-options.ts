import type { Options } from '../cli/define.ts';
import { fulfillmentConcerns, paymentModes } from '../contract/enums.ts';
import { limits } from '../contract/limits.ts';

const details = 'Details';

/** Every field of `OrderCreate` but the address, as options. */
export const payloadOptions = {
  product: {
    kind: 'texts',
    placeholder: 'url',
    description: 'product URL[,quantity=N][,variant=Label:Value][,condition=New]; repeats',
  },
  maxPrice: {
    kind: 'money',
    isCeiling: true,
    description: "ceiling for the whole order: '$50' or 50.00; never exceeded",
  },
  idempotencyKey: {
    kind: 'text',
    group: details,
    maxLength: limits.idempotencyKeyLength.max,
    description: 'key of this intent: the same key never makes a second order',
  },
  account: {
    kind: 'text',
    completes: 'accounts',
    group: details,
    description: 'managed account to order with',
  },
  metadata: {
    kind: 'pairs',
    group: details,
    description: 'your own data as text, repeated; `order list` can filter by it',
  },
  metadataJson: {
    kind: 'pairs',
    group: details,
    placeholder: 'key=json',
    description: "the same, typed: count=7, urgent=true, tags='[1,2]'",
  },
  poNumber: { kind: 'text', group: details, description: 'purchase order reference' },
  gift: { kind: 'flag', group: details, description: 'send as a gift' },
  giftMessage: {
    kind: 'text',
    group: details,
    maxLength: limits.giftMessageLength.max,
    description: 'message to put in; needs --gift',
  },
  handlingDaysMax: { kind: 'integer', min: 0, group: details, description: 'longest handling time, in days' },
  notify: { kind: 'text', group: details, placeholder: 'email', description: 'tell the customer by email' },
  paymentMode: { kind: 'choice', values: paymentModes, group: details, description: 'how it is paid' },
  paymentMethod: { kind: 'text', group: details, description: 'card to charge, with --payment-mode card' },
  paymentCustomer: {
    kind: 'text',
    group: details,
    description: 'customer to charge, with --payment-mode connect',
  },
  margin: { kind: 'text', group: details, description: "margin to add: '$2.00' or 5%" },
  bestEffort: {
    kind: 'list',
    values: fulfillmentConcerns,
    group: details,
    description: 'relax these in place of failing',
  },
  excludeMerchant: { kind: 'texts', group: details, description: 'merchant not to buy from; repeats' },
  webhook: {
    kind: 'pairs',
    group: details,
    placeholder: 'event=url',
    description: 'address for an event; repeats',
  },
} as const satisfies Options;

/** What those options hold once they are parsed. */
export interface PayloadFlags {
  readonly product?: string[];
  readonly maxPrice?: number;
  readonly idempotencyKey?: string;
  readonly account?: string;
  readonly metadata?: Record<string, string>;
  readonly metadataJson?: Record<string, string>;
  readonly poNumber?: string;
  readonly gift?: boolean;
  readonly giftMessage?: string;
  readonly handlingDaysMax?: number;
  readonly notify?: string;
  readonly paymentMode?: string;
  readonly paymentMethod?: string;
  readonly paymentCustomer?: string;
  readonly margin?: string;
  readonly bestEffort?: string[];
  readonly excludeMerchant?: string[];
  readonly webhook?: Record<string, string>;
}
