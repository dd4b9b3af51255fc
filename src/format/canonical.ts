import { hash } from 'node:crypto';
import { setOwn } from '../api/json.ts';

/** JSON with sorted keys and no spaces, so that equal content gives equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));

/**
 * Copies a value with sorted keys. Sorting before serializing is several times faster than a replacer that is called
 * for each value.
 */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, unknown> = {};
  for (const name of sortedNames(Object.keys(fields))) setOwn(copy, name, sorted(fields[name]));
  return copy;
}

/**
 * Whether a text is the canonical JSON of the value that was parsed from it. If the names are already in order, the
 * value need not be copied, which would take longer.
 */
export const isCanonical = (value: unknown, text: string): boolean =>
  hasSortedNames(value) ? JSON.stringify(value) === text : canonicalJson(value) === text;

function hasSortedNames(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(hasSortedNames);
  let last = '';
  for (const [name, field] of Object.entries(value)) {
    if (name < last || (typeof field === 'object' && !hasSortedNames(field))) return false;
    last = name;
  }
  return true;
}

interface Names {
  readonly given: readonly string[];
  readonly sorted: readonly string[];
}

/** Names of the last object with a given number of names. Cached, because all rows of a table have the same names. */
const lastNames: (Names | undefined)[] = [];
/** Maximum number of names. Objects with more names are not cached. */
const maxNames = 100;

function sortedNames(given: string[]): readonly string[] {
  const { length } = given;
  const last = lastNames[length];
  if (last && isSame(last.given, given)) return last.sorted;
  const names = given.toSorted();
  if (length <= maxNames) lastNames[length] = { given, sorted: names };
  return names;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

/** SHA-256 in hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

/**
 * SHA-256 of a body without its idempotency key. It must never change, because the keys of CSV rows are derived from
 * it.
 */
export function bodyHash(body: Readonly<Record<string, unknown>>): string {
  const { idempotency_key: _, ...rest } = body;
  return sha256(canonicalJson(rest));
}
