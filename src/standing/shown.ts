import { numberIn, objectsIn, own, textIn } from '../api/json.ts';
import type { Output } from '../api/outputs/index.ts';
import type { Column } from '../format/result.ts';
import { absentAsNull, changesText, differences } from '../orders/compare.ts';
import { stateOfOrder } from '../orders/order-record.ts';
import type { Body } from '../orders/submit/intent.ts';
import { ErrandError, stopOf } from '../platform/errors.ts';
import { safeText } from '../platform/redact/safe-text.ts';
import type { Context } from '../run/context.ts';
import { moneyOf } from '../spending/money-of-order.ts';
import { type Day, dateText, dayAt, dueAt, nextDates } from './cadence.ts';
import type { CountedEntry } from './counting.ts';
import type { StandingEntry } from './entries.ts';
import type { KnownEntry } from './memory.ts';
import type { DateOrder } from './orders.ts';
import { foreignOrder, listSince, planDates, type Verdict } from './plan.ts';
import { doubtfulDates, ordersOfEntry } from './requests.ts';
import { isoMinute, scheduleFieldsOf } from './schedule-fields.ts';

type Entry = Omit<Output<'StandingOrder'>, 'next'>;

/** Maximum number of coming dates to show. */
const maxNext = 5;

/**
 * Converts an entry to the record that every command prints. Pure.
 * @param now is in ms since the epoch.
 * @param orders are the entry's orders, if known.
 */
export function shownEntry(
  entry: StandingEntry,
  file: string,
  now: number,
  orders?: readonly DateOrder[],
): Entry {
  const { name, id, schedule, skipped, isPaused, agreement, since, version, order } = entry;
  const { every, starts, dates, at, time_zone, ends, late, count } = scheduleFieldsOf(entry);
  const next = comingDates(entry, now, orders);
  return {
    ...{ name, id, file, version, count: count ?? null, live: agreement !== undefined },
    every: every ?? null,
    starts: starts ?? null,
    dates: [...(dates ?? [])],
    ...{ at, time_zone, ends: ends ?? null, late },
    skip: skipped.map(dateText),
    state: isPaused ? 'paused' : next.length === 0 ? 'ended' : 'active',
    since: since === undefined ? null : new Date(since).toISOString(),
    next_dates: next.map((day) => ({
      date: dateText(day),
      due_at: new Date(dueAt(schedule, day)).toISOString(),
      due: dueAt(schedule, day) <= now,
    })),
    products: objectsIn(order, 'products').flatMap((line) => textIn(line, 'url') ?? []),
    max_price: numberIn(order, 'max_price') ?? null,
  };
}

/**
 * Dates on which an entry will place an order, both due and future dates. A date is left out if there is an order for
 * it, live or taken back, or if a live order for a date close by replaces its order. If the orders are unknown, lists
 * all dates from today on.
 */
function comingDates(
  entry: StandingEntry,
  now: number,
  orders: readonly DateOrder[] | undefined,
): readonly Day[] {
  const { schedule, skipped, since = Number.NEGATIVE_INFINITY, isPaused } = entry;
  const start = dayAt(schedule.timeZone, Math.max(now, since));
  const spare = skipped.length + (orders?.length ?? 0) + 2;
  const dates = nextDates(schedule, start, maxNext + spare);
  if (!orders)
    return dates.filter((day) => dueAt(schedule, day) >= since && !skipped.includes(day)).slice(0, maxNext);
  const last = dates.at(-1);
  const until = last === undefined ? now : dueAt(schedule, last);
  const wanted: readonly Verdict[] = isPaused ? ['upcoming'] : ['place', 'waiting', 'upcoming'];
  return planDates(entry, { now, orders, closed: undefined, until })
    .filter(({ verdict }) => wanted.includes(verdict))
    .map(({ day }) => day)
    .slice(0, maxNext);
}

/**
 * Prints a note that lists the dates of an entry that are in doubt.
 * @param flags make a suggested command use the same file and service.
 */
export async function noteDoubt(context: Context, entry: StandingEntry, flags: string): Promise<void> {
  const dates = (await doubtfulDates(context, entry)).map(({ day }) => dateText(day));
  if (dates.length > 0)
    context.note(
      `what came of the order of ${entry.name} for ${dates.join(', ')} is not known; errand standing run${flags} settles that`,
    );
}

/** Describes in words when an entry recurs: `2w from 2026-12-01 at 07:30 Europe/Berlin`. */
export function scheduleText({ every, starts, dates, at, time_zone: zone, ends, count }: Entry): string {
  const when = every === null ? `on ${dates.join(', ')}` : `every ${every} from ${starts}`;
  const until = ends === null ? '' : `, until ${ends}`;
  return `${when}${until}${count === null ? '' : `, ${count} times`} at ${at} ${zone}`;
}

