import { productConditions } from '../../api/enums.ts';
import { limits } from '../../api/limits.ts';
import { namedUrls, productUrlProblem, urlsWithin } from '../../api/product-url.ts';
import type { ShapeInput } from '../../api/schemas/index.ts';
import { UsageError } from '../../platform/errors.ts';
import { isUrl } from '../../platform/net/urls.ts';
import { parseInteger } from '../../run/parse-option.ts';

export type ProductLine = ShapeInput<'OrderProduct'>;

/**
 * Parses `URL[,quantity=N][,variant=Label:Value]…[,condition=New]…[,not-condition=UsedGood]…` into a product line.
 * @throws UsageError naming --product and the invalid part.
 */
export function parseProduct(text: string): ProductLine {
  const urls = urlsWithin(text);
  if (urls.length > 1)
    throw new UsageError(
      `--product holds ${urls.length} URLs: ${namedUrls(urls)}; give --product for each of them`,
    );
  const { url, parts } = splitParts(text);
  if (!isUrl(url) || /\s/.test(url)) {
    throw new UsageError(
      `--product takes the URL of a product page, not "${url}"; \`errand search WORDS\` finds one`,
      /\s/.test(url) ? { hint: 'Write %20 for a space of the URL.' } : {},
    );
  }
  const problem = productUrlProblem(url);
  if (problem !== undefined) throw new UsageError(`--product: "${url}" ${problem}`);
  return { url, ...lineOptions(parts) };
}

function lineOptions(parts: readonly (readonly [PartName, string])[]): Omit<ProductLine, 'url'> {
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

const partNames = ['quantity', 'variant', 'condition', 'not-condition'] as const;
type PartName = (typeof partNames)[number];

/** A correctly written part. */
const exactPart = /^\s*(quantity|variant|condition|not-condition)\s*=/i;

/** A separator and the text up to the next one. */
const segmentForm = /([,，;|])([^,，;|]*)/gu;

/**
 * Matches a name of one or several words that is followed by a value, such as `size=L`, `not condition!=New`,
 * `variant.size: L`. Symbols may precede the name.
 */
const signedForm =
  /^(?<signs>[^\p{L}\p{N}&?#%/]*)(?<word>\p{L}[\p{L}\p{N}_.()[\] -]{0,40}?)\s*(?<sign>[!<>~^*+-]*[=:<>]+)\s*(?<value>.*)$/su;
const spacedForm = /^[^\p{L}\p{N}&?#%/]*(?<word>\p{L}[\p{L}\p{N}_.-]{0,40})\s+(?<value>.*)$/su;

/** Matches the name of a part without an operator, such as `quantity`, `condition-New`, `quantity2`. */
const bareName =
  /^[^\p{L}\p{N}&?#%/]*(?<word>not[-_\s]?condition|condition|quantity|qty|variant)s?(?!\p{L})/iu;

/**
 * Splits `URL[,part=value]…` into the URL and its parts. Other commas belong to the URL. Text after such a comma that
 * looks like an option is an error, because a misspelt constraint must not silently become part of the URL.
 * @throws UsageError naming that text.
 */
function splitParts(text: string): { url: string; parts: [PartName, string][] } {
  const starts: { name: PartName; index: number; valueAt: number }[] = [];
  for (const { 0: whole, 1: separator, 2: segment = '', index } of text.matchAll(segmentForm)) {
    const exact = separator === ',' ? exactPart.exec(segment) : null;
    const name = partNames.find((known) => known === exact?.[1]?.toLowerCase());
    if (exact && name) starts.push({ name, index, valueAt: index + 1 + exact[0].length });
    else
      checkSegment(whole, segment, {
        isComma: separator === ',' || separator === '，',
        isInPart: starts.length > 0,
      });
  }
  const parts = starts.map(({ name, valueAt }, at): [PartName, string] => [
    name,
    text.slice(valueAt, starts[at + 1]?.index).trim(),
  ]);
  return { url: text.slice(0, starts[0]?.index).trim(), parts };
}

/** @throws UsageError if the text after a separator looks like an option. The error shows how to write an option. */
function checkSegment(
  whole: string,
  segment: string,
  { isComma, isInPart }: { isComma: boolean; isInPart: boolean },
): void {
  // Normalize full-width colons and invisible characters.
  const plain = segment
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim();
  const bare = bareName.exec(plain);
  const signed = signedForm.exec(plain)?.groups;
  const spaced = spacedForm.exec(plain)?.groups;
  const word = signed?.word ?? bare?.groups?.word ?? spaced?.word;
  if (word === undefined) return;
  const isNegated = /^[!~]|^-$/.test(signed?.signs?.trim() ?? '') || /[!~]|<>/.test(signed?.sign ?? '');
  const suggested = suggestedPart(word.toLowerCase(), isNegated);
  // A URL contains no unescaped spaces, but a variant's value may contain many.
  const isOption = isComma && (signed !== undefined || !isInPart);
  if (!isOption && suggested === undefined) return;
  const rest = bare ? plain.slice(bare[0].length).replace(/^[^\p{L}\p{N}]+/u, '') : spaced?.value;
  const instead =
    suggested === undefined ? '.' : `; write ${spelled(suggested, signed?.value ?? rest ?? '')}.`;
  const otherwise = isInPart
    ? 'Where the comma belongs to the value, give the order with --file'
    : 'Where the comma belongs to the URL, write %2C for it';
  throw new UsageError(
    `--product: "${shortened(whole)}" is not an option${instead} Options are quantity=2, variant=Size:L, condition=New and not-condition=UsedGood. ${otherwise}`,
  );
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Shows how to write a part with the given value. Uses placeholders if the value does not fit. */
function spelled(name: PartName, value: string): string {
  if (name !== 'variant') return `${name}=${value.trim() || '…'}`;
  const [, label, choice] = /^([^:=]+)[:=]([^:=]+)$/.exec(value.trim()) ?? [];
  return label === undefined ? 'variant=Label:Value' : `variant=${label}:${choice}`;
}

const otherWords: Readonly<Record<string, PartName>> = {
  qty: 'quantity',
  count: 'quantity',
  amount: 'quantity',
  option: 'variant',
};
const negations = ['not', 'no-', 'ex', 'without'];

/** The part that a word probably stands for. Never suggests a wanted condition if the word excludes a condition. */
function suggestedPart(written: string, isNegated: boolean): PartName | undefined {
  const word = written.replaceAll(/[_\s.]+/g, '-');
  if (word.includes('cond'))
    return isNegated || negations.some((negation) => word.includes(negation)) ? 'not-condition' : 'condition';
  if (Object.hasOwn(otherWords, word)) return otherWords[word];
  return partNames.find((name) => word.length >= 4 && name.startsWith(word.slice(0, 4)));
}
