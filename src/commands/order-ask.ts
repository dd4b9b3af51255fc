import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { shellWord } from '../shell-word.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Missing {
  readonly field: string;
  readonly flag: string;
  /** The flag with a value to show, for the command to run again. */
  readonly sample: string;
}

const needed: readonly Missing[] = [
  { field: 'products', flag: '--product', sample: "--product 'https://…'" },
  { field: 'max_price', flag: '--max-price', sample: "--max-price '$50.00'" },
  { field: 'shipping_address', flag: '--ship-to', sample: '--ship-to home' },
];

/**
 * Fills in what an order cannot do without: by asking where someone can answer.
 * @throws UsageError naming the missing flags, why nobody was asked, and the command to run again.
 */
export async function completePayload(
  context: Context,
  payload: Fields,
  retry: readonly string[],
): Promise<Fields> {
  const missing = needed.filter(({ field }) => payload[field] === undefined);
  if (missing.length === 0) return completeAddress(context, payload);
  if (!context.interactive.yes) throw refusal(missing, context.interactive.why, retry);
  const answers: Record<string, unknown> = { ...payload };
  for (const { field } of missing) answers[field] = await asked[field]?.(context);
  return completeAddress(context, answers);
}

/** Fills in what an address lacks that was given in part, where someone can answer. */
async function completeAddress(context: Context, payload: Fields): Promise<Fields> {
  const { shipping_address: address } = payload;
  if (!context.interactive.yes || !isFields(address)) return payload;
  const { askAddress, lacksFields } = await import('./ask-address.ts');
  return lacksFields(address)
    ? { ...payload, shipping_address: await askAddress(context, address) }
    : payload;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function refusal(missing: readonly Missing[], why: string, retry: readonly string[]): UsageError {
  const flags = missing.map(({ flag }) => flag);
  const command = ['errand', ...retry.map(shellWord), ...missing.map(({ sample }) => sample)].join(' ');
  return new UsageError(
    `${flags.join(' and ')} ${flags.length > 1 ? 'are' : 'is'} missing; nobody was asked, as ${why}`,
    {
      next: [{ command, when: 'with the missing values filled in' }],
    },
  );
}

const asked: Readonly<Record<string, (context: Context) => Promise<unknown>>> = {
  async products(context) {
    const prompt = await context.prompt();
    const { parseProduct } = await import('./product-flag.ts');
    const { checkShape } = await import('../contract/schemas/check.ts');
    const check = (text: string): string | undefined =>
      refusedBy(parseProduct)(text) ??
      checkShape('OrderProduct', parseProduct(text), 'body').issues?.[0]?.msg;
    return [parseProduct(await prompt.askText(context, 'Product URL', { check }))];
  },
  async max_price(context) {
    const prompt = await context.prompt();
    const { parseCeiling } = await import('../cli/parse-money.ts');
    const parse = (text: string): number => parseCeiling(text, '--max-price');
    return parse(await prompt.askText(context, 'Price ceiling, e.g. $50.00', { check: refusedBy(parse) }));
  },
  async shipping_address(context) {
    const store = await context.store();
    const prompt = await context.prompt();
    const names = store.addressNames();
    const another = 'another address';
    const name = names.length > 0 ? await prompt.askChoice(context, 'Ship to', [...names, another]) : another;
    if (name !== another) return store.address(name);
    const { askAddress } = await import('./ask-address.ts');
    return askAddress(context);
  },
};

/** Turns a parser that throws into a check that tells why a text is refused. */
function refusedBy(parse: (text: string) => unknown): (text: string) => string | undefined {
  return (text) => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
  };
}
