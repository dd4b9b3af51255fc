import { randomBytes } from 'node:crypto';
import { isMap } from 'yaml';
import { isObject, type JsonObject } from '../api/json.ts';
import { canonicalJson, sha256 } from '../format/canonical.ts';
import { checkCents } from '../format/parse-document.ts';
import { type Location, YamlTree } from '../format/yaml-tree.ts';
import { parseDuration } from '../platform/duration.ts';
import { UsageError } from '../platform/errors.ts';
import { zoneNamed } from '../spending/policy/policy.ts';
import { type Day, dateText, dayOf, parseCadence, type Schedule } from './cadence.ts';

/** A standing order as its file defines it: an order to place on each date of a schedule. */
export interface StandingEntry {
  /** Name of the entry, for people; unique in its file. */
  readonly name: string;
  /** Random id. It is part of the references of the entry's orders, so it must stay the same if the name changes. */
  readonly id: string;
  readonly schedule: Schedule;
  /** How long, in ms, a date can still be bought after its due time. */
  readonly lateMs: number;
  /** Dates on which nothing is bought. */
  readonly skipped: readonly Day[];
  readonly isPaused: boolean;
  /**
   * Who agreed that the orders of the entry spend real money. This is either a person who typed yes, or the policy, for
   * as long as the policy limits spending.
   */
  readonly agreement: 'typed' | 'policy' | undefined;
  /**
   * Time from which dates count, in ms since the epoch by the service's clock. A date that was due earlier is never
   * bought.
   */
  readonly since: number | undefined;
  /** Short hash of the schedule for which `since` was written. Undefined if the file does not contain the hash. */
  readonly sinceSchedule: string | undefined;
  /** Short hash of the id and the current schedule. */
  readonly scheduleVersion: string;
  /** Earlier versions of the entry. */
  readonly former: readonly string[];
  /** The order, in the notation of an order file. */
  readonly order: JsonObject;
  /** Short hash of the order, the schedule and the allowed delay. */
  readonly version: string;
  /** Position of the entry in its file: `standing.yaml, line 3, column 3`. */
  readonly position: string;
}

export const entryFields = [
  'id',
  'every',
  'dates',
  'starts',
  'at',
  'time_zone',
  'ends',
  'count',
  'late',
  'skip',
  'paused',
  'live',
  'since',
  'since_schedule',
  'former',
  'order',
] as const;

/** Default values of fields that the file omits. */
export const entryDefaults = { at: '00:00', time_zone: 'UTC', late: '1d' } as const;

export const idPattern = /^[0-9a-f]{12}$/;
export const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const versionPattern = /^[0-9a-f]{12}$/;

/** Maximum delay, in days, after which a date can still be bought. */
export const maxLateDays = 60;
const minLateMs = 3600 * 1000;
export const maxDates = 1000;

/**
 * Parses the text of a file of standing orders. Ignores nothing.
 * @throws UsageError for anything that it does not understand, naming the file, line, column and key.
 */
export function readEntries(file: string, text: string): readonly StandingEntry[] {
  if (text.trim() === '') return [];
  const tree = new YamlTree(file, text, {
    whole: 'a file of standing orders is a map: version: 1, orders: …',
    hasColumns: true,
  });
  tree.refuseAliases();
  const { version, orders } = tree.fields(tree.root, ['version', 'orders']);
  if (!version) throw tree.refused(tree.root, 'version: 1 is missing');
  if (tree.text(version) !== '1')
    throw tree.refused(version, `is ${tree.text(version)}; this errand knows version 1`);
  const entries = orders ? tree.pairs(orders).map(({ key, value }) => readEntry(tree, key, value)) : [];
  tree.refuseRewritten();
  const ids = new Map<string, string>();
  for (const { id, name, position } of entries) {
    const other = ids.get(id);
    if (other !== undefined)
      throw new UsageError(
        `${position}: ${name} has the id of ${other}; give it another, such as ${newId()}, and leave its since and since_schedule as they are: no date that is past comes in then`,
      );
    ids.set(id, name);
  }
  return entries;
}

