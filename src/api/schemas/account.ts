import { z } from 'zod';
import { limits } from '../limits.ts';
import { count, observed, onDemand, text, timestamp, uuid } from './fields.ts';

const totpSecret = onDemand(() =>
  z
    .string()
    .length(limits.totpSecretLength, 'The two-factor secret is the 64-character key, not the 6-digit code'),
);

const credentials = onDemand(() => ({
  email: z.string().min(1),
  password: z.string().min(1).nullish(),
  retailer: z.string().min(1).nullish(),
  totp_secret: totpSecret().nullish(),
  retailer_config: z.record(z.string(), z.unknown()).nullish(),
}));

export const ManagedAccountCreate = onDemand(() => z.strictObject(credentials()));
/**
 * In this shape, null means that a value is not given. An empty string, or an empty config, clears the value. The email
 * cannot be cleared.
 */
export const ManagedAccountUpdate = onDemand(() =>
  z.strictObject({
    email: credentials().email.nullish(),
    password: z.string().nullish(),
    retailer: z.string().nullish(),
    totp_secret: z.union([z.literal(''), totpSecret()]).nullish(),
    retailer_config: credentials().retailer_config,
  }),
);

export const ManagedAccount = onDemand(() =>
  z.strictObject({
    id: uuid,
    short_id: text,
    email: text,
    retailer: text.nullable(),
    retailer_id: observed(z.int().nullable()),
    has_totp: z.boolean(),
    has_forwarding: z.boolean(),
    retailer_config: z.record(z.string(), z.unknown()).nullable(),
    forwarding_email: text,
    is_paused: observed(z.boolean()),
    locked_by_job_id: observed(uuid.nullable()),
    cooldown_minutes: observed(count.nullable()),
    last_used_at: observed(timestamp.nullable()),
    created_at: timestamp,
    updated_at: timestamp,
  }),
);

export const ManagedAccountListResponse = onDemand(() =>
  z.strictObject({
    credentials: z.array(ManagedAccount()),
    total: count,
  }),
);
