import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap } from 'yaml';
import type { JsonObject } from '../api/json.ts';
import { UsageError } from '../platform/errors.ts';
import type { Options } from '../run/option.ts';
import type { StandingEntry } from './entries.ts';

/** Options that say when an entry is bought, as `add` and `edit` take them. */
export const scheduleOptions = {
  every: { kind: 'text', placeholder: 'cadence', description: 'how often: 1d, 2w, 1mo', group: 'Schedule' },
  starts: {
    kind: 'text',
    placeholder: 'date',
    description: 'first date, such as 2026-12-01 (default: tomorrow)',
    group: 'Schedule',
  },
  dates: {
    kind: 'list',
    placeholder: 'dates',
    description: 'the dates, in place of --every',
    group: 'Schedule',
  },
  at: {
    kind: 'text',
    placeholder: 'time',
    description: 'local time of day (default 00:00)',
    group: 'Schedule',
  },
  timeZone: {
    kind: 'text',
    placeholder: 'zone',
    description: 'such as Europe/Berlin (default UTC)',
    group: 'Schedule',
  },
  ends: { kind: 'text', placeholder: 'date', description: 'last date', group: 'Schedule' },
  count: {
    kind: 'integer',
    min: 1,
    max: 9999,
    description: 'number of dates, from --starts',
    group: 'Schedule',
  },
  late: {
    kind: 'text',
    placeholder: 'duration',
    description: 'how late a date is still bought, such as 2d (default 1d)',
    group: 'Schedule',
  },
} as const satisfies Options;

type Given = {
  readonly [K in keyof typeof scheduleOptions]?: string | number | readonly string[] | undefined;
};

/** The fields of an entry that options set, as its file has them. */
export function scheduleFields({ timeZone, ...given }: Given): Readonly<Record<string, unknown>> {
  const fields = Object.keys(scheduleOptions).flatMap((key) => {
    const value = key === 'timeZone' ? timeZone : given[key as keyof typeof given];
    return value === undefined ? [] : [[key === 'timeZone' ? 'time_zone' : key, value] as const];
  });
  return Object.fromEntries(fields);
}

/** Sets or removes (undefined) fields of an entry. What is equal already stays as it is written. */
export function setFields(
  document: Document,
  path: readonly string[],
  before: JsonObject,
  after: Readonly<Record<string, unknown>>,
): void {
  for (const [name, value] of Object.entries(after)) {
    if (isDeepStrictEqual(before[name], value)) continue;
    if (value === undefined) document.deleteIn([...path, name]);
    else document.setIn([...path, name], document.createNode(value));
  }
}

/** Adds an entry at the end of the file. @throws UsageError if its name is taken. */
export function addEntry(
  document: Document,
  entries: readonly StandingEntry[],
  name: string,
  fields: Readonly<Record<string, unknown>>,
): void {
  if (entries.some((entry) => entry.name === name))
    throw new UsageError(`there is a standing order ${name} already; nothing was changed`, {
      hint: 'Take another name, or change that one with `errand standing edit`.',
    });
  if (!isMap(document.get('orders'))) document.set('orders', document.createNode({}));
  document.setIn(['orders', name], document.createNode(fields));
  const orders = document.get('orders');
  if (isMap(orders)) orders.flow = false;
}

/** Maximum number of former versions that the file lists. */
const maxFormer = 8;

/** Lists a version as a former one of an entry. */
export function addFormer(document: Document, { name, former }: StandingEntry, version: string): void {
  const others = former.filter((one) => one !== version);
  const list = document.createNode([...others.slice(1 - maxFormer), version], { flow: true });
  document.setIn(['orders', name, 'former'], list);
}
