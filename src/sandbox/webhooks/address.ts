import { type AddressKind, addressKind, literalAddress } from '../../platform/net/addresses.ts';
import { isLocalName } from '../../platform/net/lookup.ts';
import type { SandboxConfig } from '../config.ts';
import { Refusal } from '../server/refusal.ts';

/** Where webhooks may go. */
export type WebhookReach = SandboxConfig['webhooks'];

/** Where one webhook goes, read once from its URL. */
interface Target {
  /** A name to look up, or an IP address. */
  readonly host: string;
  /** Why it is not called, as far as the URL alone shows; undefined where it may be called. */
  readonly refusal: string | undefined;
  /** Whether the connection may go to an IP address that the host's name leads to. */
  mayReach(ip: string): boolean;
}

/**
 * Reads a webhook's URL. A receiver that was named to the sandbox (`isNamed`) may be anywhere but at a forbidden
 * address; a name that leads into a private network without having been named may be a trap. Pure.
 */
export function targetOf(url: URL, reach: WebhookReach): Target {
  const isNamed = reach.named.includes(url.host) || reach.named.includes(url.hostname);
  const loopback = isNamed || reach.loopback;
  const external = isNamed || reach.external;
  const literal = literalAddress(url);
  const kind = literal === undefined ? nameKind(url.hostname) : addressKind(literal);
  return {
    host: literal ?? url.hostname,
    refusal: refusalOf(kind, { loopback, external }),
    mayReach(ip) {
      const found = addressKind(ip);
      if (found === 'loopback') return loopback;
      return external && (found === 'public' || (found === 'private' && isNamed));
    },
  };
}

function refusalOf(
  kind: AddressKind,
  { loopback, external }: Pick<WebhookReach, 'loopback' | 'external'>,
): string | undefined {
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

/** Refuses an address that is never going to be called, and says no more of it than the field. @throws Refusal. */
export function requireAddress(address: string, field: string, { webhooks }: SandboxConfig): void {
  const { refusal } = targetOf(new URL(address), webhooks);
  if (refusal === undefined) return;
  const message = `This sandbox does not call the address in ${field}: ${refusal}.`;
  const hint =
    'errand sandbox serve --allow-webhook HOST:PORT calls that one, --allow-external-webhooks others';
  throw new Refusal('bad_request', message, { field, hint });
}
