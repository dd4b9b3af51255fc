import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** `localhost` and its subdomains, which always mean this machine (RFC 6761). */
export const isLocalName = (host: string): boolean => /^(?:.*\.)?localhost\.?$/i.test(host);

/**
 * Whether a host is on the loopback interface, which other machines cannot reach. The host may come from a URL or from
 * a listener.
 */
export const isLoopback = (host: string): boolean =>
  isLocalName(host) || /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

/**
 * Address on which to listen for a host. For a subdomain of `localhost`, the address is fixed, because the system's
 * resolver might resolve the name to another address.
 */
export const listeningAddress = (host: string): string =>
  isLocalName(host) && !/^localhost\.?$/i.test(host) ? '127.0.0.1' : host;

/** Addresses for the names of this machine. They are fixed, because the resolver may run on another machine. */
const thisMachine: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * A DNS lookup for connections. It checks every address to which a name resolves, and returns an address only if it
 * passes. An IP address is never looked up, so the caller has to check it.
 * @param refuse returns the error for a forbidden address.
 */
export function checkedLookup(refuse: (address: string, name: string) => Error | undefined): LookupFunction {
  return (name, options, done) => {
    find(name, options, (error, addresses = []) => {
      const [first] = addresses;
      const problem = error ?? addresses.map(({ address }) => refuse(address, name)).find((why) => why);
      if (problem || !first) done(problem ?? new Error(`${name} has no address`), '');
      else if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

/** Looks names up as the system does. However, the names of this machine resolve to fixed addresses. */
export const localLookup: LookupFunction = checkedLookup(() => undefined);

type Found = (error: NodeJS.ErrnoException | null, addresses?: LookupAddress[]) => void;

function find(name: string, options: LookupOptions, done: Found): void {
  if (!isLocalName(name)) {
    resolve(name, { ...options, all: true }, done);
    return;
  }
  const addresses = thisMachine.filter(
    ({ family }) => !isFamily(options.family) || options.family === family,
  );
  process.nextTick(done, null, addresses);
}

const isFamily = (family: LookupOptions['family']): boolean => family === 4 || family === 6;
