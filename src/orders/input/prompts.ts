import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';

/** Prompts for the fields that no order can do without. */

export async function promptProducts(context: Context): Promise<unknown> {
  const prompt = await context.prompt();
  const { parseProduct } = await import('./product-flag.ts');
  const { checkShape } = await import('../../contract/schemas/check.ts');
  const check = (text: string): string | undefined =>
    refusedBy(parseProduct)(text) ?? checkShape('OrderProduct', parseProduct(text), 'body').issues?.[0]?.msg;
  return [parseProduct(await prompt.askText(context, 'Product URL', { check }))];
}

export async function promptCeiling(context: Context): Promise<unknown> {
  const prompt = await context.prompt();
  const { parseCeiling } = await import('../../cli/parse-money.ts');
  const parse = (text: string): number => parseCeiling(text, '--max-price');
  return parse(await prompt.askText(context, 'Price ceiling, e.g. $50.00', { check: refusedBy(parse) }));
}

export async function promptAddress(context: Context): Promise<unknown> {
  const store = await context.store();
  const prompt = await context.prompt();
  const names = store.addressNames();
  const another = 'another address';
  const name = names.length > 0 ? await prompt.askChoice(context, 'Ship to', [...names, another]) : another;
  if (name !== another) return store.address(name);
  const { askAddress } = await import('../../addresses/ask.ts');
  return askAddress(context);
}

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
