import { productConditions } from '../../api/enums.ts';
import { limits } from '../../api/limits.ts';
import { namedUrls, urlsWithin } from '../../api/product-url.ts';
import type { ShapeInput } from '../../api/schemas/index.ts';
import { UsageError } from '../../platform/errors.ts';
import { parseInteger } from '../../run/parse-option.ts';
import { type PartName, splitParts } from './product-parts.ts';

type ProductInput = ShapeInput<'OrderProduct'>;

/**
 * `URL[,quantity=N][,variant=Label:Value]…[,condition=New]…[,not-condition=UsedGood]…` to a product line.
 * @throws UsageError naming --product and the part.
 */
export function parseProduct(text: string): ProductInput {
  const urls = urlsWithin(text);
  if (urls.length > 1)
    throw new UsageError(
      `--product holds ${urls.length} URLs: ${namedUrls(urls)}; give --product for each of them`,
    );
  const { url, parts } = splitParts(text);
  if (!URL.canParse(url) || /\s/.test(url)) {
    throw new UsageError(
      `--product takes the URL of a product page, not "${url}"; \`errand search WORDS\` finds one`,
      /\s/.test(url) ? { hint: 'Write %20 for a space of the URL.' } : {},
    );
  }
  return { url, ...lineOptions(parts) };
}

function lineOptions(parts: readonly (readonly [PartName, string])[]): Omit<ProductInput, 'url'> {
  const values = (key: PartName) => parts.filter(([name]) => name === key).map(([, value]) => value);
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
