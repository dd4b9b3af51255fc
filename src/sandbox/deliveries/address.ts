import { BlockList, isIP } from 'node:net';

type Range = readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'];

const listOf = (ranges: readonly Range[]): BlockList => {
  const list = new BlockList();
  for (const [network, prefix, family] of ranges) list.addSubnet(network, prefix, family);
  return list;
};

const loopback = listOf([
  ['127.0.0.0', 8, 'ipv4'],
  ['::1', 128, 'ipv6'],
]);

/** Link-local and metadata, unspecified, multicast, reserved; and forms of IPv6 that hide an IPv4 address. */
const never = listOf([
  ['0.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 96, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fd00:ec2::254', 128, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['2002::', 16, 'ipv6'],
]);

const inside = listOf([
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
]);

/**
 * Whether a webhook may go to an IP address. Loopback always; elsewhere only with `external`, and then into private
 * networks only where the URL itself names the address (`isNamed`): a name that leads there may be a trap.
 */
export function mayReach(
  ip: string,
  { external, isNamed }: { external: boolean; isNamed: boolean },
): boolean {
  const family = isIP(ip) === 6 ? 'ipv6' : 'ipv4';
  if (loopback.check(ip, family)) return true;
  if (!external || isIP(ip) === 0 || never.check(ip, family)) return false;
  return isNamed || !inside.check(ip, family);
}

/** A URL's host without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** Why an address is not called, as far as can be told without resolving its name; undefined where it may be. */
export function refusedAddress(url: URL, allowExternal: boolean): string | undefined {
  const host = hostOf(url);
  const isAllowed =
    isIP(host) === 0
      ? allowExternal || isLocalName(host)
      : mayReach(host, { external: allowExternal, isNamed: true });
  if (isAllowed) return undefined;
  return allowExternal
    ? 'link-local, metadata and reserved addresses are never called'
    : 'only loopback addresses are called';
}

const isLocalName = (host: string): boolean => /^(.+\.)?localhost\.?$/.test(host);
