import { namedCountry } from '../api/country.ts';
import { isObject } from '../api/json.ts';
import { canonicalJson } from '../format/canonical.ts';
import { comparableUrl } from '../platform/network/comparable-url.ts';

/** Whether two values mean the same, though a service may spell one of them its own way. */
export type Same = (requested: unknown, existing: unknown) => boolean;

const exact: Same = (a, b) => canonicalJson(a) === canonicalJson(b);

const ofTexts =
  (same: (a: string, b: string) => boolean): Same =>
  (a, b) =>
    isScalar(a) && isScalar(b) ? same(String(a), String(b)) : exact(a, b);

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** Letters and digits alone, in capitals and without accents. */
const bare = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase();

const words = (text: string): string[] =>
  text
    .split(/[\s,.;/]+/)
    .map(bare)
    .filter((word) => word !== '');

/** `ST` for `STREET`, `TX` for `Texas`, `USA` for `US`: the same first letter, and the letters of the shorter in order. */
function abbreviates(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short === long) return true;
  if (/\p{N}/u.test(a + b) || short[0] !== long[0]) return false;
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return at === short.length;
}

export const sameText = ofTexts((a, b) => bare(a) === bare(b));

export const samePlace = ofTexts((a, b) => {
  const [left, right] = [words(a), words(b)];
  return left.length === right.length && left.every((word, at) => abbreviates(word, right[at] ?? ''));
});

/** As a code of two or three letters, or by name; where a name is not known, nothing can be told. */
export const sameCountry = ofTexts((a, b) => {
  const [one = '', other = ''] = [a, b].map((text) => bare(namedCountry(text) ?? text));
  return one.length > 3 || other.length > 3 || abbreviates(one, other);
});

/** With or without the four more digits of a ZIP code. */
export const samePostalCode = ofTexts((a, b) => {
  const [short = '', long = ''] = [bare(a), bare(b)].sort((one, other) => one.length - other.length);
  return short === long || (short.length >= 4 && long.startsWith(short));
});

/** With or without the country code. */
export const samePhone = ofTexts((a, b) => {
  const [short = '', long = ''] = [a, b]
    .map((text) => text.replace(/\D/g, ''))
    .sort((one, other) => one.length - other.length);
  return short === long || (short.length >= 6 && long.endsWith(short.replace(/^0/, '')));
});

/** Numbers as text too; an empty text is not a number. */
export const sameNumber = ofTexts((a, b) => a.trim() !== '' && b.trim() !== '' && Number(a) === Number(b));

export const sameUrl = ofTexts((a, b) => comparableUrl(a) === comparableUrl(b));

/** Every entry that was requested is there; the service may have added some. */
export const sameEntries: Same = (requested, existing) =>
  isObject(requested) && isObject(existing)
    ? Object.entries(requested).every(
        ([key, value]) => !Object.hasOwn(existing, key) || sameText(value, existing[key]),
      )
    : exact(requested, existing);

/** Numbers, texts, and lists and objects of them. */
export const sameValue: Same = (a, b) => {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, at) => sameValue(one, b[at]));
  if (isObject(a) && isObject(b)) return Object.keys(a).every((key) => sameValue(a[key], b[key]));
  return typeof a === 'number' ? sameNumber(a, b) : sameText(a, b);
};
