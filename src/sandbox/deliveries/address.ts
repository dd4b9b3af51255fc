import { addressKind, literalAddress } from '../../network/addresses.ts';
import { isLocalName } from '../../network/loopback.ts';
import type { SandboxConfig } from '../config.ts';

/** Where webhooks may go. */
export type WebhookReach = SandboxConfig['webhooks'];

/**
 * Whether a webhook may go to an IP address. Into private networks it goes only where the URL itself names the address
 * (`isNamed`): a name that leads there may be a trap.
 */
export function mayReach(ip: string, { loopback, external }: WebhookReach, isNamed: boolean): boolean {
  const kind = addressKind(ip);
  if (kind === 'loopback') return loopback;
  return external && (kind === 'public' || (kind === 'private' && isNamed));
}

/** The reach for one URL. A receiver that was named to the sandbox may be anywhere but at a forbidden address. */
export const reachOf = (url: URL, reach: WebhookReach): WebhookReach & { readonly isNamed: boolean } =>
  reach.named.includes(url.host) || reach.named.includes(url.hostname)
    ? { ...reach, loopback: true, external: true, isNamed: true }
    : { ...reach, isNamed: false };

/** Why an address is not called, as far as it shows without resolving its name; undefined where it may be called. */
export function refusedAddress(url: URL, reach: WebhookReach): string | undefined {
  const { loopback, external } = reachOf(url, reach);
  const literal = literalAddress(url);
  const kind = literal === undefined ? nameKind(url.hostname) : addressKind(literal);
  const notReached = loopback ? 'only loopback addresses are called' : onlyNamed;
  if (kind === 'forbidden')
    return external ? 'link-local, metadata and reserved addresses are never called' : notReached;
  if (kind === 'loopback')
    return loopback ? undefined : 'loopback addresses are called only where they are named';
  return external ? undefined : notReached;
}

const onlyNamed =
  'external addresses are called only with --allow-external-webhooks or where --allow-webhook names them';

const nameKind = (host: string): 'loopback' | 'public' => (isLocalName(host) ? 'loopback' : 'public');
