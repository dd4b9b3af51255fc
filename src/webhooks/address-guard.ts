import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Where machines keep what is nobody's business: never reached by a name, whatever is allowed. */
const forbidden = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['224.0.0.0', 3],
] as const)
  forbidden.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 128],
  ['fe80::', 10],
  ['fd00:ec2::', 32],
  ['ff00::', 8],
  ['64:ff9b::a9fe:0', 112],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
] as const)
  forbidden.addSubnet(network, prefix, 'ipv6');

const inner = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
] as const)
  inner.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fec0::', 10],
] as const)
  inner.addSubnet(network, prefix, 'ipv6');

/** A name leads where it must not; trying again does not help. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

/** Why an address that a name led to must not be connected to; undefined where it may. Pure. */
export function whyForbidden(address: string, name: string, allowPrivate: boolean): string | undefined {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (forbidden.check(address, family))
    return `${name} leads to ${address}, a link-local or reserved address`;
  if (!inner.check(address, family) || allowPrivate || isLocalhost(name)) return undefined;
  return `${name} leads to the private address ${address}; name that address, or add --allow-private`;
}

const isLocalhost = (name: string): boolean => /^(?:.+\.)?localhost\.?$/i.test(name);

/**
 * A lookup for a connection: it connects to the addresses that were checked and to no other. An address that the user
 * wrote is not looked up, and so not refused (security: "unless named by the user").
 */
export function guardedLookup(allowPrivate: boolean): LookupFunction {
  return (name, options, done) => {
    resolveName(name, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '');
      const reason = addresses
        .map(({ address }) => whyForbidden(address, name, allowPrivate))
        .find((why) => why !== undefined);
      const [first] = addresses;
      if (reason !== undefined || !first)
        return done(new ForbiddenAddress(reason ?? `${name} has no address`), '');
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}
