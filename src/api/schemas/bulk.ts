import { z } from 'zod';
import { batchRowStatuses, batchStatuses } from '../enums.ts';
import { cents, count, observedOnDemand, onDemand, text, timestamp, uuid } from './fields.ts';

/** A row as the service echoes it. Cells that were not text come back as text. */
const cells = onDemand(() => z.record(z.string(), z.string()));
const givenCells = onDemand(() =>
  z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
);

export const BulkUploadRequest = observedOnDemand(() =>
  z.strictObject({
    filename: z.string().nullish(),
    rows: z.array(givenCells()).min(1, 'At least one row is needed').prefault([]),
    notify_on_complete: z.boolean().nullish(),
  }),
);

export const BulkRowValidation = observedOnDemand(() =>
  z.strictObject({
    index: count,
    ok: z.boolean(),
    errors: z.array(text),
    product_urls: z.array(text),
    quantities: z.array(count),
    recipient: text.nullable(),
    destination: text.nullable(),
    max_price: cents.nullable(),
    retailer_credentials_id: text.nullable(),
    passthrough: cells(),
  }),
);

export const BulkValidateResponse = observedOnDemand(() =>
  z.strictObject({
    filename: text.nullable(),
    total_rows: count,
    valid_rows: count,
    invalid_rows: count,
    estimated_total_cents: cents,
    wallet_balance_cents: cents,
    sufficient_funds: z.boolean(),
    billed_by_invoice: z.boolean(),
    over_credit_limit: z.boolean(),
    rows: z.array(BulkRowValidation()),
  }),
);

export const BulkRowResult = observedOnDemand(() =>
  z.strictObject({
    index: count,
    status: z.enum(batchRowStatuses),
    order_id: uuid.nullable(),
    order_status: text.nullable(),
    error: text.nullable(),
    recipient: text.nullable(),
    product_urls: z.array(text),
    passthrough: cells(),
  }),
);

export const BulkBatchResponse = observedOnDemand(() =>
  z.strictObject({
    id: uuid,
    filename: text.nullable(),
    status: z.enum(batchStatuses),
    row_count: count,
    placed_count: count,
    failed_count: count,
    notify_on_complete: z.boolean(),
    notified_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    rows: z.array(BulkRowResult()),
  }),
);

export const BulkBatchListResponse = observedOnDemand(() =>
  z.strictObject({
    batches: z.array(BulkBatchResponse().partial({ rows: true })),
    total: count,
  }),
);
