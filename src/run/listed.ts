import { idPattern } from '../api/limits.ts';
import { countText } from '../format/counts.ts';
import type { RecordKind } from '../format/result.ts';
import { type LastListRow, maxListed } from '../format/result.ts';
import { UsageError } from '../platform/errors.ts';
import { isUrl } from '../platform/net/urls.ts';
import type { Context } from './context.ts';
import { kinds, listOf } from './row-references.ts';

type LastList = NonNullable<Awaited<ReturnType<Context['lastList']>>>;
type SavedList = NonNullable<ReturnType<LastList['read']>>;

/** A resolved value, and its description for the user. */
export interface Found {
  readonly value: string;
  readonly description: string;
  readonly facts?: LastListRow['facts'];
}

/**
 * Returns the last list printed on this terminal. If there is no list for this profile and service, returns the reason,
 * worded as the end of a sentence.
 */
export async function listNow(context: Context): Promise<SavedList | string> {
  const last = await context.lastList();
  const list = last?.read();
  if (!last || !list) return 'this terminal has printed no list yet';
  if (last.isOver(list)) return 'the last list of this terminal is more than an hour old';
  const { profile, baseUrl } = context.settings;
  if (list.profile === profile.value && list.service === baseUrl.value) return list;
  const where = list.profile === profile.value ? list.service : `profile ${list.profile}`;
  return `the last list of this terminal is of ${where}`;
}

/** Matches a row number such as `@2`. For products, parts of an order line may follow, as in `@2,quantity=3`. */
const rowNumber = /^@(\d{1,9})(,[a-z-]+=.*)?$/s;

/** Finds a product of the last list by its listing id. Returns undefined if there is none. */
export async function listingNamed(context: Context, text: string): Promise<Found | undefined> {
  const list = await listNow(context);
  if (typeof list === 'string' || list.kind !== 'products') return undefined;
  const at = list.rows.findIndex((row) => row?.facts.listing === text);
  return at < 0 ? undefined : rowNamed(context, `@${at + 1}`, ['products']);
}

/**
 * Resolves a row number of the last list.
 * @throws UsageError if the row with that number is not a record of one of these kinds.
 */
export async function rowNamed(context: Context, text: string, names: readonly RecordKind[]): Promise<Found> {
  const [, digits = '', parts = ''] = rowNumber.exec(text) ?? [];
  const number = Number(digits);
  if (number < 1 || (parts !== '' && !names.includes('products')))
    throw new UsageError(`"${text}" is not the number of a row; the first row of the last list is @1`);
  const list = await listNow(context);
  if (typeof list === 'string')
    throw new UsageError(`@${number} names nothing: ${list}; \`${listOf(names)}\` prints one`);
  const kind = names.find((name) => name === list.kind);
  if (kind === undefined) throw new UsageError(otherKind(number, list, names));
  if (number > list.rows.length) throw new UsageError(beyond(number, list));
  const row = list.rows[number - 1];
  const value = row ? typedFor(kind, row) : undefined;
  if (!row || value === undefined)
    throw new UsageError(`@${number} has no id or URL that can be taken; give it in full`);
  const label = row.label && ` (when listed: ${row.label})`;
  return { value: value + parts, facts: row.facts, description: `${kinds[kind].one} ${value}${label}` };
}

function otherKind(number: number, list: SavedList, names: readonly RecordKind[]): string {
  const is = Object.entries(kinds).find(([name]) => name === list.kind)?.[1];
  const requested = names.map((name) => kinds[name].several).join(' or ');
  const what = `of ${is?.several ?? 'something else'}, not of ${requested}; \`${listOf(names)}\` prints those`;
  return number > list.rows.length
    ? `${beyond(number, list)}; it is ${what}`
    : `@${number} is a row of the last list, which is ${what}`;
}

function beyond(number: number, { rows }: SavedList): string {
  if (rows.length === 0) return `@${number} names nothing: the last list is empty`;
  if (rows.length >= maxListed)
    return `@${number}: only the first ${countText(maxListed)} rows of a list are kept; give the whole id`;
  return `@${number}: the last list has ${rows.length === 1 ? 'one row' : `${rows.length} rows`}`;
}

/**
 * Value that replaces a row number on the command line: a product's URL, or an id for any other record. The value is
 * validated, because it comes from the service.
 */
function typedFor(kind: RecordKind, { id, facts }: LastListRow): string | undefined {
  if (kind !== 'products') return idPattern.test(id) ? id : undefined;
  const { url } = facts;
  if (url !== undefined) return isPlainUrl(url) ? url : undefined;
  return /^[^\s@,-][^\s,]{0,299}$/.test(id) ? id : undefined;
}

/** Whether a product URL is free of anything that could be read as an option of `--product`. */
function isPlainUrl(url: string): boolean {
  if (/[\s\p{C}]/u.test(url) || /[,，;|]/.test(url) || !isUrl(url)) return false;
  return ['http:', 'https:'].includes(new URL(url).protocol);
}
