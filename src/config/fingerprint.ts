import { createHmac } from 'node:crypto';

/** What tells accounts apart and cannot be turned back into the key: equal for the same key at the same service. */
export const fingerprint = (key: string, service: string): string =>
  createHmac('sha256', key).update(`errand account at ${service}`).digest('hex').slice(0, 32);
