import { parseInteger } from '../../cli/parse-option.ts';
import { productConditions } from '../../contract/enums.ts';
import { limits } from '../../contract/limits.ts';
import type { ShapeInput } from '../../contract/schemas/index.ts';
import { UsageError } from '../../errors.ts';

type Line = ShapeInput<'OrderProduct'>;

const partNames = ['quantity', 'variant', 'condition', 'not-condition'] as const;
type PartName = (typeof partNames)[number];

/** Where a part begins: a comma, a word and `=`. */
const partStart = /,\s*(\p{L}[\p{L}\p{N}_-]*)\s*=/gu;

/**
 * `URL[,quantity=N][,variant=Label:Value]…[,condition=New]…[,not-condition=UsedGood]…` to a product line.
 * Other commas inside the URL stay part of it; a `,word=` in it is written `%2Cword=`, so that no constraint that was
 * misspelt becomes a piece of the URL. @throws UsageError naming --product and the part.
 */
export function parseProduct(text: string): Line {
  const starts = [...text.matchAll(partStart)];
  const parts = starts.map((start, index): [PartName, string] => {
    const value = text.slice(start.index + start[0].length, starts[index + 1]?.index).trim();
    return [partNamed(start[1] ?? '', value), value];
  });
  const url = text.slice(0, starts[0]?.index).trim();
  const bare = partNames.find((name) => url.toLowerCase().endsWith(`,${name}`));
  if (bare !== undefined) throw new UsageError(`--product: ${bare} has no value; write ${bare}=…`);
  if (!URL.canParse(url)) {
    throw new UsageError(
      `--product takes the URL of a product page, not "${url}"; \`errand search WORDS\` finds one`,
    );
  }
  return { url, ...lineOptions(parts) };
}

/** @throws UsageError for a word that is no part, with the one that is meant where that can be told. */
function partNamed(written: string, value: string): PartName {
  const key = written.toLowerCase();
  const known = partNames.find((name) => name === key);
  if (known) return known;
  const meant = meantBy(key);
  if (meant) throw new UsageError(`--product: "${written}=" is not known; write ${meant}=${value}`);
  throw new UsageError(
    `--product: "${written}=" is not known; known are ${partNames.join(', ')}. Where it belongs to the URL, write %2C for its comma`,
  );
}

const otherWords: Readonly<Record<string, PartName>> = {
  qty: 'quantity',
  count: 'quantity',
  amount: 'quantity',
  option: 'variant',
};
const negations = ['not', 'no-', 'ex', 'without'];

/** A condition that is excluded must never be suggested as the one that is wanted. */
function meantBy(key: string): PartName | undefined {
  const word = key.replaceAll('_', '-');
  if (word.includes('condition'))
    return negations.some((negation) => word.includes(negation)) ? 'not-condition' : 'condition';
  if (Object.hasOwn(otherWords, word)) return otherWords[word];
  return partNames.find((name) => word.length >= 4 && name.startsWith(word.slice(0, 4)));
}

function lineOptions(parts: readonly [PartName, string][]): Omit<Line, 'url'> {
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
