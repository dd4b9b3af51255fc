import { z } from 'zod';
import { amountUnits } from '../amount.ts';

/** Version of plans that errand writes now. A plan of version 1 does not state the attempt of each row. */
export const planVersion = 2;
const planVersions = [1, planVersion] as const;

const text = z.string();
const hex = z.string().regex(/^[0-9a-f]{64}$/);
const time = z.iso.datetime();
const cents = z.int();
const count = z.int().min(0);

/** A product page, looked up once for all rows that order from it. */
const PlannedProduct = z.strictObject({
  url: text,
  /** Country for which the product was looked up; null if the rows have several destinations. */
  country: text.nullable(),
  domain: text.nullable(),
  /** The service's name for the retailer; null if the service does not know it. */
  retailer: text.nullable(),
  orderable: z.boolean().nullable(),
  unsupported_reason: text.nullable(),
  ships_to: z.array(text).nullable(),
  /** Unit price, in the minor unit of `currency`. */
  price: cents.min(0).nullable(),
  currency: text.nullable(),
  /** Reason the price is missing. */
  no_price: text.nullable(),
});

/** The cells that the file writes in another way, each with its index; absent in plans of earlier versions. */
const written = z.array(z.tuple([count, text])).optional();

const PlannedRow = z.strictObject({
  /** Checksum of the rest of the row's line. It shows whether this row was altered. */
  checksum: z.string().regex(/^[0-9a-f]{16}$/),
  /** Row number as a spreadsheet shows it. */
  row: z.int().min(1),
  /** Idempotency key of the attempt that is sent. If no attempt is sent, it is the key of the first attempt. */
  key: z.string().min(1).max(200),
  /**
   * The attempt that is sent; null if the row is not sent. Absent in version 1, in which every row that was not
   * `placed` is sent.
   */
  attempt: z
    .strictObject({
      /**
       * The row's reference, or the key that the file gives. Without either, it is a hash of the row's products and
       * recipient.
       */
      need: text,
      /** Number of the attempt; 1 for the first attempt at the need. */
      number: z.int().min(1),
    })
    .nullable()
    .optional(),
  /** The cells under the plan's headings, as they are sent. */
  cells: z.array(text),
  written,
  /** The requested order, in canonical form. */
  order: z.looseObject({}),
  /** Hosts and names of the retailers, as policies refer to them. */
  retailers: z.array(text),
  /** Total price of the row's products, in cents; null if any of them lacks a price in US dollars. */
  price_cents: cents.nullable(),
  /** Ceiling minus `price_cents`, in cents. Negative if the ceiling is too low. */
  room_cents: cents.nullable(),
  /** Earlier orders, and rows above this one, with the same product and address. */
  twins: z.array(text),
  /** What ordered the row before: the id of a batch or an order, or the key of a batch that is in doubt. */
  placed: text.nullable(),
  /** Why the row is not sent, although it was not ordered before; null or absent in all other cases. */
  left_out: text.nullable().optional(),
  /** Warnings about the retailer or the price. */
  notes: z.array(text),
});

/** A row that is not planned, because it is invalid or orders nothing. */
const UnplannedRow = z.strictObject({
  row: z.int().min(1),
  /** Cells under the plan's headings. */
  cells: z.array(text),
  written,
  why: text,
  reason: text,
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

/** Totals of the rows that share a value. Amounts are in cents. */
export const planTotal = z.strictObject({
  /** What the rows are grouped by: `retailer`, `country`, `day` or `metadata.KEY`. */
  by: text,
  value: text,
  orders: count,
  ceilings_cents: cents,
  fees_cents: cents,
  /** Sum of the prices, over the rows whose price is known. */
  prices_cents: cents,
  unpriced: count,
});

const PlanCounts = z.strictObject({
  new: count,
  /** Number of new rows whose last attempt failed. */
  failed_before: count,
  /** Number of new rows whose last order was cancelled or returned. */
  taken_back_before: count,
  placed: count,
  in_doubt: count,
  left_out: count,
  /** Number of failed rows in the uploads that ordered rows of this file. Rows that this file contains do not count. */
  failed_elsewhere: count,
});

/**
 * A plan. `bulk plan` writes it, and `bulk apply` executes it. It may come from another machine, so everything in it is
 * untrusted until checked.
 */
export const PlanFile = z.strictObject({
  sha256: hex,
  plan: z.literal(planVersions),
  errand: text,
  created_at: time,
  expires_at: time,
  service: text,
  account: text,
  key: text,
  profile: text,
  is_rehearsal: z.boolean(),
  file: z.strictObject({ name: text, sha256: hex, rows: count, left_out: count }),
  /** Settings with which to parse the file again in the same way, because keys and rows depend on them. */
  made_from: z.strictObject({
    /** Absolute path; null for piped input. */
    path: text.nullable(),
    /** The column that each heading stands for, including the entries of a saved map. */
    map: z.record(text, text),
    /** Export preset that matches the file's headings; absent if there is none. */
    preset: text.optional(),
    /** Columns that give the references; absent if the plan has no references. */
    reference: z.strictObject({ columns: z.array(text), namespace: text }).optional(),
    amounts: z.enum(amountUnits).nullable(),
    encoding: z.enum(['utf-8', 'latin1', 'utf-16le', 'utf-16be']).nullable(),
    delimiter: z.enum(['comma', 'semicolon', 'tab', 'pipe']).nullable(),
    /** Name of the sheet in a workbook; absent for the first sheet, or for a CSV. */
    sheet: z.string().optional(),
    /** What quotes mean, and default texts for empty cells, by column. Absent unless the user gave them. */
    quotes: z.enum(['double', 'none']).optional(),
    defaults: z.record(text, text).optional(),
    locale: z.string().max(100).nullable(),
    skip_invalid: z.boolean(),
    /**
     * How to treat rows that are like earlier orders, and rows whose orders were cancelled or returned. Absent unless
     * the user said so.
     */
    skip_duplicates: z.boolean().optional(),
    again: z.boolean().optional(),
  }),
  batch_size: z.int().min(1).max(5000),
  run: z.string().max(100),
  notify_on_complete: z.boolean(),
  /** null if prices were not requested. */
  priced_at: time.nullable(),
  /** Number of rows that are sent, and the sum of their ceilings. In version 1, both are for all rows. */
  orders: count,
  ceilings_cents: cents,
  /** Row counts by kind; absent in version 1. */
  counts: PlanCounts.optional(),
  fee_cents: cents.min(0),
  /**
   * Maximum cost of the rows that are sent, in cents. It covers their ceilings and fees, or the service's estimate if
   * that is higher.
   */
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
  /** The headings as the file writes them; absent in plans of earlier versions. */
  file_headings: z.array(text).optional(),
  /** The indexes of the cells that make up each row's reference; absent if the plan has no references. */
  reference: z.strictObject({ indexes: z.array(count).min(1), namespace: text }).optional(),
  products: z.array(PlannedProduct),
  rows: z.array(PlannedRow).min(1),
  /** The file's other rows, which are in no batch; absent if there are none. */
  unplanned: z.array(UnplannedRow).optional(),
});

export type Plan = z.output<typeof PlanFile>;
export type PlanRow = Plan['rows'][number];
export type PlanProduct = Plan['products'][number];
export type PlanCounts = NonNullable<Plan['counts']>;
export type PlanTotal = Plan['totals'][number];
/** A plan before its checksums are added. */
export type PlanDraft = Omit<Plan, 'sha256' | 'rows'> & {
  readonly rows: readonly Omit<PlanRow, 'checksum'>[];
};