interface Key {
  readonly text: string;
  readonly location: Location;
}

function readEntry(tree: YamlTree, { text: name, location: at }: Key, location: Location): StandingEntry {
  if (!namePattern.test(name))
    throw tree.refused(
      at,
      `"${name}" cannot name a standing order: letters, digits, . _ - only, at most 64, a letter or digit first`,
    );
  const fields = tree.fields(location, entryFields);
  const { id, order, late, skip, paused, live, since, since_schedule: stamp, former } = fields;
  if (!id) throw tree.refused(location, `has no id; give it a random one, such as id: "${newId()}"`);
  if (!order) throw tree.refused(location, 'has no order: what is bought, as in an order file');
  const plain = tree.plain(order);
  if (!isObject(plain)) throw tree.refused(order, 'takes a map, as an order file has it');
  const price = isMap(order.node) ? order.node.get('max_price', true) : undefined;
  checkCents(tree.positionOf({ node: price, path: '' }), `${order.path}.max_price`, price);
  for (const field of ['reference', 'namespace', 'idempotency_key'] as const)
    if (Object.hasOwn(plain, field))
      throw tree.refused(order, `has ${field}, and the reference follows from the entry's id and the date`);
  const schedule = readSchedule(tree, location, fields);
  const terms = {
    order: plain,
    schedule,
    lateMs: late ? readLate(tree, late) : parseDuration(entryDefaults.late, 'late'),
  };
  const plainId = readPattern(tree, id, idPattern, `12 hexadecimal digits in quotes, such as "${newId()}"`);
  return {
    ...terms,
    skipped: skip ? readDates(tree, skip) : [],
    name,
    id: plainId,
    isPaused: paused ? tree.choice(paused, ['true', 'false']) === 'true' : false,
    agreement: live ? agreements[tree.choice(live, ['true', 'false', 'policy'])] : undefined,
    since: since ? readMoment(tree, since) : undefined,
    sinceSchedule: stamp ? readPattern(tree, stamp, versionPattern, 'a version in quotes') : undefined,
    scheduleVersion: shortHash({ id: plainId, schedule: terms.schedule, lateMs: terms.lateMs }),
    former: former
      ? tree.list(former).map((one) => readPattern(tree, one, versionPattern, 'a version in quotes'))
      : [],
    // Never change how this hash is computed, because orders at the service contain it.
    version: shortHash(terms),
    position: tree.positionOf(at),
  };
}

const shortHash = (value: unknown): string => sha256(canonicalJson(value)).slice(0, 12);

const agreements = { true: 'typed', false: undefined, policy: 'policy' } as const;

/** A random id for an entry. */
export const newId = (): string => randomBytes(6).toString('hex');

type Fields = Partial<Record<(typeof entryFields)[number], Location>>;

function readSchedule(tree: YamlTree, location: Location, fields: Fields): Schedule {
  const { every, dates, starts, at, time_zone: zone, ends, count } = fields;
  if (every && dates) throw tree.refused(dates, 'and every exclude each other; give one');
  if (!every && !dates)
    throw tree.refused(location, 'says not when: give it every (1d, 2w, 1mo) and starts, or dates');
  if (every && !starts) throw tree.refused(location, 'has no starts: the first date, such as 2026-12-01');
  if (dates && (starts ?? ends ?? count))
    throw tree.refused(starts ?? ends ?? count ?? dates, 'is for an order with every; dates say it all');
  const cadence = every && parseCadence(tree.text(every, 'a cadence, such as 1d, 2w or 1mo'));
  if (every && !cadence)
    throw tree.refused(every, `takes a cadence such as 1d, 2w or 1mo, not "${tree.text(every)}"`);
  const first = starts && readDay(tree, starts);
  const last = ends && readDay(tree, ends);
  if (ends && first !== undefined && last !== undefined && last < first)
    throw tree.refused(ends, `is before starts, ${dateText(first)}`);
  return {
    recurs: cadence && first !== undefined ? { starts: first, cadence } : undefined,
    dates: dates ? readDates(tree, dates) : [],
    ends: last,
    count: count && readCount(tree, count),
    atMinute: readTime(tree, at),
    timeZone: zone ? readZone(tree, zone) : entryDefaults.time_zone,
  };
}

