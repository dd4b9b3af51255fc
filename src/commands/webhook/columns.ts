import { own } from '../../api/json.ts';
import { orderState, type ShownState } from '../../api/order-state.ts';
import type { Unchecked } from '../../api/received.ts';
import { plainText } from '../../format/path.ts';
import type { Column } from '../../format/result.ts';
import { maskAddress } from '../../integrations/webhooks/listener.ts';
import type { StoredEvent } from '../../journal/events.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

/** Columns of an event, for every format. */
export const eventColumns: readonly Column<StoredEvent>[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'events', weight: 10 },
  { name: 'received', path: 'received_at', kind: 'time', isLocal: true, weight: 7 },
  { name: 'event', path: 'event', kind: 'status', weight: 9 },
  { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 8 },
  { name: 'status', path: 'status', kind: 'status', weight: 8 },
  { name: 'error', path: 'error_type', weight: 6 },
  { name: 'deliveries', path: 'deliveries', kind: 'count', weight: 2 },
  { name: 'forwarded', path: 'forward.delivered', kind: 'flag', weight: 5 },
  { name: 'command', path: 'exec.exit_code', kind: 'count', weight: 4 },
];

/** Builds a column that shows a state as a status. The column is empty for an event without that state. */
const stateColumn = (
  name: string,
  weight: number,
  stateOf: (event: Unchecked<StoredEvent>) => ShownState | undefined,
): Column<StoredEvent> => ({
  name,
  path: name,
  kind: 'status',
  weight,
  value: (event) => stateOf(event)?.text,
  mood: (event) => stateOf(event)?.mood,
});

/** State of the order. */
const state = stateColumn('state', 9, stateOfEvent);
/** Result of forwarding or running a command. */
const then = stateColumn('then', 8, actedOn);

/** Event columns on a TTY. */
const eventScreen: readonly Column<StoredEvent>[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'events', weight: 10 },
  state,
  { name: 'event', path: 'event', weight: 7 },
  { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 8 },
  { name: 'received', path: 'received_at', kind: 'time', isLocal: true, weight: 6 },
];

/** State of the order that an event reports. Undefined if the event reports none. */
export function stateOfEvent({
  status,
  error_type: errorType,
  body,
}: Unchecked<StoredEvent>): ShownState | undefined {
  if (typeof status !== 'string') return undefined;
  return orderState({
    status,
    errorType,
    items: own(body, 'items'),
    parcels: own(body, 'tracking_numbers'),
    fulfillment: own(body, 'fulfillment'),
  });
}

/** Result of forwarding an event, or of running a command for it. Undefined if neither was requested. */
function actedOn({ forward, exec }: Unchecked<StoredEvent>): ShownState | undefined {
  if (own(forward, 'delivered') === false) return { text: 'not forwarded', mood: 'bad' };
  const code = own(exec, 'exit_code');
  if (own(exec, 'at') !== undefined && code !== 0)
    return { text: code === null ? 'command failed' : `command: exit ${plainText(code)}`, mood: 'bad' };
  if (own(forward, 'delivered') === true) return { text: 'forwarded', mood: 'good' };
  return code === 0 ? { text: 'command ran', mood: 'good' } : undefined;
}

/**
 * Column sets for a list of events. On a TTY, they include the result of forwarding or running a command if any event
 * has one.
 */
export const eventList = (hasActed: boolean) => ({
  columns: eventColumns,
  screen: hasActed ? [...eventScreen, then] : eventScreen,
});

/** Whether an event had to be forwarded or had to trigger a command. */
export const isActedOn = (event: StoredEvent): boolean => actedOn(event) !== undefined;

/** Columns for the detail view of one event. */
export const eventDetailColumns: readonly Column<StoredEvent>[] = [
  ...eventColumns,
  { name: 'sent to', path: 'forward.url' },
  { name: 'attempts', path: 'forward.attempts', kind: 'count' },
  { name: 'response', path: 'forward.message' },
  { name: 'service', path: 'base_url' },
  { name: 'profile', path: 'profile' },
  { name: 'body', path: 'body' },
];

/** Columns for one event, in scripts and on a TTY. */
export const eventView = {
  columns: eventDetailColumns,
  screen: eventDetailColumns.flatMap((column) =>
    column.name === 'status' ? [state] : column.name === 'error' ? [] : [column],
  ),
} as const;

/**
 * Makes a stored event safe to display. Masks the address to which it was forwarded, because that address may hold a
 * secret.
 */
export const shownEvent = (event: StoredEvent): StoredEvent => ({
  ...event,
  forward: event.forward && { ...event.forward, url: maskAddress(event.forward.url) },
});

/**
 * Reads event ids from the arguments; `-` reads stdin, one per line. Drops duplicates.
 * @throws UsageError naming what is not an id.
 */
export async function readEventIds(context: Context, given: readonly string[]): Promise<number[]> {
  const ids = new Set<number>();
  for (const text of given) {
    if (text === '-') for (const line of await context.readLines()) ids.add(checked(line.text, line.number));
    else ids.add(checked(text));
  }
  return [...ids];
}

function checked(text: string, line?: number): number {
  if (/^[1-9]\d{0,14}$/.test(text.trim())) return Number(text);
  const place = line === undefined ? '' : ` (stdin, line ${line})`;
  throw new UsageError(
    `event id "${text}"${place} is not a number; \`errand webhook events -o id\` prints them`,
  );
}
