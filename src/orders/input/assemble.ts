import { type AddressFields, addressFields, addressFlag, addressOptions } from '../../addresses/options.ts';
import { addressProblems } from '../../addresses/rules.ts';
import { resolveAddress } from '../../addresses/ship-to.ts';
import type { Options } from '../../cli/define.ts';
import { type Document, readDocument } from '../../cli/read-document.ts';
import type { Context } from '../../context.ts';
import type { ShapeInput } from '../../contract/schemas/index.ts';
import { UsageError } from '../../errors.ts';
import { completePayload } from './complete.ts';
import { eachOrderField, type OrderFlags, orderFieldOptions } from './fields.ts';

const centFields = ['max_price'] as const satisfies readonly (keyof ShapeInput<'OrderCreate'>)[];

/** What every command takes that places an order. */
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
    description: 'a whole payload as JSON or YAML; flags override it',
  },
  ...addressOptions,
} as const satisfies Options;

type Fields = Readonly<Record<string, unknown>>;

type OrderInput = OrderFlags &
  Parameters<typeof addressFields>[0] & { readonly file?: string; readonly shipTo?: string };

/** File, flags, address and prompts to one payload, in that order of precedence. */
export async function assembleOrder(context: Context, input: OrderInput): Promise<Fields> {
  const document =
    input.file === undefined ? undefined : await readDocument(context, '--file', input.file, centFields);
  const file = document?.value ?? {};
  if (document && input.maxPrice === undefined) checkCeiling(document);
  const fields = addressFields(input);
  const inFile = file.shipping_address;
  const address =
    inFile !== undefined && input.shipTo === undefined
      ? { ...Object(inFile), ...fields }
      : await resolveAddress(context, input.shipTo, fields);
  checkFields(fields, address);
  const payload = await payloadFromFlags(input, { ...file, ...(address && { shipping_address: address }) });
  return completePayload(context, payload, context.argv);
}

/** The payload that the flags give, merged over that of a file. Not yet checked as a whole. */
async function payloadFromFlags(flags: OrderFlags, file: Fields): Promise<Fields> {
  const payload: Record<string, unknown> = { ...file };
  for (const [name, field] of eachOrderField) {
    const value = await field.value(flags, file[name]);
    if (value !== undefined) payload[name] = value;
  }
  return payload;
}

/** As with --max-price, zero may be an amount that was lost on the way; only the flag for cents says that it is meant. */
function checkCeiling({ name, value }: Document): void {
  if (value.max_price !== 0) return;
  throw new UsageError(`${name}: max_price is 0, and an order with that ceiling buys nothing`, {
    hint: 'Give the ceiling in cents, such as 5000 for $50.00. If you mean zero, add --max-price-cents 0.',
  });
}

/** @throws UsageError for an address field given by a flag that no carrier can use. */
function checkFields(given: AddressFields, whole: AddressFields | undefined): void {
  const wrong = addressProblems(whole ?? {}).find(({ field }) => Object.hasOwn(given, field));
  if (wrong) throw new UsageError(`${addressFlag(wrong.field) ?? wrong.field}: ${wrong.message}`);
}
