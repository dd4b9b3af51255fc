import { z } from 'zod';
import { limits } from '../limits.ts';
import { count, observed, text, timestamp, uuid } from './fields.ts';

const credentials = {
  email: z.string().min(1),
  password: z.string().min(1).nullish(),
  retailer: z.string().min(1).nullish(),
  totp_secret: z
    .string()
    .length(limits.totpSecretLength, 'The two-factor secret is the 64-character key, not the 6-digit code')
    .nullish(),
  retailer_config: z.record(z.string(), z.unknown()).nullish(),
};

export const ManagedAccountCreate = z.strictObject(credentials);
export const ManagedAccountUpdate = z.strictObject({ ...credentials, email: credentials.email.nullish() });

export const ManagedAccount = z.strictObject({
  id: uuid,
  short_id: text,
  email: text,
  retailer: text.nullable(),
  retailer_id: text.nullable(),
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
});

export const ManagedAccountListResponse = z.strictObject({
  credentials: z.array(ManagedAccount),
  total: count,
});
