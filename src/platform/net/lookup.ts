import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** `localhost` and the names below it, which are this machine by definition (RFC 6761). */
export const isLocalName = (host: string): boolean => /^(?:.*\.)?localhost\.?$/i.test(host);

/** Whether a host, as a URL or a listener names it, is this machine's own and no other reaches it. */
export const isLoopback = (host: string): boolean =>
  isLocalName(host) || /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

/** Where to listen for a host: the system's resolver might send a name below `localhost` elsewhere. */
export const listeningAddress = (host: string): string =>
  isLocalName(host) && !/^localhost\.?$/i.test(host) ? '127.0.0.1' : host;

/** Never looked up, since another machine may run the resolver. */
const thisMachine: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * A lookup for connections: each address that a name leads to is checked, and the connection goes to those and to no
 * other. An address that is written as a number is never looked up; whoever connects checks it.
 * @param refuse gives the error for an address that must not be connected to.
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

/** The system's lookup, but for the names of this machine. */
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
