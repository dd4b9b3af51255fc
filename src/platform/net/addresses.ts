import { BlockList, isIP } from 'node:net';

/**
 * Range to which an IP address belongs. Input from outside must never make errand connect to a `forbidden` address.
 * These are link-local addresses, metadata services, unspecified, multicast and reserved addresses, and IPv6 forms that
 * embed another address.
 */
export type AddressKind = 'public' | 'private' | 'loopback' | 'forbidden';

type Range = readonly [network: string, prefix: number];

const ipv4: Readonly<Record<Exclude<AddressKind, 'public'>, readonly Range[]>> = {
  loopback: [['127.0.0.0', 8]],
  private: [
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
  ],
  forbidden: [
    ['0.0.0.0', 8],
    ['169.254.0.0', 16],
    // Metadata services of three clouds.
    ['100.100.100.200', 32],
    ['168.63.129.16', 32],
    ['192.0.0.192', 32],
    ['192.88.99.0', 24],
    ['224.0.0.0', 3],
  ],
};

const ipv6: typeof ipv4 = {
  loopback: [['::1', 128]],
  private: [
    ['fc00::', 7],
    ['fec0::', 10],
  ],
  forbidden: [
    // IPv4-compatible and IPv4-translated.
    ['::', 96],
    ['::ffff:0:0:0', 96],
    ['64:ff9b:1::', 48],
    // Teredo, benchmarking, documentation, 6to4.
    ['2001::', 32],
    ['2001:2::', 48],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['100::', 64],
    ['3fff::', 20],
    // SRv6 segment ids, link-local.
    ['5f00::', 16],
    ['fe80::', 10],
    // Metadata services of two clouds.
    ['fd00:ec2::', 32],
    ['fd20:ce::', 32],
    ['ff00::', 8],
  ],
};

/**
 * NAT64 maps every IPv4 address to an IPv6 address, so each IPv4 range needs a NAT64 range. For addresses mapped as
 * `::ffff:…`, Node itself checks the IPv4 ranges.
 */
const nat64 = ([network, prefix]: Range): Range => [`64:ff9b::${network}`, 96 + prefix];

const kinds = ['loopback', 'forbidden', 'private'] as const;
const lists = new Map<AddressKind, BlockList>();

/** The lists are built on first use, because building all of them takes 3 ms and would delay a read. */
function listOf(kind: (typeof kinds)[number]): BlockList {
  const known = lists.get(kind);
  if (known) return known;
  const list = new BlockList();
  for (const range of ipv4[kind]) list.addSubnet(...range, 'ipv4');
  for (const range of [...ipv6[kind], ...ipv4[kind].map(nat64)]) list.addSubnet(...range, 'ipv6');
  lists.set(kind, list);
  return list;
}

/** Classifies an address in the notation of a socket or a resolver. Any other text counts as forbidden. Pure. */
export function addressKind(address: string): AddressKind {
  const [bare = ''] = address.split('%', 1);
  const version = isIP(bare);
  if (version === 0) return 'forbidden';
  const family = version === 6 ? 'ipv6' : 'ipv4';
  return kinds.find((kind) => listOf(kind).check(bare, family)) ?? 'public';
}

/** Returns the host of a URL if it is an IP address, without the brackets of IPv6. Undefined if it is a name. */
export function literalAddress({ hostname }: Pick<URL, 'hostname'>): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
}
