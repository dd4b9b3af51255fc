import { fulfillmentConcerns } from '../../api/enums.ts';
import { webhookEventNames } from '../../api/events.ts';
import { UsageError } from '../../platform/errors.ts';
import { parseMoney } from '../../run/parse-option.ts';

/** Combines the values of several options and of a file into the value of one field. */

type Fields = Readonly<Record<string, unknown>>;

interface MetadataFlags {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly metadataJson?: Readonly<Record<string, string>>;
}

/**
 * Metadata from flags for text and flags for typed JSON.
 * @throws UsageError if a text flag and a JSON flag give the same name.
 */
export function metadata(
  { metadata: texts, metadataJson: typed }: MetadataFlags,
  inFile: unknown,
): Fields | undefined {
  if (!texts && !typed) return undefined;
  const twice = Object.keys(texts ?? {}).find((key) => Object.hasOwn(typed ?? {}, key));
  if (twice !== undefined) throw new UsageError(`--metadata and --metadata-json both give "${twice}"`);
  const values = Object.entries(typed ?? {}).map(([key, text]) => [key, parseTyped(key, text)]);
  return { ...asFields(inFile), ...texts, ...Object.fromEntries(values) };
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

interface PaymentFlags {
  readonly paymentMode?: string;
  readonly paymentMethod?: string;
  readonly paymentCustomer?: string;
  readonly margin?: string;
}

/** Payment settings. @throws UsageError if the settings need a mode and none is given. */
export async function payment(flags: PaymentFlags, inFile: unknown): Promise<Fields | undefined> {
  const given = {
    ...(flags.paymentMode && { mode: flags.paymentMode }),
    ...(flags.paymentMethod && { payment_method: flags.paymentMethod }),
    ...(flags.paymentCustomer && { customer: flags.paymentCustomer }),
    ...(flags.margin && { margin: await parseMargin(flags.margin) }),
  };
  if (Object.keys(given).length === 0) return undefined;
  const merged = { ...asFields(inFile), ...given };
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

interface FulfillmentFlags {
  readonly bestEffort?: readonly string[];
  readonly excludeMerchant?: readonly string[];
}

/**
 * An object with one key for each concern to relax. @throws UsageError if a file names a concern the service does not
 * know.
 */
export function fulfillment(
  { bestEffort, excludeMerchant }: FulfillmentFlags,
  inFile: unknown,
): Fields | undefined {
  const file = keyedFulfillment(inFile);
  if (!bestEffort && !excludeMerchant) return file;
  const relaxed = Object.fromEntries((bestEffort ?? []).map((concern) => [concern, 'best_effort']));
  return { ...file, ...relaxed, ...(excludeMerchant && { excluded_merchants: excludeMerchant }) };
}

/** Converts a file's list of relaxed concerns to what the service expects: an object with one key per concern. */
function keyedFulfillment(value: unknown): Fields | undefined {
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

/** Webhook URLs by event. @throws UsageError for an unknown event. */
export const webhooks = (
  { webhook }: { readonly webhook?: Readonly<Record<string, string>> },
  inFile: unknown,
): Fields | undefined => webhook && { ...asFields(inFile), ...checkEvents(webhook) };

function checkEvents(webhooks: Readonly<Record<string, string>>): Fields {
  const unknown = Object.keys(webhooks).find((event) => !webhookEventNames.includes(event));
  if (unknown === undefined) return webhooks;
  throw new UsageError(`--webhook: no event "${unknown}"; events are ${webhookEventNames.join(', ')}`);
}

const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
