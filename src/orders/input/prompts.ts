import { isDeepStrictEqual } from 'node:util';
import { readAmount } from '../../api/amount.ts';
import { formatMoney } from '../../format/money.ts';
import { refusedBy, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { rowNamed } from '../../run/listed.ts';
import { isRowNumber } from '../../run/row-references.ts';
import { searchAndPick } from '../products/pick.ts';
import type { Answer, Asking } from './fields.ts';
import { type ProductLine, parseProduct } from './product-flag.ts';

/** Prompts for the fields every order needs. */

/** Prompts for a product: by its URL, or by search words if the account can search. */
export async function promptProducts(context: Context, { searches }: Asking): Promise<Answer> {
  const prompt = await context.prompt();
  const { checkShape } = await import('../../api/schemas/check.ts');
  const urlProblem = (text: string): string | undefined =>
    schemeProblem(text) ??
    refusedBy(parseProduct)(text) ??
    checkShape('OrderProduct', parseProduct(text), 'body').issues?.[0]?.msg;
  const canSearch = searches && !context.previewsReads;
  const given = await prompt.askText(
    context,
    canSearch ? 'What to order: words, a URL or a row (@1)' : 'Product URL',
    {
      check: async (text) => {
        if (isRowNumber(text)) return rowProblem(context, text, urlProblem);
        return canSearch && !looksLikeUrl(text) ? undefined : urlProblem(text);
      },
    },
  );
  if (isRowNumber(given)) {
    const { value, description } = await rowNamed(context, given, ['products']);
    context.note(`${given} is ${description}`);
    return { value: [parseProduct(value)], words: ['--product', value] };
  }
  if (!canSearch || looksLikeUrl(given)) return { value: [parseProduct(given)], words: ['--product', given] };
  const { url, price } = await searchAndPick(context, given);
  return { value: [{ url }], words: productWords(url), price };
}

/** Why the row with the given number in the last list cannot be ordered; undefined if it can. */
async function rowProblem(
  context: Context,
  text: string,
  urlProblem: (text: string) => string | undefined,
): Promise<string | undefined> {
  try {
    return urlProblem((await rowNamed(context, text, ['products'])).value);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

/**
 * The `--product` arguments for a URL. Escapes the commas in the URL if the flag would otherwise read it differently.
 */
export function productWords(url: string): string[] {
  const isUnambiguous = refusedBy(parseProduct)(url) === undefined && parseProduct(url).url === url;
  return ['--product', isUnambiguous ? url : url.replaceAll(',', '%2C')];
}

/** The `--product` arguments for a line; empty if the flag cannot express the line. */
export function lineWords(line: ProductLine): string[] {
  const { url, quantity = 1, variant, condition_in, condition_not_in } = line;
  const [flag = '', start = ''] = productWords(url);
  const text = [
    start,
    ...(quantity === 1 ? [] : [`quantity=${quantity}`]),
    ...(variant ?? []).map(({ label, value }) => `variant=${label}:${value}`),
    ...(condition_in ?? []).map((condition) => `condition=${condition}`),
    ...(condition_not_in ?? []).map((condition) => `not-condition=${condition}`),
  ].join(',');
  const read = refusedBy(parseProduct)(text) === undefined ? parseProduct(text) : undefined;
  const isSame =
    read?.quantity === (quantity === 1 ? undefined : quantity) &&
    isDeepStrictEqual(
      [read?.variant ?? [], read?.condition_in ?? [], read?.condition_not_in ?? []],
      [variant ?? [], condition_in ?? [], condition_not_in ?? []],
    );
  return isSame ? [flag, text] : [];
}

const schemeProblem = (text: string): string | undefined =>
  looksLikeUrl(text) && !text.includes('://') ? `write the whole URL: https://${text}` : undefined;

/** Has a scheme, or a host and a path. */
const looksLikeUrl = (text: string): boolean => /^\S{0,64}:\/\/|^[^\s/]{1,253}\.[^\s/]{1,253}\//.test(text);

export async function promptCeiling(context: Context, { price, units = 1 }: Asking): Promise<Answer> {
  const prompt = await context.prompt();
  const question =
    price === undefined
      ? 'Price ceiling for the whole order, e.g. $50.00'
      : `Price ceiling with shipping and tax (${itemsCost(price, units)})`;
  const text = await prompt.askText(context, question, {
    check: (typed) => ceilingProblem(typed, price, units),
  });
  const amount = readAmount(text);
  // This cannot happen, because the prompt has checked the answer.
  if (amount.problem !== undefined) throw new UsageError(`the price ceiling ${amount.problem}`);
  return { value: amount.cents, words: ['--max-price', formatMoney(amount.cents)] };
}

/** `the item is $26.99`. */
export const itemsCost = (price: number, units: number): string =>
  `${units === 1 ? 'the item is' : `the ${units} items are`} ${formatMoney(price)}`;

/**
 * Why a ceiling is rejected, worded for a prompt; undefined if the ceiling is accepted.
 * @param price is the price of the items, in cents.
 */
function ceilingProblem(text: string, price = 0, units = 1): string | undefined {
  const amount = readAmount(text);
  if (amount.problem !== undefined) return `a ceiling ${amount.problem.replaceAll("'", '')}`;
  const { cents, isBare } = amount;
  if (cents === 0) return 'with a ceiling of $0.00 nothing can be bought';
  const readings = (isBare ? [cents, cents / 100] : [cents]).filter((reading) => reading >= price);
  if (readings.length === 0)
    return `${units === 1 ? 'the item alone is' : `the ${units} items alone are`} ${formatMoney(price)}; type that or more`;
  if (!isBare) return undefined;
  return `is ${text.trim()} dollars or cents? Type ${readings.map((reading) => formatMoney(reading)).join(' or ')}`;
}

export async function promptAddress(context: Context): Promise<Answer> {
  const { promptShipTo } = await import('../addresses/prompt.ts');
  const { address, words } = await promptShipTo(context);
  return { value: address, words };
}
