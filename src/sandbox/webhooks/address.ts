import { type AddressKind, addressKind, literalAddress } from '../../platform/net/addresses.ts';
import { isLocalName } from '../../platform/net/lookup.ts';
import type { SandboxConfig } from '../config.ts';
import { ErrorResponse } from '../server/refusal.ts';

/** Allowed webhook targets. */
export type WebhookReach = SandboxConfig['webhooks'];

/** The target of a webhook, parsed once from its URL. */
interface Target {
  /** A host name or an IP address. */
  readonly host: string;
  /** Why the target may not be called, judging by the URL alone; undefined if it may be called. */
  readonly denial: string | undefined;
  /** Whether the webhook may connect to an IP address to which the host name resolves. */
  mayReach(ip: string): boolean;
}

/**
 * Derives the target from a webhook URL. A host that the user has named explicitly (`isNamed`) may have any address
 * that is not forbidden. Other hosts must not resolve to a private network, because that may be an SSRF attempt. Pure.
 */
export function targetOf(url: URL, reach: WebhookReach): Target {
  const isNamed = reach.named.includes(url.host) || reach.named.includes(url.hostname);
  const loopback = isNamed || reach.loopback;
  const external = isNamed || reach.external;
  const literal = literalAddress(url);
  const kind = literal === undefined ? nameKind(url.hostname) : addressKind(literal);
  return {
    host: literal ?? url.hostname,
    denial: denialOf(kind, { loopback, external }),
    mayReach(ip) {
      const found = addressKind(ip);
      if (found === 'loopback') return loopback;
      return external && (found === 'public' || (found === 'private' && isNamed));
    },
  };
}

function denialOf(
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

/**
 * Rejects an address that can never be called. Error messages mention only the field, not the address. @throws Refusal.
 */
export function requireAddress(address: string, field: string, { webhooks }: SandboxConfig): void {
  const { denial } = targetOf(new URL(address), webhooks);
  if (denial === undefined) return;
  const message = `This sandbox does not call the address in ${field}: ${denial}.`;
  const hint =
    'errand sandbox serve --allow-webhook HOST:PORT calls that one, --allow-external-webhooks others';
  throw new ErrorResponse('bad_request', message, { field, hint });
}
