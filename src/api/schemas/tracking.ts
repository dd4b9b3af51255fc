import { z } from 'zod';
import { itemMappings, trackingStatuses } from '../enums.ts';
import { calendarDate, observed, observedOnDemand, onDemand, text, timestamp, uuid } from './fields.ts';

export const TrackingCheckpoint = observedOnDemand(() =>
  z.strictObject({
    checkpoint_time: timestamp,
    status: z.enum(trackingStatuses),
    message: text,
    city: text.nullable(),
    state: text.nullable(),
    country: text.nullable(),
    zip: text.nullable(),
    location: text.nullable(),
  }),
);

export const TrackingNumber = onDemand(() =>
  z.strictObject({
    id: observed(uuid),
    carrier: observed(text),
    tracking_number: observed(text),
    svc_tracking_number: text,
    svc_tracking_url: text,
    status: z.enum(trackingStatuses),
    estimated_delivery_date: calendarDate.nullable(),
    delivery_proof_url: text.nullable(),
    checkpoints: z.array(TrackingCheckpoint()).optional(),
    created_at: observed(timestamp),
    order_item_ids: observed(z.array(text)).optional().describe('the items of the order that are in it'),
    item_mapping: observed(z.enum(itemMappings))
      .optional()
      .describe('inferred: the service concludes which items are in it'),
  }),
);
