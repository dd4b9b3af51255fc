import { readAmount } from '../api/amount.ts';
import { characterCount } from '../api/limits.ts';
import { formatMoney } from '../format/money.ts';
import { parseDate, parseEdge } from '../format/time.ts';
import { parseDuration } from '../platform/duration.ts';
import { UsageError } from '../platform/errors.ts';
import { nearestWord } from '../platform/near-words.ts';
import type { Option } from './option.ts';

/** `maxPrice` to `--max-price`. */
export const flagOf = (key: string): string =>
  `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Parses the text of a flag. @throws UsageError naming the flag and what it accepts. */
export function parseOption(
  flag: string,
  option: Option,
  text: string,
  previous: unknown,
  now: number,
): unknown {
  switch (option.kind) {
    case 'text':
      return option.suggests && option.isClosedBut
        ? parseKnown(flag, text, option.suggests, option.isClosedBut)
        : checkText(flag, option, text);
    case 'integer':
      return parseInteger(flag, text, option);
    case 'number':
      return parseNumber(flag, text, option);
    case 'choice':
      return parseChoice(flag, text, option.values);
    case 'texts':
      return [...asTexts(previous), checkText(flag, {}, text)];
    case 'list':
      return [...asTexts(previous), ...parseList(flag, text, option.values)];
    case 'pairs':
      return { ...asPairs(previous), ...parsePair(flag, text) };
    case 'money':
      return option.isCeiling ? parseCeiling(text, flag) : parseMoney(text, flag);
    case 'date':
      if (option.edge) return parseEdge(text, flag, now, option.edge);
      return option.unixSeconds
        ? parseDate(fromUnixSeconds(text), flag, now, 'unix seconds (1795000000)')
        : parseDate(text, flag, now);
    case 'duration':
      return parseDuration(text, flag);
    default:
      return true;
  }
}

/** Parses an integer within bounds. @throws UsageError naming the flag and the bounds. */
export function parseInteger(flag: string, text: string, bounds: { min?: number; max?: number }): number {
  const value = Number(text);
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = bounds;
  if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new UsageError(
    `${flag} takes ${describeBounds(isHuge(text) ? { min, max } : bounds)}, not "${text}"`,
  );
}

/** Parses a number within bounds, decimals allowed. @throws UsageError naming the flag and the bounds. */
function parseNumber(flag: string, text: string, { min, max }: { min?: number; max?: number }): number {
  const value = Number(text);
  const isWithin = value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY);
  if (/^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) && isWithin) return value;
  const bounds = [min !== undefined && `of at least ${min}`, max !== undefined && `of at most ${max}`];
  throw new UsageError(
    `${flag} takes ${['a number', bounds.filter(Boolean).join(' and ')].join(' ').trim()}, not "${text}"`,
  );
}

/** Converts unix seconds to an ISO 8601 time; returns other text unchanged. */
function fromUnixSeconds(text: string): string {
  const isCount = /^\d{9,11}(?:\.\d{1,9})?$/.test(text);
  return isCount ? new Date(Number(text) * 1000).toISOString() : text;
}

/** Whether an integer exceeds the safe range. If so, the error also states that range. */
const isHuge = (text: string): boolean => /^[+-]?\d+$/.test(text) && !Number.isSafeInteger(Number(text));

function describeBounds({ min, max }: { min?: number; max?: number }): string {
  if (min !== undefined && max !== undefined) return `a whole number from ${min} to ${max}`;
  if (min !== undefined) return `a whole number of at least ${min}`;
  return 'a whole number';
}

function checkText(flag: string, bounds: { minLength?: number; maxLength?: number }, text: string): string {
  if (text === '') throw new UsageError(`${flag} is empty; give it a value or leave it out`);
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = bounds;
  const length = characterCount(text);
  if (length > maxLength) {
    throw new UsageError(`${flag} takes at most ${maxLength} characters, and this has ${length}`);
  }
  if (length < minLength) {
    throw new UsageError(`${flag} takes at least ${minLength} characters, and this has ${length}`);
  }
  return text;
}

const parseChoice = (flag: string, text: string, values: readonly string[]): string =>
  parseKnown(flag, text, values);

/** Ignores case and how words are separated, because a table shows `in progress` for the value `in_progress`. */
export const foldedWord = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '_');

/**
 * Strips the symbol, the reason and the count from a state: `✖ failed: price` becomes `failed`, and `1 of 2 delivered`
 * becomes `delivered`.
 */
const firstWords = (text: string): string =>
  text
    .replace(/^[✔✖●○] /u, '')
    .replace(/^\d+ of \d+ /, '')
    .replace(/: .{0,1000}$| in part$/, '');

function parseKnown(
  flag: string,
  text: string,
  values: readonly string[],
  others: readonly string[] = [],
): string {
  const all = [...values, ...others];
  const word = foldedWord(firstWords(text));
  const found = all.includes(text) ? text : all.find((value) => foldedWord(value) === word);
  if (found !== undefined) return found;
  const near = nearestWord(foldedWord(text), all.map(foldedWord));
  const meant = all.find((value) => foldedWord(value) === near);
  throw new UsageError(
    `${flag} takes one of ${values.join(', ')}, not "${text}"${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
}

function parseList(flag: string, text: string, values: readonly string[] | undefined): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.some((part) => part === '')) throw new UsageError(`${flag} has an empty entry: "${text}"`);
  return values ? parts.map((part) => parseChoice(flag, part, values)) : parts;
}

function parsePair(flag: string, text: string): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`${flag} takes key=value, not "${text}"`);
  return Object.fromEntries([[text.slice(0, at), text.slice(at + 1)]]);
}

const asTexts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];

const asPairs = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

/**
 * Parses a price flag to cents: `$50`, `50.00`, `$1,234.50`, `USD 50`.
 * @param flag as typed, for example `--max-price`. Its counterpart for integers is `--max-price-cents`.
 * @throws UsageError naming the flag. Rejects a currency other than the service's, a bare integer (ambiguous), a
 * negative or too large amount, more than two decimals, and anything else.
 */
export function parseMoney(text: string, flag: string): number {
  const amount = readAmount(text);
  if (amount.problem !== undefined) throw new UsageError(`${flag} ${amount.problem}`);
  if (amount.isBare && amount.cents !== 0) throw ambiguous(flag, amount.cents / 100);
  return amount.cents;
}

/**
 * Like `parseMoney`, but for a ceiling. Also rejects zero, because nothing can be bought under a ceiling of zero.
 * @throws UsageError.
 */
export function parseCeiling(text: string, flag: string): number {
  const cents = parseMoney(text, flag);
  if (cents > 0) return cents;
  throw new UsageError(`${flag} is $0.00, and an order with that ceiling buys nothing`, {
    hint: `A shell takes the $5 out of "$50.00": write '$50.00'. If you mean zero, write ${flag}-cents 0.`,
  });
}

const ambiguous = (flag: string, count: number): UsageError =>
  new UsageError(
    `${flag} ${count} is ambiguous: write ${flag} '$${count}' for ${formatMoney(count * 100)} or ${flag}-cents ${count} for ${formatMoney(count)}`,
  );
