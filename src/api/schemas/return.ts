import { z } from 'zod';
import { earlierReturnReasons, returnReasons, returnStatuses } from '../enums.ts';
import { limits } from '../limits.ts';
import { cents, count, observed, observedOnDemand, onDemand, text, timestamp, uuid } from './fields.ts';

const ReturnItem = observedOnDemand(() =>
  z.strictObject({ order_item_id: uuid, quantity: z.int().min(limits.quantity.min).default(1) }),
);

export const ReturnRequestCreate = observedOnDemand(() =>
  z.strictObject({
    order_id: uuid,
    items: z.array(ReturnItem()).min(1, 'At least one item is needed'),
    reason: z.enum(returnReasons),
    notes: z.string().nullish(),
  }),
);

export const ReturnRequest = onDemand(() =>
  z.strictObject({
    id: uuid,
    order_id: uuid,
    status: z.enum(returnStatuses),
    reason: z.enum([...returnReasons, ...earlierReturnReasons]),
    notes: text.nullable(),
    resolution_notes: text.nullable(),
    items: z.array(observed(z.strictObject({ order_item_id: uuid, quantity: count }))),
    label_urls: z.array(text),
    merchant_return_id: text.nullable(),
    credited_amount: cents,
    created_at: timestamp,
    updated_at: timestamp,
  }),
);

export const ReturnRequestListResponse = onDemand(() =>
  z.strictObject({
    return_requests: observed(z.array(ReturnRequest())),
    total: count,
  }),
);
