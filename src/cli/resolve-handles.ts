import { objectsIn, textIn } from '../api/json.ts';
import { idPattern } from '../api/limits.ts';
import { operations } from '../api/operations/index.ts';
import type { RecordKind, TitleOf } from '../format/result.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { type Found, listingNamed, listNow, rowNamed } from '../run/listed.ts';
import { isRowNumber, kinds, listOf, oneOf } from '../run/row-references.ts';
import { isUpload, recordsWithPrefix } from './completion/sources.ts';
import type { AnyCommand } from './define.ts';
import { isListingId, naming, textsOf } from './handles.ts';
import { onlyReads } from './known-fields.ts';
import type { Values } from './mount.ts';

/** Minimum length of an id prefix. */
const minPrefixLength = 8;

/**
 * Replaces shorthand that was given at a TTY with full ids. The shorthand is either a row number of the last list
 * (`@2`) or an id prefix. A prefix is looked up in the last list, then on this machine, and then at the service. If the
 * command writes, also prints which record was found.
 * @throws UsageError for an unknown row number, any row number without a TTY, or an ambiguous prefix; ErrandError
 * not_found.
 */
export async function resolveHandles(
  context: Context,
  command: AnyCommand,
  input: Values,
  titles: () => Promise<TitleOf>,
): Promise<{ readonly context: Context; readonly input: Values }> {
  const resolved: Record<string, unknown> = { ...input };
  const rowFacts = new Map<string, Readonly<Record<string, string>>>();
  let { argv } = context;
  for (const [name, { names = [] }] of naming(command)) {
    const resolve = async (text: string): Promise<string> => {
      const found = await resolveOne(context, command, text, [names].flat(), textsOf(input[name]));
      if (found.value === text) return text;
      if (!onlyReads(command, input))
        context.note(`${text} is ${await withTitles(found.description, titles)}`);
      if (found.facts) rowFacts.set(found.value, found.facts);
      argv = argv.map((word) => substitute(text, found.value, word));
      return found.value;
    };
    const value = input[name];
    if (typeof value === 'string') resolved[name] = await resolve(value);
    if (!Array.isArray(value)) continue;
    const values: string[] = [];
    for (const text of textsOf(value)) values.push(await resolve(text));
    resolved[name] = values;
  }
  return { context: { ...context, argv, rowFacts }, input: resolved };
}

/**
 * Replaces the product's URL by its title in the description of a record. Affects only the text shown, not the
 * command's input or its requests.
 */
async function withTitles(description: string, titles: () => Promise<TitleOf>): Promise<string> {
  const [, what = description, label = ''] = /^(order \S+) \((.*)\)$/s.exec(description) ?? [];
  if (label === '') return description;
  const titleOf = label.includes('://') ? await titles() : undefined;
  const shown = label.split(/( {2,}|, | )/).map((part) => titleOf?.(part) ?? part);
  return `${what} (${shown.join('').replaceAll(/ {2,}/g, ', ')})`;
}

/**
 * Replaces a row number in a command that is suggested for later, since the number may refer to a different row by
 * then.
 */
function substitute(text: string, value: string, word: string): string {
  if (word === text) return value;
  return word.startsWith('--') && word.endsWith(`=${text}`) ? word.slice(0, -text.length) + value : word;
}

async function resolveOne(
  context: Context,
  command: AnyCommand,
  text: string,
  names: readonly RecordKind[],
  givenTexts: readonly string[],
): Promise<Found> {
  const asItIs = { value: text, description: '' };
  const away = whyNoTerminal(context, givenTexts);
  if (isRowNumber(text)) {
    // Without a terminal, accept the text as a journal key, because a user may choose a key that looks like a row
    // number.
    if (away !== undefined && names.includes('intents')) return asItIs;
    if (away === undefined) return rowNamed(context, text, names);
    const whole = names.includes('products') ? 'its URL or id' : 'the whole id';
    throw new UsageError(`${text} names a row of the last list on a terminal; give ${whole}, as ${away}`);
  }
  if (away !== undefined || text === '-') return asItIs;
  if (names.includes('products') && isListingId(text)) return (await listingNamed(context, text)) ?? asItIs;
  return (await byPrefix(context, command, text, names)) ?? asItIs;
}

/**
 * Returns why the run is not interactive; undefined if it is interactive. If ids come from stdin, it is enough that
 * stdout and stderr are TTYs.
 */
function whyNoTerminal(
  { interactive, io, settings }: Context,
  givenTexts: readonly string[],
): string | undefined {
  if (interactive.yes) return undefined;
  const readsIds = givenTexts.includes('-') && io.stdout.isTerminal && io.stderr.isTerminal;
  return readsIds && settings.noInput === undefined ? undefined : interactive.why;
}

