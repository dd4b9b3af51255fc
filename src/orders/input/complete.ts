import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { shellWord } from '../../shell-word.ts';
import { eachOrderField, type OrderField } from './fields.ts';

type Fields = Readonly<Record<string, unknown>>;

type Missing = readonly [string, OrderField & { readonly required: NonNullable<OrderField['required']> }];

const isMissing = (payload: Fields, field: readonly [string, OrderField]): field is Missing =>
  field[1].required !== undefined && payload[field[0]] === undefined;

/**
 * Fills in what an order cannot do without: by asking where someone can answer.
 * @throws UsageError naming the missing flags, why there is no prompt, and the command to run again.
 */
export async function completePayload(
  context: Context,
  payload: Fields,
  retry: readonly string[],
): Promise<Fields> {
  const missing = eachOrderField.filter((field) => isMissing(payload, field));
  if (missing.length === 0) return completeAddress(context, payload);
  if (!context.interactive.yes) throw refusal(missing, context.interactive.why, retry);
  const completed: Record<string, unknown> = { ...payload };
  for (const [name, { required }] of missing) completed[name] = await required.prompt(context);
  return completeAddress(context, completed);
}

/** Fills in what an address lacks that was given in part, where someone can answer. */
async function completeAddress(context: Context, payload: Fields): Promise<Fields> {
  const { shipping_address: address } = payload;
  if (!context.interactive.yes || !isFields(address)) return payload;
  const { askAddress, lacksFields } = await import('../../addresses/ask.ts');
  return lacksFields(address)
    ? { ...payload, shipping_address: await askAddress(context, address) }
    : payload;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function refusal(missing: readonly Missing[], why: string, retry: readonly string[]): UsageError {
  const flags = missing.map(([, { flag }]) => flag);
  const command = [
    'errand',
    ...retry.map(shellWord),
    ...missing.map(([, { required }]) => required.sample),
  ].join(' ');
  return new UsageError(
    `${flags.join(' and ')} ${flags.length > 1 ? 'are' : 'is'} missing; cannot prompt, as ${why}`,
    {
      next: [{ command, when: 'with the missing values filled in' }],
    },
  );
}
