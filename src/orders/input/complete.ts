import { UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { addressWords } from '../addresses/options.ts';
import type { ProductFacts } from '../products/product-facts.ts';
import { type Asking, eachOrderField, type OrderField, orderFields } from './fields.ts';
import type { FileReference } from './file-reference.ts';

type PayloadFields = Readonly<Record<string, unknown>>;

type Missing = readonly [string, OrderField & { readonly required: NonNullable<OrderField['required']> }];

const isMissing = (payload: PayloadFields, field: readonly [string, OrderField]): field is Missing =>
  field[1].required !== undefined && payload[field[0]] === undefined;

/** A payload, and the equivalent command line arguments. */
export interface Completed {
  readonly payload: PayloadFields;
  readonly argv: readonly string[];
  /** The reference of the order's file. */
  readonly ofFile?: FileReference | undefined;
  /** Product facts by URL; set if the user was prompted. */
  readonly facts?: ReadonlyMap<string, ProductFacts> | undefined;
}

/**
 * In an interactive session, prompts for missing required fields.
 * @throws UsageError naming the missing flags, the reason why there is no prompt, and the command to rerun.
 */
export async function completePayload(
  context: Context,
  { payload, argv }: Completed,
  asking: Asking,
): Promise<Completed> {
  const missing = eachOrderField.filter((field) => isMissing(payload, field));
  if (missing.length > 0 && !context.interactive.yes)
    throw missingFieldsError(missing, context.interactive.why, argv);
  if (missing.length === 0) return completeAddress(context, { payload, argv });
  let asked: Completed = { payload, argv };
  let known = asking;
  const ask = async ([name, { required }]: Missing): Promise<void> => {
    const answer = await required.prompt(context, known);
    asked = {
      ...asked,
      payload: { ...asked.payload, [name]: answer.value },
      argv: [...asked.argv, ...answer.words],
    };
    known = { ...known, price: answer.price ?? known.price };
  };
  const [products, others] = [
    missing.filter(([name]) => name === 'products'),
    missing.filter(([name]) => name !== 'products'),
  ];
  for (const field of products) await ask(field);
  if (asking.searches) {
    const { costOf, withProductFacts } = await import('./review.ts');
    asked = await withProductFacts(context, asked);
    const cost = costOf(asked);
    known = { ...known, ...(cost && { ...cost }) };
  }
  for (const field of others) await ask(field);
  return completeAddress(context, asked);
}

/** In an interactive session, prompts for the missing fields of an incomplete address. */
async function completeAddress(context: Context, given: Completed): Promise<Completed> {
  const { payload, argv } = given;
  const { shipping_address: address } = payload;
  if (!context.interactive.yes || !isFields(address)) return given;
  const { askAddress, lacksFields } = await import('../addresses/prompt.ts');
  if (!lacksFields(address)) return given;
  const whole = await askAddress(context, address);
  const { offerToSave } = await import('../addresses/prompt.ts');
  await offerToSave(context, whole);
  const prompted = Object.entries(whole).filter(([field]) => address[field] === undefined);
  return {
    facts: new Map(),
    ...given,
    payload: { ...payload, shipping_address: whole },
    argv: [...argv, ...addressWords(Object.fromEntries(prompted))],
  };
}

const isFields = (value: unknown): value is PayloadFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function missingFieldsError(missing: readonly Missing[], why: string, retry: readonly string[]): UsageError {
  const flags = missing.map(([, { flag }]) => flag);
  const command = [typedCommand(retry), ...missing.map(([, { required }]) => required.sample)].join(' ');
  return new UsageError(
    `${flags.join(' and ')} ${flags.length > 1 ? 'are' : 'is'} missing; cannot prompt, as ${why}`,
    {
      ...(flags.includes(orderFields.products.flag) && {
        hint: '`errand search WORDS` finds products; on a terminal `errand search WORDS --pick` orders one.',
      }),
      next: [{ command, when: 'with the missing values filled in' }],
    },
  );
}
