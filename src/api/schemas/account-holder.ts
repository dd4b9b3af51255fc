import { z } from 'zod';
import { walletTypes } from '../enums.ts';
import {
  cents,
  count,
  httpUrl,
  observed,
  observedOnDemand,
  onDemand,
  text,
  timestamp,
  uuid,
} from './fields.ts';
import { OrderCreate } from './order-create.ts';

export const Wallet = observedOnDemand(() =>
  z.strictObject({
    id: uuid,
    user_id: z.int(),
    balance: cents,
    wallet_type: z.enum(walletTypes),
    created_at: timestamp,
    updated_at: timestamp,
    spendable_balance: cents,
    order_fee_cents: cents,
    billed_by_invoice: z.boolean(),
  }),
);

const UsageMetric = onDemand(() =>
  z.strictObject({ total: count, prev_total: count, series: z.array(z.number()) }),
);

const RecentCall = onDemand(() =>
  z.strictObject({
    endpoint: text,
    at: timestamp,
    query: text.nullable(),
    result_count: count.nullable(),
    retailer: text.nullable(),
    product_id: text.nullable(),
  }),
);

export const UserUsageResponse = observedOnDemand(() =>
  z.strictObject({
    window_days: count,
    since: timestamp,
    metrics: z.record(z.string(), UsageMetric()),
    recent: z.array(RecentCall()),
  }),
);

export const SandboxKeyCreate = onDemand(() =>
  z.strictObject({
    email: z.email().nullish(),
    name: z.string().nullish(),
  }),
);

export const SandboxKey = onDemand(() =>
  z.strictObject({
    api_key: text,
    key: observed(text),
    expires_policy: observed(text),
    quickstart_url: observed(text),
    example_order: observed(OrderCreate()),
    claim_url: text,
    next: observed(z.array(text)),
  }),
);

export const SandboxStatus = observedOnDemand(() =>
  z.looseObject({ claimed: z.boolean(), claimed_by_email: text.nullable(), hint: text.nullable() }),
);

export const WebhookRegistration = onDemand(() => z.strictObject({ webhook_url: httpUrl }));
export const WebhookRegistrationResponse = observedOnDemand(() =>
  z.strictObject({
    id: text,
    webhook_url: text,
    webhook_secret: text
      .optional()
      .describe('events are signed with it; errand keeps it and never prints it'),
  }),
);

export const DeviceCodeCreate = observedOnDemand(() => z.strictObject({ name: z.string().nullish() }));

export const DeviceCode = observedOnDemand(() =>
  z.strictObject({
    device_code: text,
    user_code: text,
    verification_uri: text,
    verification_uri_complete: text,
    expires_in: count,
    interval: count,
    human_message: text,
    next: text,
  }),
);

/** Standard clients also send `grant_type` and `client_id` (RFC 8628, 3.4). */
export const DeviceTokenCreate = observedOnDemand(() =>
  z.strictObject({
    device_code: z.string().min(1),
    grant_type: z.literal('urn:ietf:params:oauth:grant-type:device_code').optional(),
    client_id: z.string().optional(),
  }),
);

export const DeviceToken = observedOnDemand(() =>
  z.strictObject({
    id: uuid,
    key: text,
    api_key: text,
    name: text.nullable(),
    is_active: z.boolean(),
    is_test: z.boolean(),
    created_at: timestamp,
    wallet_balance_cents: cents,
  }),
);

export const OpenApiDocument = onDemand(() => z.looseObject({ openapi: text, paths: z.looseObject({}) }));

export const LegacyRetryResponse = onDemand(() => z.strictObject({ request_id: uuid }));
