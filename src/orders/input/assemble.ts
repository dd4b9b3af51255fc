import type { ShapeInput } from '../../api/schemas/index.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { Options } from '../../run/option.ts';
import { type Document, readDocument } from '../../run/read-document.ts';
import {
  type AddressFields,
  addressFields,
  addressFlag,
  addressLine,
  addressOptions,
  addressProblems,
} from '../addresses/options.ts';
import { resolveAddress } from '../addresses/ship-to.ts';
import { type Completed, completePayload } from './complete.ts';
import { eachOrderField, type OrderFlags, orderFieldOptions } from './fields.ts';
import { takeReference } from './file-reference.ts';

const centFields = ['max_price'] as const satisfies readonly (keyof ShapeInput<'OrderCreate'>)[];

/** Options of every command that places an order. */
export const orderInputOptions = {
  ...orderFieldOptions,
  shipTo: {
    kind: 'text',
    placeholder: 'name|file|-',
    completes: ['addresses', 'files'],
    description: 'saved address, a file with one, or - for stdin',
  },
  file: {
    kind: 'text',
    placeholder: 'file|-',
    completes: 'files',
    description: 'a whole order as JSON or YAML; flags override it, but for its reference',
  },
  ...addressOptions,
} as const satisfies Options;

type Fields = Readonly<Record<string, unknown>>;

type OrderInput = OrderFlags &
  Parameters<typeof addressFields>[0] & { readonly file?: string; readonly shipTo?: string };

interface Assembling {
  /** Payload to start from if there is no file. */
  readonly base?: Fields;
  /** Price, in cents, of the product that the user picked. */
  readonly price?: number | undefined;
  /** Whether to offer a product search. A search needs the key of an account. */
  readonly searches?: boolean;
}

/**
 * Merges file, flags and address into one payload. Flags override the file. Then prompts for what is missing.
 * @returns the payload, and the equivalent command line, which includes the answers to the prompts.
 */
export async function assembleOrder(
  context: Context,
  input: OrderInput,
  { base = {}, price, searches = true }: Assembling = {},
): Promise<Completed> {
  const document =
    input.file === undefined ? undefined : await readDocument(context, '--file', input.file, centFields);
  const { payload: file, ofFile } = document ? takeReference(document) : { payload: base, ofFile: undefined };
  if (document && input.maxPrice === undefined) checkCeiling(document);
  const fields = addressFields(input);
  const inFile = file.shipping_address;
  const isDefault = inFile === undefined && input.shipTo === undefined && Object.keys(fields).length === 0;
  const order = await payloadFromFlags(input, file);
  const isOffered = isDefault && (await offersAddresses(context, order));
  const address = isOffered
    ? undefined
    : inFile !== undefined && input.shipTo === undefined
      ? { ...Object(inFile), ...fields }
      : await resolveAddress(context, input.shipTo, fields);
  checkFields(fields, address);
  if (address && isDefault) await reportDefaultAddress(context, address);
  const payload = { ...order, ...(address && { shipping_address: address }) };
  const completed = await completePayload(context, { payload, argv: context.argv }, { searches, price });
  return { ...completed, ofFile };
}

/** Merges the flags over a file's payload. The result is not validated as a whole yet. */
export async function payloadFromFlags(flags: OrderFlags, file: Fields): Promise<Fields> {
  const payload: Record<string, unknown> = { ...file };
  for (const [name, field] of eachOrderField) {
    const value = await field.value(flags, file[name]);
    if (value !== undefined) payload[name] = value;
  }
  if (flags.giftMessage !== undefined) payload.is_gift = true;
  return payload;
}

/**
 * Whether to let the user choose among several saved addresses. This is so only if the order is incomplete, and so
 * prompts are needed anyway.
 */
async function offersAddresses(context: Context, order: Fields): Promise<boolean> {
  if (!context.interactive.yes || (order.products !== undefined && order.max_price !== undefined))
    return false;
  const { offeredAddresses } = await import('../addresses/prompt.ts');
  return (await offeredAddresses(context)).length > 1;
}

/**
 * In an interactive session, shows the default address if no address was given. With a live key, the prompt before
 * spending shows the address too.
 */
async function reportDefaultAddress(context: Context, address: AddressFields): Promise<void> {
  if (!context.interactive.yes || context.previewsRequests) return;
  const name = (await context.store()).defaultAddress()?.name;
  context.note(`ships to ${name}: ${addressLine(address)} (--ship-to names another)`);
}

/**
 * Rejects a ceiling of zero in a file, as `--max-price` does, because the amount may have been lost by mistake. Only
 * --max-price-cents accepts zero.
 */
function checkCeiling({ name, value }: Document): void {
  if (value.max_price !== 0) return;
  throw new UsageError(`${name}: max_price is 0, and an order with that ceiling buys nothing`, {
    hint: 'Give the ceiling in cents, such as 5000 for $50.00. If you mean zero, add --max-price-cents 0.',
  });
}

/** @throws UsageError if a flag sets an address field to a value no carrier can use. */
function checkFields(given: AddressFields, whole: AddressFields | undefined): void {
  const wrong = addressProblems(whole ?? {}).find(({ field }) => Object.hasOwn(given, field));
  if (wrong) throw new UsageError(`${addressFlag(wrong.field) ?? wrong.field}: ${wrong.message}`);
}
