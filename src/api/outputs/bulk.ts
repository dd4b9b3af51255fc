import { z } from 'zod';
import { planTotal } from '../schemas/plan-file.ts';
import {
  cents,
  count,
  facts,
  flag,
  id,
  nextSteps,
  own,
  policyOutcome,
  served,
  text,
  time,
  url,
  whole,
} from './fields.ts';
import { MoneySum, Payer } from './money.ts';

/** A submitted batch. */
export const SentBatch = own({
  id,
  rows: count,
  existed: flag.describe('it was there already, from an earlier upload of the same rows'),
  next: nextSteps,
});

export const BulkIssue = own({
  row: whole
    .nullable()
    .describe('as a spreadsheet shows it; null of the file as a whole, which the wallet cannot cover'),
  column: text,
  value: text,
  message: text,
});

/** A cell that `bulk validate --fix` corrected. */
export const BulkFix = own({
  row: whole.describe('as a spreadsheet shows it'),
  column: text.describe('its heading in the file'),
  was: text,
  is: text,
  why: text,
});

export const BulkUpload = own({
  name: text,
  state: z.enum(['sent', 'cut short', 'in doubt']),
  file: text,
  rows: count,
  sent: count,
  batches: z.array(id),
  created_at: time,
  next: nextSteps,
});

export const HeadingMap = own({
  name: text,
  kind: z.enum(['saved', 'export']),
  adds_to: text.nullable(),
  description: text,
  columns: z.array(
    own({
      heading: text,
      column: text.nullable().describe('null where the heading stays a column of your own'),
    }),
  ),
  reference_columns: z
    .array(text)
    .describe('the headings that name each row; an export needs a namespace for it'),
  namespace: text.nullable(),
  reading: z
    .record(text, text)
    .describe('how cells are read: encoding, delimiter, quotes, locale, amounts, sheet'),
  defaults: z.record(text, text).describe('texts of empty cells, by column'),
});

export const PlanRow = own({
  row: whole,
  verdict: policyOutcome,
  why: z.array(text),
  kinds: z.array(
    z.enum([
      'refused',
      'needs_approval',
      'warned',
      'unorderable',
      'above_ceiling',
      'far_amount',
      'twin',
      'left_out',
      'kept_key',
      'unknown_retailer',
    ]),
  ),
  sellers: z.array(text),
  ceiling_cents: cents,
  price_cents: cents.nullable(),
  room_cents: cents.nullable(),
  country: text,
  recipient: text,
  urls: z.array(url),
  quantity: count,
  twins: z.array(text),
  placed: text.nullable(),
  left_out: text.nullable().describe('why the row is not sent although it was not ordered'),
  need: text
    .nullable()
    .describe(
      'its reference or own key, or a hash of its products and recipient; null where nothing is sent',
    ),
  attempt: count.nullable().describe('number of the attempt at the need; null where nothing is sent'),
  idempotency_key: text,
  order: facts.describe('the order as it is sent'),
});

export const PlanGroup = planTotal;

/** A batch as the service returns it, plus the state of each row. */
export const BatchWithStates = z.intersection(
  served('BulkBatchResponse'),
  z.looseObject({
    rows: z.array(
      z.looseObject({
        state: z
          .enum([
            ...(['waiting', 'refused', 'before', 'since', 'under_way'] as const),
            ...(['placed', 'failed', 'withdrawn', 'unknown'] as const),
          ])
          .describe(
            'as bulk watch counts it: that of its live attempt, else of its last, wherever it was made',
          ),
      }),
    ),
  }),
);

/** Outcome of an upload row. */
export const BulkReportRow = own({
  row: whole.nullable(),
  batch_id: id.nullable().describe('null of a row that is in no batch'),
  index: count.nullable(),
  own: z.record(text, text).describe('the cells of the file by their headings'),
  order_state: text.describe('such as delivered, failed: out of stock, withdrawn: returned or left out'),
  order_id: id.nullable(),
  order_status: text.nullable(),
  attempts: count,
  met_by: own({
    order_id: id.nullable().describe('null while its order is not there yet'),
    upload: text
      .nullable()
      .describe('null of a single order, or where this machine does not know the upload'),
    batch_id: id.nullable(),
    index: count.nullable(),
  })
    .nullable()
    .describe('what ordered a row since that had failed or was withdrawn; else null'),
  product: text,
  product_urls: z.array(url),
  ceiling_cents: cents.nullable(),
  quoted_cents: cents.nullable(),
  charged_cents: cents.nullable(),
  fee_cents: cents.nullable(),
  refunded_cents: cents.nullable(),
  credited_cents: cents.nullable(),
  from_wallet_cents: cents.nullable(),
  held_cents: cents.nullable(),
  currency: text.nullable(),
  paid_by: Payer.nullable(),
  tracking_numbers: z.array(text),
  returns: z.array(text).describe('states of the returns of its order, the first one first'),
  error_type: text.nullable(),
  reason: text.nullable(),
  orders: z.array(id),
  amounts: z.array(MoneySum),
  by_rule: z.array(text).describe('amounts that follow from rules alone'),
});

/** Result of cancelling a single order or the order of one row. */
export const CancelledRow = own({
  row: whole
    .nullable()
    .describe('as a spreadsheet shows it; null of a single order, or where it is not known here'),
  upload: text.nullable().describe('null of a single order, or where this machine does not know it'),
  order_id: id.nullable(),
  outcome: z
    .enum([
      'cancelled',
      'was_cancelled',
      'too_late',
      'returned',
      'elsewhere',
      'earlier',
      'not_ordered',
      'left_out',
      'waiting',
      'refused',
      'in_doubt',
      'not_tried',
    ])
    .describe(
      'elsewhere: another command made the order, which stays; earlier: one before the upload, which never sent the row; left_out: no command ordered the row; waiting: the service has not ordered the row yet',
    ),
  order_state: text.describe('before the command, such as pending or failed: out of stock'),
  product: text,
  ceiling_cents: cents.nullable(),
});

/** Result of one row in a file of returns. */
export const BulkReturnRow = own({
  row: whole.describe('as a spreadsheet shows it'),
  order_id: id,
  reference: text.nullable(),
  outcome: z
    .enum(['requested', 'was_requested', 'denied', 'refused', 'in_doubt', 'not_tried'])
    .describe('was_requested, denied: by an earlier command; it was not requested again'),
  return_id: id.nullable(),
  status: text.nullable().describe('of the return at the service'),
  reason: text,
  quantity: count.describe('units of all lines'),
  message: text.nullable().describe('why it was not requested'),
});

export const BulkReportGroup = own({
  by: text,
  group: text.nullable(),
  paid_by: Payer,
  currency: text,
  rows: count,
  ordered: count,
  refused: count,
  waiting: count,
  left_out: count,
  charged_cents: cents,
  fees_cents: cents,
  refunded_cents: cents,
  credited_cents: cents,
  net_cents: cents,
  held_cents: cents,
  by_rule: z.array(text),
});
