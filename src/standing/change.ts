import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap } from 'yaml';
import type { JsonObject } from '../api/json.ts';
import { UsageError } from '../platform/errors.ts';
import { type Day, dateText } from './cadence.ts';
import type { StandingEntry } from './entries.ts';

/**
 * Sets fields of an entry. A field with the value undefined is removed. A field that does not change keeps its notation
 * in the file.
 */
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

/**
 * Records the time from which the dates of an entry count, and the schedule for which that time was set.
 * @param since is that time, in ms since the epoch.
 */
export function setSince(
  document: Document,
  { name, scheduleVersion }: Pick<StandingEntry, 'name' | 'scheduleVersion'>,
  since: number,
): void {
  document.setIn(['orders', name, 'since'], new Date(since).toISOString());
  document.setIn(['orders', name, 'since_schedule'], scheduleVersion);
}

/** Adds dates to the skipped dates of an entry. */
export function addSkipped(
  document: Document,
  { name, skipped }: Pick<StandingEntry, 'name' | 'skipped'>,
  days: readonly Day[],
): void {
  const all = [...new Set([...skipped, ...days])].toSorted((a, b) => a - b);
  if (all.length === skipped.length) return;
  document.setIn(['orders', name, 'skip'], document.createNode(all.map(dateText), { flow: true }));
}

/** Maximum number of former versions that the file lists. */
const maxFormer = 8;

/** Adds a version to the former versions of an entry. */
export function addFormer(document: Document, { name, former }: StandingEntry, version: string): void {
  const others = former.filter((one) => one !== version);
  const list = document.createNode([...others.slice(1 - maxFormer), version], { flow: true });
  document.setIn(['orders', name, 'former'], list);
}
