import { z } from 'zod';
import { batchRowStatuses, orderStatuses } from '../enums.ts';
import { count, facts, flag, id, own, served, text, time, url, whole } from './fields.ts';

const at = time.describe('when it was seen');

/** Lines that any watch may print between its first and its last line. */
const interruptions = [
  own({ type: z.literal('gap'), message: text, at }),
  own({ type: z.literal('reconnected'), gap_ms: z.number(), at }),
] as const;

const verdict = z.enum(['waiting', 'reached', 'failed']);
const watchSummary = own({
  type: z.literal('summary'),
  reached: count,
  failed: count,
  waiting: count,
  requests: count,
  elapsed_ms: z.number(),
  at,
});

export const OrderWatchEvent = z.discriminatedUnion('type', [
  own({ type: z.literal('ready'), orders: count, until: text, at }),
  own({ type: z.literal('change'), order: served('OrderResponse'), verdict, at }),
  ...interruptions,
  watchSummary,
]);

export const ReturnWatchEvent = z.discriminatedUnion('type', [
  own({ type: z.literal('ready'), returns: count, until: text, at }),
  own({ type: z.literal('change'), return: served('ReturnRequest'), verdict, at }),
  ...interruptions,
  watchSummary,
]);

export const BatchWatchEvent = z.discriminatedUnion('type', [
  own({ type: z.literal('ready'), batches: count, at }),
  z
    .looseObject({
      type: z.literal('row'),
      batch_id: id,
      row: whole.optional().describe('its number in the file, where this machine knows it'),
      index: count.nullish(),
      status: z.union([z.enum(batchRowStatuses), text]).nullish(),
      order_id: id.nullish(),
      order_status: z.union([z.enum(orderStatuses), text]).nullish(),
      error: text.nullish(),
      recipient: text.nullish(),
      product_urls: z.array(url).nullish(),
      passthrough: z
        .record(text, text)
        .nullish()
        .describe('the columns of the file that are no part of an order'),
      at,
    })
    .describe("a row that has changed: the service's own record of it, which may come to have more fields"),
  ...interruptions,
  own({
    type: z.literal('summary'),
    rows: count,
    ordered: count,
    refused: count,
    waiting: count,
    placed: count,
    failed: count,
    withdrawn: count.describe('rows whose order was cancelled on request, or returned whole'),
    under_way: count,
    before: count,
    since: count.describe(
      'rows that failed or were withdrawn, and were ordered since by another batch or order',
    ),
    unknown: count,
    open: count.describe('batches that go on'),
    unsent: count.describe('rows that were not sent yet'),
    elapsed_ms: z.number(),
    at,
  }),
]);

const Forwarded = {
  url,
  delivered: flag,
  status: whole.nullable(),
  attempts: count,
  message: text.nullable(),
  at: time,
};
const Executed = { exit_code: whole.nullable(), message: text.nullable(), at: time };

const event = {
  id: whole,
  event: text.nullable(),
  order_id: id.nullable(),
  status: text.nullable(),
  error_type: text.nullable(),
  received_at: time,
  profile: text,
  base_url: url,
  headers: z.record(text, text),
  body: facts,
};

/** A received event, as stored. */
export const StoredEvent = own({
  ...event,
  last_received_at: time,
  deliveries: count.describe('how often it came: delivery is at least once'),
  forward: own(Forwarded).nullable(),
  exec: own(Executed).nullable(),
});

/** An event as received. */
export const ReceivedEvent = own({
  type: z.literal('event'),
  ...event,
  verified: flag.optional(),
  message: text.optional(),
});

export const ListenRecord = z.discriminatedUnion('type', [
  own({ type: z.literal('ready'), url, secret: text }),
  ReceivedEvent,
  own({ type: z.literal('forward'), id: whole, ...Forwarded }),
  own({ type: z.literal('exec'), id: whole, ...Executed }),
  own({ type: z.literal('gap'), message: text }),
  own({
    type: z.literal('summary'),
    received: count,
    stored: count,
    duplicates: count,
    shown: count,
    forwarded: count,
    failed: count,
    ended: z.enum(['max', 'timeout', 'interrupted']),
  }),
]);

export const ReplayedEvent = own({
  id: whole,
  event: text.nullable(),
  order_id: id.nullable(),
  ...Forwarded,
});

const reachable = {
  base_url: url,
  legacy_base_url: url,
  shop_url: url,
  pid: whole,
  keys: z
    .array(own({ name: text, api_key: text }))
    .optional()
    .describe('of --scenario, in its order'),
};

export const ServedSandbox = own(reachable);

export const ServeEvent = z.discriminatedUnion('type', [
  own({ type: z.literal('ready'), ...reachable }),
  own({
    type: z.literal('summary'),
    requests: count,
    errors: count,
    kept_in: text.nullable().describe('the folder; null with --memory'),
    elapsed_ms: z.number(),
  }),
]);
