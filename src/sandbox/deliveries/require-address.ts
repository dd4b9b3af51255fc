import type { SandboxConfig } from '../config.ts';
import { Refusal } from '../http/refusal.ts';
import { refusedAddress } from './address.ts';

/** Refuses an address that is never going to be called, and says no more of it than the field. @throws Refusal. */
export function requireAddress(address: string, field: string, { webhooks }: SandboxConfig): void {
  const refused = refusedAddress(new URL(address), webhooks);
  if (refused === undefined) return;
  const message = `This sandbox does not call the address in ${field}: ${refused}.`;
  const hint =
    'errand sandbox serve --allow-webhook HOST:PORT calls that one, --allow-external-webhooks others';
  throw new Refusal('bad_request', message, { field, hint });
}
