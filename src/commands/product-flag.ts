import { productConditions } from '../contract/enums.ts';
import { limits } from '../contract/limits.ts';
import type { ShapeInput } from '../contract/schemas/index.ts';
import { UsageError } from '../errors.ts';
import { parseInteger } from './parse-option.ts';

type Line = ShapeInput<'OrderProduct'>;

const trailingPart = /^(.*),([a-z][a-z_-]*)=([^,]*)$/is;
const misspelt: Readonly<Record<string, string>> = {
  qty: 'quantity',
  count: 'quantity',
  variants: 'variant',
  conditions: 'condition',
};

/**
 * `URL[,quantity=N][,variant=Label:Value]…[,condition=New]…[,not-condition=UsedGood]…` to a product line.
 * A comma inside the URL stays part of it. @throws UsageError naming --product and the part.
 */
export function parseProduct(text: string): Line {
  const parts: [string, string][] = [];
  let url = text;
  for (let match = trailingPart.exec(url); match; match = trailingPart.exec(url)) {
    const [, rest = '', written = '', value = ''] = match;
    const key = written.toLowerCase();
    const meant = isPart(key) ? undefined : (misspelt[key] ?? similarPart(key));
    if (meant) throw new UsageError(`--product: "${written}=" is not known; write ${meant}=${value}`);
    if (!isPart(key)) break;
    parts.unshift([key, value]);
    url = rest;
  }
  if (!URL.canParse(url)) {
    throw new UsageError(
      `--product takes the URL of a product page, not "${url}"; \`errand search WORDS\` finds one`,
    );
  }
  return { url, ...lineOptions(parts) };
}

const partNames = ['quantity', 'variant', 'condition', 'not-condition'] as const;
const isPart = (key: string): key is (typeof partNames)[number] => partNames.some((name) => name === key);

/** A slip in a part's name would make it a piece of the URL, and the order one of something else. */
const similarPart = (key: string): string | undefined =>
  partNames.find((name) => key.length >= 4 && name.startsWith(key.slice(0, 4)));

function lineOptions(parts: readonly [string, string][]): Omit<Line, 'url'> {
  const values = (key: string) => parts.filter(([name]) => name === key).map(([, value]) => value);
  const quantities = values('quantity');
  const [quantity] = quantities;
  if (quantities.length > 1) throw new UsageError('--product: quantity is given twice');
  const variant = values('variant').map(parseVariant);
  const conditionIn = values('condition').map(parseCondition);
  const conditionNotIn = values('not-condition').map(parseCondition);
  return {
    ...(quantity !== undefined && {
      quantity: parseInteger('--product: quantity', quantity, limits.quantity),
    }),
    ...(variant.length > 0 && { variant }),
    ...(conditionIn.length > 0 && { condition_in: conditionIn }),
    ...(conditionNotIn.length > 0 && { condition_not_in: conditionNotIn }),
  };
}

function parseVariant(text: string): { label: string; value: string } {
  const at = text.indexOf(':');
  if (at < 1 || at === text.length - 1) {
    throw new UsageError(`--product: variant takes Label:Value, not "${text}"`);
  }
  return { label: text.slice(0, at), value: text.slice(at + 1) };
}

function parseCondition(text: string): (typeof productConditions)[number] {
  const condition = productConditions.find((known) => known.toLowerCase() === text.toLowerCase());
  if (condition) return condition;
  throw new UsageError(`--product: condition takes one of ${productConditions.join(', ')}, not "${text}"`);
}
