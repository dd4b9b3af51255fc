import { z } from 'zod';
import { amountUnits } from '../amount.ts';

/** Raised when a plan of an earlier version can no longer be applied. */
export const planVersion = 1;

const text = z.string();
const hex = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.iso.datetime();
const cents = z.int();
const count = z.int().min(0);

/** A product page, looked up once for all rows that name it. */
const PlannedProduct = z.strictObject({
  url: text,
  /** The destination that was asked about; null where the rows go to several. */
  country: text.nullable(),
  domain: text.nullable(),
  /** As the service names it; null for one that it does not know. */
  retailer: text.nullable(),
  orderable: z.boolean().nullable(),
  unsupported_reason: text.nullable(),
  ships_to: z.array(text).nullable(),
  /** Of one piece, in the minor unit of `currency`. */
  price: cents.min(0).nullable(),
  currency: text.nullable(),
  /** Why there is no price. */
  no_price: text.nullable(),
});

const PlannedRow = z.strictObject({
  /** Over the rest of the row's line, to tell which row was altered. */
  checksum: z.string().regex(/^[0-9a-f]{16}$/),
  /** As a spreadsheet shows it. */
  row: z.int().min(1),
  key: z.string().min(1).max(200),
  /** Under the headings of the plan, as they are sent. */
  cells: z.array(text),
  /** What the service is asked to order, in its canonical form. */
  order: z.looseObject({}),
  /** Hosts and names, as a policy knows them. */
  retailers: z.array(text),
  /** Of all its pieces, cents; null where one has no price in US dollars. */
  price_cents: cents.nullable(),
  /** What the ceiling has left above that price; less than 0 where it has not. */
  room_cents: cents.nullable(),
  /** Earlier orders, and rows before it, with the same product and address. */
  twins: z.array(text),
  /** What an earlier upload has led to, or may have: a batch, or a key in doubt. */
  placed: text.nullable(),
  /** What of the retailer or the price needs a look. */
  notes: z.array(text),
});

const Finding = z.strictObject({
  rule: text,
  line: count,
  applies_to: text.nullable(),
  outcome: z.enum(['allowed', 'warned', 'needs_approval', 'refused']),
  message: text,
  limit_cents: z.number().nullable(),
  used_cents: z.number().nullable(),
  left_cents: z.number().nullable(),
  period: text.nullable(),
  resets_at: text.nullable(),
  row: z.int().nullable(),
});

/** Rows that have something in common. Amounts in cents. */
export const planTotal = z.strictObject({
  /** `retailer`, `country`, `day` or `metadata.KEY`. */
  by: text,
  value: text,
  orders: count,
  ceilings_cents: cents,
  fees_cents: cents,
  /** Of the rows whose price is known. */
  prices_cents: cents,
  unpriced: count,
});

/** What `bulk plan` writes and `bulk apply` follows. Text from another machine: nothing in it is trusted unread. */
export const PlanFile = z.strictObject({
  sha256: hex,
  plan: z.literal(planVersion),
  errand: text,
  created_at: time,
  expires_at: time,
  service: text,
  account: text,
  key: text,
  profile: text,
  is_rehearsal: z.boolean(),
  file: z.strictObject({ name: text, sha256: hex, rows: count, left_out: count }),
  /** How the file was read, so that it can be read again in the same way: keys and rows follow from that. */
  made_from: z.strictObject({
    /** Absolute; null for what came through a pipe. */
    path: text.nullable(),
    /** What headings mean, a saved map with it. */
    map: z.record(text, text),
    /** The export whose headings the file has; plans without one do not name it. */
    preset: text.optional(),
    amounts: z.enum(amountUnits).nullable(),
    encoding: z.enum(['utf-8', 'latin1', 'utf-16le', 'utf-16be']).nullable(),
    delimiter: z.enum(['comma', 'semicolon', 'tab', 'pipe']).nullable(),
    locale: z.string().max(100).nullable(),
    skip_invalid: z.boolean(),
  }),
  batch_size: z.int().min(1).max(5000),
  run: z.string().max(100),
  notify_on_complete: z.boolean(),
  /** Null where prices were not asked for. */
  priced_at: time.nullable(),
  orders: count,
  ceilings_cents: cents,
  fee_cents: cents.min(0),
  /** Ceilings and fees of what is not placed yet, as the service estimates it. */
  most_cents: cents,
  wallet: z.strictObject({
    before_cents: cents.nullable(),
    after_cents: cents.nullable(),
    by_invoice: z.boolean(),
  }),
  policy: z
    .strictObject({
      outcome: z.enum(['allowed', 'warned', 'needs_approval', 'refused']),
      policy: text,
      orders: count,
      amount_cents: z.number(),
      rules: z.array(Finding),
      rows: z.array(Finding),
    })
    .nullable(),
  totals: z.array(planTotal),
  headings: z.array(text).min(1),
  /** The same as the file has them; earlier plans do not say it. */
  file_headings: z.array(text).optional(),
  products: z.array(PlannedProduct),
  rows: z.array(PlannedRow).min(1),
});

export type Plan = z.output<typeof PlanFile>;
export type PlanRow = Plan['rows'][number];
export type PlanProduct = Plan['products'][number];
export type PlanTotal = Plan['totals'][number];
/** As it is made, before it is sealed. */
export type PlanDraft = Omit<Plan, 'sha256' | 'rows'> & {
  readonly rows: readonly Omit<PlanRow, 'checksum'>[];
};
