import { isObject, numberIn, objectsIn, textIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import { formatMoney } from '../../format/money.ts';
import { plainText } from '../../format/path.ts';
import type { Column, Row } from '../../format/result.ts';
import { ErrandError, refusedBy } from '../../platform/errors.ts';
import { withoutOption } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { flagOf, parseInteger } from '../../run/parse-option.ts';
import { addressLine, addressOptions } from '../addresses/options.ts';
import { knownTitles } from '../products/pick.ts';
import { choicesText, type ProductFacts, type ProductVariant } from '../products/product-facts.ts';
import { readFacts } from '../products/read-facts.ts';
import type { Completed } from './complete.ts';
import { alignedLines, otherRows } from './like.ts';
import type { ProductLine } from './product-flag.ts';
import { itemsCost, lineWords, promptAddress, promptCeiling, promptProducts } from './prompts.ts';

/** Shows an order that prompts have completed, and lets the user change any line of it before it is placed. */

/** Looks up the ordered products. Prompts for the variant of a product that has several. */
export async function withProductFacts(context: Context, completed: Completed): Promise<Completed> {
  const facts = new Map(completed.facts);
  let whole: Completed = { ...completed, facts };
  for (const [index, line] of linesOf(completed).entries()) {
    const found = facts.get(line.url) ?? (await readFacts(context, line.url));
    if (found) facts.set(line.url, found);
    const variant = await variantFor(context, line, found);
    if (variant) whole = withLine(whole, index, { ...line, variant });
  }
  return whole;
}

async function variantFor(
  context: Context,
  line: ProductLine,
  facts: ProductFacts | undefined,
): Promise<ProductLine['variant']> {
  if ((line.variant?.length ?? 0) > 0 || (facts?.variants.length ?? 0) < 2) return undefined;
  return askVariant(context, facts);
}

/** The variant that the user chooses from those in stock; undefined if there is nothing to choose from. */
async function askVariant(
  context: Context,
  facts: ProductFacts | undefined,
): Promise<ProductLine['variant'] | undefined> {
  const inStock = facts?.variants.filter(({ isSoldOut }) => !isSoldOut) ?? [];
  if (inStock.length === 0) return undefined;
  const soldOut = (facts?.variants.length ?? 0) - inStock.length;
  if (soldOut > 0) context.note(`${soldOut} more ${soldOut === 1 ? 'variant is' : 'variants are'} sold out`);
  const rows = inStock.map((one): Row & { of: ProductVariant } => ({
    of: one,
    variant: choicesText(one.choices),
    price: one.price,
  }));
  const { of } = await (await context.prompt()).askRow(context, 'Which variant?', rows, variantColumns);
  return [...of.choices];
}

const variantColumns: readonly Column[] = [
  { name: 'variant', path: 'variant', weight: 10 },
  { name: 'price', path: 'price', kind: 'money', weight: 9 },
];

const linesOf = ({ payload }: Completed): ProductLine[] =>
  objectsIn(payload, 'products').flatMap((line) => (isLine(line) ? [line] : []));

const isLine = (line: object): line is ProductLine => 'url' in line && typeof line.url === 'string';

function withLines(completed: Completed, lines: readonly ProductLine[]): Completed {
  const words = lines.map(lineWords);
  const others = withoutOption(completed.argv, flagOf('product'));
  return {
    ...completed,
    payload: { ...completed.payload, products: lines },
    // If one of the lines has no equivalent arguments, leave out all products. A command that names only some of the
    // products would order something else.
    argv: words.every((one) => one.length > 0) ? [...others, ...words.flat()] : others,
  };
}

const withLine = (completed: Completed, index: number, line: ProductLine): Completed =>
  withLines(completed, linesOf(completed).with(index, line));

/** Price of a line's product, in the variant ordered. */
function priceOf(line: ProductLine, facts: ProductFacts | undefined): number | undefined {
  const ordered = choicesText(line.variant ?? []);
  const variant = facts?.variants.find(({ choices }) => choicesText(choices) === ordered);
  return variant?.price ?? facts?.price;
}

/** Total price of all lines, before shipping and tax, and total number of units; undefined if any price is unknown. */
export function costOf(completed: Completed): { readonly price: number; readonly units: number } | undefined {
  let [price, units] = [0, 0];
  for (const line of linesOf(completed)) {
    const each = priceOf(line, completed.facts?.get(line.url));
    if (each === undefined) return undefined;
    price += each * (line.quantity ?? 1);
    units += line.quantity ?? 1;
  }
  return units === 0 ? undefined : { price, units };
}

interface Review {
  /** The question below the order. */
  readonly question: string;
  /** Further lines to show for the current order. */
  lines(completed: Completed): Promise<readonly string[]>;
}

/**
 * Shows the order and asks whether to place it. The user may first change lines of the order.
 * @throws ErrandError if the answer is no.
 */
export async function reviewOrder(
  context: Context,
  completed: Completed,
  { question, lines }: Review,
): Promise<Completed> {
  const prompt = await context.prompt();
  for (let current = completed; ; ) {
    const more = await lines(current);
    for (const line of [...(await orderLines(context, current)), ...more]) context.note(line);
    const answer = await prompt.askReview(context, question);
    if (answer === 'yes') return current;
    if (answer === 'no') throw new ErrandError('interrupted', 'nothing was ordered', { outcome: 'not_sent' });
    current = await edited(context, current);
  }
}

async function orderLines(context: Context, completed: Completed): Promise<string[]> {
  const { products: _, max_price, shipping_address, is_gift, gift_message, ...rest } = completed.payload;
  const titles = await knownTitles(context);
  const titleOf = (line: ProductLine): string =>
    completed.facts?.get(line.url)?.title ?? titles(line.url) ?? line.url;
  const rows = linesOf(completed).flatMap((line): [string, string][] => {
    const price = priceOf(line, completed.facts?.get(line.url));
    const variant = choicesText(line.variant ?? []);
    return [
      ['product', `${titleOf(line)}${price === undefined ? '' : `, ${formatMoney(price)}`}`],
      ...(variant === '' ? [] : [['variant', variant] satisfies [string, string]]),
      ['quantity', String(line.quantity ?? 1)],
    ];
  });
  const message = textIn({ gift_message }, 'gift_message');
  const gift = is_gift === true ? `yes${message ? `, "${message}"` : ''}` : 'no';
  return alignedLines([
    ...rows,
    ['gift', gift],
    ['ship to', isObject(shipping_address) ? addressLine(shipping_address) : ''],
    ['ceiling', ceilingText(completed, max_price)],
    ...otherRows(rest),
  ]);
}

function ceilingText(completed: Completed, ceiling: unknown): string {
  const cost = costOf(completed);
  const beside = cost ? `; ${itemsCost(cost.price, cost.units)} before shipping and tax` : '';
  return typeof ceiling === 'number' ? `${formatMoney(ceiling)}${beside}` : plainText(ceiling);
}

/** Lines of the displayed order that can be changed before the order is placed. */
export const editableLines = ['product', 'variant', 'quantity', 'gift', 'ship to', 'ceiling'] as const;

const nothing = 'nothing, go back';

async function edited(context: Context, completed: Completed): Promise<Completed> {
  const prompt = await context.prompt();
  const lines = linesOf(completed);
  const hasVariants = lines.some(({ url }) => (completed.facts?.get(url)?.variants.length ?? 0) > 1);
  const what = await prompt.askChoice(context, 'What to change', [
    ...editableLines.filter((line) => hasVariants || line !== 'variant'),
    nothing,
  ] as const);
  if (what === nothing) return completed;
  if (what === 'ship to') return withAddress(context, completed);
  if (what === 'gift') return withGift(context, completed);
  if (what === 'ceiling') return withCeiling(context, completed);
  const index = await whichLine(context, completed);
  const line = lines[index];
  return line
    ? coveredBy(context, await withEditedLine(context, completed, { index, line, what }))
    : completed;
}

async function withEditedLine(
  context: Context,
  completed: Completed,
  {
    index,
    line,
    what,
  }: {
    readonly index: number;
    readonly line: ProductLine;
    readonly what: 'product' | 'variant' | 'quantity';
  },
): Promise<Completed> {
  const prompt = await context.prompt();
  if (what === 'quantity') {
    const parse = (text: string) => parseInteger('the quantity', text, limits.quantity);
    const text = await prompt.askText(context, 'Quantity', {
      default: String(line.quantity ?? 1),
      check: refusedBy(parse),
    });
    return withLine(completed, index, { ...line, quantity: parse(text) });
  }
  if (what === 'variant') {
    const variant = await askVariant(context, completed.facts?.get(line.url));
    return variant ? withLine(completed, index, { ...line, variant }) : completed;
  }
  const { value } = await promptProducts(context, { searches: true });
  const [product] = objectsIn({ value }, 'value');
  if (!product || !isLine(product)) return completed;
  const quantity = product.quantity ?? line.quantity;
  return withProductFacts(context, withLine(completed, index, { ...product, ...(quantity && { quantity }) }));
}

/** Index of the line to change. Prompts if there are several lines. */
async function whichLine(context: Context, completed: Completed): Promise<number> {
  const lines = linesOf(completed);
  if (lines.length < 2) return 0;
  const titles = await knownTitles(context);
  const rows = lines.map((line, index): Row & { index: number } => ({
    index,
    quantity: line.quantity ?? 1,
    product: completed.facts?.get(line.url)?.title ?? titles(line.url) ?? line.url,
  }));
  const columns: readonly Column[] = [
    { name: 'quantity', path: 'quantity', kind: 'count', weight: 8 },
    { name: 'product', path: 'product', kind: 'url', weight: 10 },
  ];
  return (await (await context.prompt()).askRow(context, 'Of which line', rows, columns)).index;
}

/** Asks for the ceiling again if the ceiling no longer covers what is ordered. */
async function coveredBy(context: Context, completed: Completed): Promise<Completed> {
  const cost = costOf(completed);
  const ceiling = numberIn(completed.payload, 'max_price');
  if (!cost || ceiling === undefined || ceiling >= cost.price) return completed;
  context.note(`${itemsCost(cost.price, cost.units)}, more than the ceiling of ${formatMoney(ceiling)}`);
  return withCeiling(context, completed);
}

async function withCeiling(context: Context, completed: Completed): Promise<Completed> {
  const { value, words } = await promptCeiling(context, { searches: true, ...costOf(completed) });
  const others = withoutOption(withoutOption(completed.argv, '--max-price'), '--max-price-cents');
  return {
    ...completed,
    payload: { ...completed.payload, max_price: value },
    argv: [...others, ...words],
  };
}

async function withAddress(context: Context, completed: Completed): Promise<Completed> {
  const { value, words } = await promptAddress(context);
  const flags = ['--ship-to', ...Object.keys(addressOptions).map(flagOf)];
  const others = flags.reduce(withoutOption, completed.argv);
  return {
    ...completed,
    payload: { ...completed.payload, shipping_address: value },
    argv: [...others, ...words],
  };
}

async function withGift(context: Context, completed: Completed): Promise<Completed> {
  const prompt = await context.prompt();
  const isGift = await prompt.confirm(context, 'Send it as a gift?');
  const message = isGift
    ? await prompt.askText(context, 'Gift message (optional)', {
        optional: true,
        check: (text) =>
          text.length > limits.giftMessageLength.max
            ? `at most ${limits.giftMessageLength.max} characters`
            : undefined,
      })
    : '';
  const { is_gift: _, gift_message: __, ...payload } = completed.payload;
  const others = withoutOption(completed.argv, '--gift-message').filter((word) => word !== '--gift');
  return {
    ...completed,
    payload: {
      ...payload,
      ...(isGift && { is_gift: true }),
      ...(message !== '' && { gift_message: message }),
    },
    argv: [...others, ...(isGift ? ['--gift'] : []), ...(message === '' ? [] : ['--gift-message', message])],
  };
}
