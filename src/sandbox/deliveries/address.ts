import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Addresses that lead into a network of somebody's own, or nowhere. */
const inner = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  inner.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 128],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  inner.addSubnet(net, bits, 'ipv6');

const within = (list: BlockList, ip: string): boolean => {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
};

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/**
 * Why webhooks are not sent to an address; undefined where they are. Loopback always is one; others only where external
 * ones are allowed, and private ones only where they are named by number.
 */
export function refusedAddress(url: URL, allowExternal: boolean): string | undefined {
  const host = hostOf(url);
  if (isIP(host) === 0)
    return host === 'localhost' || allowExternal ? undefined : 'only loopback addresses are called';
  return within(loopback, host) || allowExternal ? undefined : 'only loopback addresses are called';
}

/** Resolves a host, and refuses what may not be called: a name must not lead where its text did not. */
export function checkedLookup(url: URL, allowExternal: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 4);
      const named = hostOf(url);
      const good = found.filter(
        ({ address }) =>
          within(loopback, address) || (allowExternal && (address === named || !within(inner, address))),
      );
      const [first] = good;
      if (!first) return callback(new Error('the host leads to an address that is not called'), '', 4);
      if (options.all) callback(null, good);
      else callback(null, first.address, first.family);
    });
  };
}