export const entryColumns: readonly Column<Entry>[] = [
  { name: 'name', path: 'name', weight: 10 },
  { name: 'state', path: 'state', kind: 'status', weight: 9, mood: moodOfState },
  {
    name: 'every',
    path: 'every',
    weight: 6,
    value: ({ every, dates }) => every ?? (listLength(dates) === 1 ? '1 date' : `${listLength(dates)} dates`),
  },
  {
    name: 'next',
    path: 'next_dates.0.date',
    weight: 8,
    value: ({ next_dates: next }) => shownNext(first(next)),
  },
  { name: 'ceiling', path: 'max_price', kind: 'money', weight: 5 },
];

const listLength = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

const first = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

/** Formats a future date as `2026-12-01`, and a due date as `2026-12-01 (due now)`. */
export const shownNext = (next: unknown): string | undefined =>
  own(next, 'due') === true ? `${textIn(next, 'date')} (due now)` : textIn(next, 'date');

function moodOfState({ state }: { readonly state?: unknown }) {
  return state === 'active' ? 'waiting' : 'past';
}

/** Orders of an entry, from the service and the journal. Undefined if they cannot be read. */
export async function ordersIfRead(
  context: Context,
  entry: StandingEntry,
): Promise<readonly DateOrder[] | undefined> {
  try {
    await context.ready();
    return await ordersOfEntry(context, entry);
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    context.note(`the orders of ${entry.name} cannot be read: ${error.message}`);
    return undefined;
  }
}

const lastOf = (orders: readonly DateOrder[]): DateOrder | undefined =>
  orders.filter(isMade).toSorted((a, b) => b.madeAt - a.madeAt)[0];

const isMade = ({ state }: DateOrder): boolean => state !== 'intended';

/** The latest order of an entry, as commands print it. */
export function shownLast(orders: readonly DateOrder[] | undefined): Output<'StandingOrderStatus'>['last'] {
  const last = lastOf(orders ?? []);
  if (!last) return null;
  return {
    order_id: last.id,
    date: dateText(last.day),
    state: safeText(stateOfOrder(last.order).text, 60),
    made_at: new Date(last.madeAt).toISOString(),
  };
}

/** Total cost of an entry's orders, in cents. Null if the total is unknown. */
export function spentOn(orders: readonly DateOrder[] | undefined): number | null {
  if (!orders) return null;
  const sums = orders.filter(isMade).flatMap(({ order }) => moneyOf(order, { feeCents: 0 }).sums);
  if (sums.some(({ currency }) => currency !== 'USD')) return null;
  return sums.reduce((total, { net }) => total + net, 0);
}

/** Describes how an edit by hand affects the schedule. */
export const editText = ({ editedAt, entry: { since = 0 } }: CountedEntry): readonly string[] =>
  editedAt === undefined
    ? []
    : [`the schedule was edited by hand; no date that was due before ${isoMinute(since)} comes in`];

/**
 * Describes how the next order differs from the last one, which dates are covered by orders for other dates, and
 * whether another machine has a different file. Pure.
 * @param body is the next order.
 * @param known is what this machine remembers about the entry.
 */
export function changesOf(
  entry: StandingEntry,
  body: Body,
  orders: readonly DateOrder[] | undefined,
  { now, known: { versions, closed } }: { readonly now: number; readonly known: KnownEntry },
): readonly string[] {
  if (!orders) return [];
  const since = listSince(entry, { now, closed });
  const foreign = foreignOrder(
    entry,
    orders.filter(({ madeAt }) => madeAt >= since),
    versions,
  );
  const last = lastOf(orders);
  const differing = last ? differences(body, absentAsNull(last.order)) : [];
  const [next] = comingDates(entry, now, orders);
  const until = next === undefined ? now : dueAt(entry.schedule, next);
  const planned = planDates(entry, { now, orders, closed: undefined, until });
  const covered = planned.filter(({ verdict, isOver }) => verdict === 'covered' && !isOver);
  const waiting = planned.filter(({ verdict }) => verdict === 'unsettled').map(({ day }) => dateText(day));
  const doubtful = orders.filter((one) => !isMade(one)).map(({ day }) => dateText(day));
  return [
    ...(foreign
      ? [
          `a run orders nothing, since another machine has another file: the order for ${dateText(foreign.day)} was placed for version ${foreign.version}, and this is ${entry.version}`,
        ]
      : []),
    ...differing
      .filter(({ field, isVariant }) => !isVariant && !field.startsWith('metadata'))
      .map((one) => changesText([one])),
    ...doubtful.map(
      (date) =>
        `${date} is in doubt, and a run settles it${waiting.length === 0 ? '' : `; ${waiting.join(', ')} waits for that`}`,
    ),
    ...covered.map(
      ({ day, order }) =>
        `${dateText(day)} is not bought: the dates have moved, and ${order ? dateText(order.day) : 'another'} was bought`,
    ),
  ];
}
