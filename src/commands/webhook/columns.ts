import type { Column } from '../../output/result.ts';
import type { StoredEvent } from '../../state/events.ts';
import { maskAddress } from '../../webhooks/secret.ts';

/** An event's columns, for every format. */
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

/** What a person wants of one event, line by line. */
export const eventDetailColumns: readonly Column<StoredEvent>[] = [
  ...eventColumns,
  { name: 'sent to', path: 'forward.url' },
  { name: 'attempts', path: 'forward.attempts', kind: 'count' },
  { name: 'response', path: 'forward.message' },
  { name: 'service', path: 'base_url' },
  { name: 'profile', path: 'profile' },
  { name: 'body', path: 'body' },
];

/** A stored event as it may be shown: the address it was sent on to may hold a secret. */
export const shownEvent = (event: StoredEvent): StoredEvent => ({
  ...event,
  forward: event.forward && { ...event.forward, url: maskAddress(event.forward.url) },
});