/** Accepted dates, as days since 1970-01-01. A date outside this range is considered a mistake. */
const [firstYear, yearAfter] = [Date.UTC(2000, 0) / 86_400_000, Date.UTC(2200, 0) / 86_400_000];

function readDay(tree: YamlTree, location: Location): Day {
  const text = tree.text(location, 'a date, such as 2026-12-01');
  const day = dayOf(text);
  if (day === undefined) throw tree.refused(location, `takes a date such as 2026-12-01, not "${text}"`);
  if (day < firstYear || day >= yearAfter)
    throw tree.refused(location, `takes a date from 2000-01-01 to 2199-12-31, not ${text}`);
  return day;
}

function readDates(tree: YamlTree, location: Location): readonly Day[] {
  const days = tree.list(location).map((one) => readDay(tree, one));
  if (days.length > maxDates) throw tree.refused(location, `has ${days.length} dates; at most ${maxDates}`);
  const sorted = [...new Set(days)].toSorted((a, b) => a - b);
  if (sorted.length < days.length) throw tree.refused(location, 'has a date twice');
  return sorted;
}

function readCount(tree: YamlTree, location: Location): number {
  const text = tree.text(location, 'a whole number');
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw tree.refused(location, `takes a whole number from 1 to 9999, not "${text}"`);
}

function readTime(tree: YamlTree, location: Location | undefined): number {
  const text = location ? tree.text(location, 'a time of day, such as "07:30"') : entryDefaults.at;
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours !== undefined) return Number(hours) * 60 + Number(minutes);
  throw location
    ? tree.refused(location, `takes a time of day such as "07:30", not "${text}"`)
    : new Error(`the default time of day is ${text}`);
}

function readZone(tree: YamlTree, location: Location): string {
  const zone = tree.text(location, 'a time zone, such as Europe/Berlin');
  // Return the name as the user wrote it. Releases of ICU normalize names differently, but the name is part of the hash
  // of the entry's version.
  if (zoneNamed(zone) !== undefined) return zone;
  throw tree.refused(location, `takes a time zone such as Europe/Berlin, not "${zone}"`);
}

/**
 * Validates a time zone typed by the user.
 * @throws UsageError if the zone is unknown.
 */
export function readableZone(zone: string): string {
  if (zoneNamed(zone) !== undefined) return zone;
  throw new UsageError(
    `--time-zone takes a time zone such as Europe/Berlin, not "${zone}"; nothing was changed`,
  );
}

function readLate(tree: YamlTree, location: Location): number {
  const text = tree.text(location, 'a length of time, such as 2d');
  try {
    const ms = parseDuration(text, 'it', maxLateDays);
    if (ms >= minLateMs) return ms;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw tree.refused(
      location,
      `takes a length of time from 1h to ${maxLateDays}d, such as 12h or 2d, not "${text}"`,
    );
  }
  throw tree.refused(location, `is ${text}; at least 1h, since what runs the orders may be late itself`);
}

function readMoment(tree: YamlTree, location: Location): number {
  const text = tree.text(location, 'a time, such as 2026-12-01T09:00:00Z');
  const moment = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse accepts 31 February and returns a day in March.
  if (!Number.isNaN(moment) && dayOf(text.slice(0, 10)) !== undefined) return moment;
  throw tree.refused(location, `takes a time such as 2026-12-01T09:00:00Z, not "${text}"`);
}

function readPattern(tree: YamlTree, location: Location, pattern: RegExp, takes: string): string {
  const text = tree.text(location, takes);
  if (pattern.test(text)) return text;
  throw tree.refused(location, `takes ${takes}, not "${text}"`);
}