const mayBeUuid = (text: string): boolean => /^[\da-f]{1,8}(?:-[\da-f-]{0,27})?$/i.test(text);

async function byPrefix(
  context: Context,
  command: AnyCommand,
  text: string,
  names: readonly RecordKind[],
): Promise<Found | undefined> {
  if (names.includes('batches') && isUpload(context.settings, text)) return undefined;
  const uuidsOnly = names.every((name) => kinds[name].isUuid);
  const sought = mayBeUuid(text) ? text.toLowerCase() : text;
  if (uuidsOnly && !mayBeUuid(text)) return undefined;
  const what = oneOf(names);
  if (sought.length < minPrefixLength) {
    if (!uuidsOnly) return undefined;
    throw new UsageError(
      `${what} "${text}" is too short: give at least ${minPrefixLength} characters of its id, or the number of its row as @1`,
    );
  }
  const found =
    (await inLastList(context, names, sought)) ??
    (await onThisMachine(context, names, sought)) ??
    (await atTheService(context, command, names, sought));
  if (found === undefined) {
    if (!uuidsOnly) return undefined;
    const where = asksService(context, command, names) ? 'here or at the service' : 'that this machine knows';
    throw new ErrandError('not_found', `no ${what} ${where} begins with ${text}`, {
      outcome: 'not_sent',
      hint: `\`${listOf(names)} -o id\` prints whole ids.`,
    });
  }
  if (found.has(sought)) return undefined;
  const [[id, label] = ['', ''], ...more] = found;
  if (more.length === 0) return { value: id, description: `${what} ${id}${label && ` (${label})`}` };
  const shown = [...found.keys()].slice(0, 5).join(', ');
  const rest = found.size > 5 ? ` and ${found.size - 5} more` : '';
  const [first = 'orders'] = names;
  throw new UsageError(
    `${text} is the beginning of ${found.size} ${kinds[first].several}: ${shown}${rest}; give more of it`,
  );
}

/** Descriptions, keyed by id. Undefined if there are none. */
type Matches = ReadonlyMap<string, string> | undefined;

const matches = (found: readonly (readonly [string, string])[]): Matches => {
  const ids = found.filter(([id]) => idPattern.test(id));
  return ids.length === 0 ? undefined : new Map(ids);
};

async function inLastList(context: Context, names: readonly RecordKind[], sought: string): Promise<Matches> {
  const list = await listNow(context);
  if (typeof list === 'string' || !names.some((name) => name === list.kind)) return undefined;
  return matches(
    list.rows.flatMap((row): [string, string][] =>
      row?.id.toLowerCase().startsWith(sought.toLowerCase()) ? [[row.id, row.label]] : [],
    ),
  );
}

async function onThisMachine(
  { settings }: Context,
  names: readonly RecordKind[],
  sought: string,
): Promise<Matches> {
  const { baseUrl, apiKey, folders } = settings;
  const known = {
    settings: { service: { baseUrl: baseUrl.value, apiKey: apiKey?.value } },
    stateDir: folders.state,
  };
  const found: [string, string][] = [];
  for (const name of names) {
    const { source } = kinds[name];
    if (source === undefined) continue;
    for (const { value, text = '' } of await recordsWithPrefix(source, sought, known))
      found.push([value, text]);
  }
  return matches(found);
}

/** Whether the service may be queried. It may be queried only if the command needs a key anyway. */
const asksService = (
  { previewsReads }: Context,
  { operations: called = [] }: AnyCommand,
  names: readonly RecordKind[],
): boolean =>
  !previewsReads &&
  (names.includes('orders') || names.includes('returns')) &&
  called.length > 0 &&
  called.every((name) => operations[name].auth === 'bearer');

/** Maximum number of records to request. Ids that share an eight-character prefix are far fewer. */
const maxRequested = 100;

/**
 * Both filters match text anywhere in an id and in other fields, so keep only records whose id starts with the prefix.
 */
async function atTheService(
  context: Context,
  command: AnyCommand,
  names: readonly RecordKind[],
  sought: string,
): Promise<Matches> {
  if (!asksService(context, command, names)) return undefined;
  const client = await context.client();
  const rows = names.includes('orders')
    ? objectsIn(
        (await client.call('order.list', { query: { order_id: sought, limit: maxRequested } })).body,
        'orders',
      )
    : objectsIn(
        (await client.call('return.list', { query: { search: sought, limit: maxRequested } })).body,
        'return_requests',
      );
  return matches(
    rows.flatMap((row): [string, string][] => {
      const id = textIn(row, 'id')?.toLowerCase() ?? '';
      return id.startsWith(sought) ? [[id, textIn(row, 'status') ?? '']] : [];
    }),
  );
}
