import type { SandboxConfig } from '../config.ts';
import { Refusal } from '../server/refusal.ts';
import { targetOf } from './address.ts';

/** Refuses an address that is never going to be called, and says no more of it than the field. @throws Refusal. */
export function requireAddress(address: string, field: string, { webhooks }: SandboxConfig): void {
  const { refusal } = targetOf(new URL(address), webhooks);
  if (refusal === undefined) return;
  const message = `This sandbox does not call the address in ${field}: ${refusal}.`;
  const hint =
    'errand sandbox serve --allow-webhook HOST:PORT calls that one, --allow-external-webhooks others';
  throw new Refusal('bad_request', message, { field, hint });
}
