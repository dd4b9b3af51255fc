import type { LookupFunction } from 'node:net';
import { addressKind } from '../../platform/network/addresses.ts';
import { checkedLookup } from '../../platform/network/lookup.ts';
import { isLocalName } from '../../platform/network/loopback.ts';

/** A name leads where it must not; trying again does not help. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

/** Why an address that a name led to must not be connected to; undefined where it may. Pure. */
export function whyForbidden(address: string, name: string, allowPrivate: boolean): string | undefined {
  const kind = addressKind(address);
  if (kind === 'forbidden') return `${name} leads to ${address}, a link-local or reserved address`;
  if (kind === 'public' || allowPrivate || isLocalName(name)) return undefined;
  return `${name} leads to the private address ${address}; name that address, or add --allow-private`;
}

/**
 * A lookup that connects only to addresses a name may lead to. An address that the user wrote is not looked up, and so
 * not refused (security: "unless named by the user").
 */
export const guardedLookup = (allowPrivate: boolean): LookupFunction =>
  checkedLookup((address, name) => {
    const reason = whyForbidden(address, name, allowPrivate);
    return reason === undefined ? undefined : new ForbiddenAddress(reason);
  });
