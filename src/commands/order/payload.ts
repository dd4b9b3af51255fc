import { fulfillmentConcerns, paymentModes } from '../../contract/enums.ts';
import { webhookEvents } from '../../contract/events.ts';
import { limits } from '../../contract/limits.ts';
import { UsageError } from '../../errors.ts';
import type { Options } from '../define.ts';
import { parseProduct } from './product-flag.ts';

const details = 'Details';

/** Every field of `OrderCreate` but the address, as options. */
export const payloadOptions = {
  product: {
    kind: 'texts',
    placeholder: 'url',
    description: 'product URL[,quantity=N][,variant=Label:Value][,condition=New]; repeats',
  },
  maxPrice: { kind: 'money', description: "ceiling for the whole order: '$50' or 50.00; never exceeded" },
  idempotencyKey: {
    kind: 'text',
    group: details,
    maxLength: limits.idempotencyKeyLength.max,
    description: 'key of this intent: the same key never makes a second order',
  },
  account: { kind: 'text', group: details, description: 'managed account to order with' },
  metadata: {
    kind: 'pairs',
    group: details,
    description: 'your own data, repeated; `order list` can filter by it',
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

export interface PayloadFlags {
  readonly product?: string[];
  readonly maxPrice?: number;
  readonly idempotencyKey?: string;
  readonly account?: string;
  readonly metadata?: Record<string, string>;
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

type Fields = Readonly<Record<string, unknown>>;

/** The payload that the flags give, under wire names; merged over that of a file. Not yet checked as a whole. */
export async function payloadFromFlags(flags: PayloadFlags, file: Fields): Promise<Fields> {
  const payload: Record<string, unknown> = {
    products: flags.product?.map(parseProduct),
    max_price: flags.maxPrice,
    idempotency_key: flags.idempotencyKey,
    retailer_credentials_id: flags.account,
    metadata: flags.metadata && { ...asFields(file.metadata), ...flags.metadata },
    po_number: flags.poNumber,
    is_gift: flags.gift,
    gift_message: flags.giftMessage,
    handling_days_max: flags.handlingDaysMax,
    customer_notifications: flags.notify && { email: flags.notify },
    payment: await payment(flags, asFields(file.payment)),
    fulfillment: fulfillment(flags, keyedFulfillment(file.fulfillment)),
    webhooks: flags.webhook && { ...asFields(file.webhooks), ...checkEvents(flags.webhook) },
  };
  return {
    ...file,
    ...Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined)),
  };
}

async function payment(flags: PayloadFlags, file: Fields): Promise<Fields | undefined> {
  const given = {
    ...(flags.paymentMode && { mode: flags.paymentMode }),
    ...(flags.paymentMethod && { payment_method: flags.paymentMethod }),
    ...(flags.paymentCustomer && { customer: flags.paymentCustomer }),
    ...(flags.margin && { margin: await parseMargin(flags.margin) }),
  };
  if (Object.keys(given).length === 0) return undefined;
  const merged = { ...file, ...given };
  if (!('mode' in merged))
    throw new UsageError(
      '--payment-mode is missing: --payment-method, --payment-customer and --margin need it',
    );
  return merged;
}

async function parseMargin(text: string): Promise<Fields> {
  const percent = /^(\d{1,4}(?:\.\d{1,4})?)%$/.exec(text)?.[1];
  if (percent !== undefined) return { type: 'percent', value: Number(percent) };
  const { parseMoney } = await import('../../output/money.ts');
  return { type: 'flat', value: parseMoney(text, '--margin').cents };
}

function fulfillment(flags: PayloadFlags, file: Fields | undefined): Fields | undefined {
  const { bestEffort, excludeMerchant } = flags;
  if (!bestEffort && !excludeMerchant) return file;
  const relaxed = Object.fromEntries((bestEffort ?? []).map((concern) => [concern, 'best_effort']));
  return { ...file, ...relaxed, ...(excludeMerchant && { excluded_merchants: excludeMerchant }) };
}

/** A file may name the relaxed concerns in an array; the service takes one key for each. */
export function keyedFulfillment(value: unknown): Fields | undefined {
  if (value === undefined || value === null) return undefined;
  const fields = asFields(value);
  if (!Array.isArray(fields.best_effort)) return fields;
  const { best_effort: concerns, ...rest } = fields;
  const unknown = concerns.find((concern) => !fulfillmentConcerns.some((known) => known === concern));
  if (unknown !== undefined) {
    throw new UsageError(
      `fulfillment.best_effort takes ${fulfillmentConcerns.join(', ')}, not "${String(unknown)}"`,
    );
  }
  return { ...rest, ...Object.fromEntries(concerns.map((concern) => [concern, 'best_effort'])) };
}

function checkEvents(webhooks: Record<string, string>): Record<string, string> {
  const unknown = Object.keys(webhooks).find((event) => !Object.hasOwn(webhookEvents, event));
  if (unknown === undefined) return webhooks;
  throw new UsageError(
    `--webhook: no event "${unknown}"; events are ${Object.keys(webhookEvents).join(', ')}`,
  );
}

const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
