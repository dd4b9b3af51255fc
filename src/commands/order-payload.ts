import { parseMoney } from '../cli/parse-money.ts';
import { fulfillmentConcerns } from '../contract/enums.ts';
import { webhookEventNames } from '../contract/events.ts';
import { UsageError } from '../errors.ts';
import type { PayloadFlags } from './order-payload-options.ts';
import { parseProduct } from './product-flag.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The payload that the flags give, under wire names; merged over that of a file. Not yet checked as a whole. */
export async function payloadFromFlags(flags: PayloadFlags, file: Fields): Promise<Fields> {
  const payload: Record<string, unknown> = {
    products: flags.product?.map(parseProduct),
    max_price: flags.maxPrice,
    idempotency_key: flags.idempotencyKey,
    retailer_credentials_id: flags.account,
    metadata: metadata(flags, asFields(file.metadata)),
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

/** What the file has, and what the flags give over it: as text, or typed. */
function metadata({ metadata: texts, metadataJson: typed }: PayloadFlags, file: Fields): Fields | undefined {
  if (!texts && !typed) return undefined;
  const twice = Object.keys(texts ?? {}).find((key) => Object.hasOwn(typed ?? {}, key));
  if (twice !== undefined) throw new UsageError(`--metadata and --metadata-json both give "${twice}"`);
  const values = Object.entries(typed ?? {}).map(([key, text]) => [key, parseTyped(key, text)]);
  return { ...file, ...texts, ...Object.fromEntries(values) };
}

function parseTyped(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(
      `--metadata-json ${key} takes JSON (a number, true, null, "text", a list, an object), not ${text}`,
      { cause },
    );
  }
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
  if (/^0*[1-9]\d*$/.test(text)) {
    const units = Number(text).toLocaleString('en');
    throw new UsageError(
      `--margin ${text} is ambiguous: write '$${text}' for $${units}.00 or ${text}% for a percentage`,
    );
  }
  return { type: 'flat', value: parseMoney(text, '--margin') };
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
  const unknown = Object.keys(webhooks).find((event) => !webhookEventNames.includes(event));
  if (unknown === undefined) return webhooks;
  throw new UsageError(`--webhook: no event "${unknown}"; events are ${webhookEventNames.join(', ')}`);
}

const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
