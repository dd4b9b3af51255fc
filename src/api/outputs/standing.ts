import { z } from 'zod';
import { cents, count, facts, flag, id, nextSteps, own, text, time, whole } from './fields.ts';

const day = z.iso.date();
const version = z.string().regex(/^[0-9a-f]{12}$/);

/** What happened on a date, or what is planned for it. */
const dateOutcomes = [
  'placed',
  'existed',
  'would_place',
  'waiting',
  'bought',
  'upcoming',
  'skipped',
  'covered',
  'withdrawn',
  'failed',
  'missed',
  'refused',
  'conflict',
  'unknown',
] as const;

const dateFields = {
  name: text,
  id: id.describe('of the standing order'),
  date: day.describe('in its time zone'),
  due_at: time.nullable().describe('null where its standing order is gone'),
};

export const StandingDate = own({
  ...dateFields,
  outcome: z.enum(dateOutcomes),
  reference: text.describe('the same on every machine'),
  order_id: id.nullable().describe('the order that the outcome is about'),
  max_price: cents,
  message: text.nullable(),
  exit_code: whole,
  next: nextSteps,
});

const entryFields = {
  name: text,
  id: id.describe('its references begin with it'),
  file: text,
  every: text.nullable().describe('null where the dates are listed'),
  starts: day.nullable(),
  dates: z.array(day).describe('empty where it recurs'),
  at: text.describe('local time of day'),
  time_zone: text,
  ends: day.nullable(),
  count: count.nullable(),
  late: text,
  skip: z.array(day),
  state: z.enum(['active', 'paused', 'ended', 'removed']),
  live: flag.describe('whether it may spend real money'),
  since: time.nullable().describe('no date that was due before is bought'),
  version: version.describe('short hash of what is bought and when'),
  next_dates: z.array(
    own({ date: day, due_at: time, due: flag.describe('due now, and not bought as far as is known') }),
  ),
  products: z.array(text),
  max_price: cents.nullable(),
};

export const StandingOrder = own({ ...entryFields, next: nextSteps });

/** Orders that a standing order made, as the service lists them. */
const lastOrder = own({ order_id: id, date: day, state: text, made_at: time }).nullable();

export const StandingOrderStatus = own({
  ...entryFields,
  last: lastOrder.describe('null before the first, and where the service was not read'),
  orders: count.nullable().describe('live ones; null where the service was not read'),
  spent_cents: cents
    .nullable()
    .describe('charges less refunds and credits, without fees; null where that is not known'),
});

export const StandingOrderDetail = own({
  ...entryFields,
  last: lastOrder.describe('null before the first, and where the service was not read'),
  changes: z.array(text).describe('how the next order differs from the last'),
  former: z.array(version),
  order: facts.describe('as in an order file'),
});
