import type { LookupFunction } from 'node:net';
import { type AddressKind, addressKind, literalAddress } from '../../platform/network/addresses.ts';
import { checkedLookup, localLookup } from '../../platform/network/lookup.ts';
import { TransportFailure } from './transport.ts';

/** From the outside inwards. Link-local addresses are only ever reached because the user wrote one. */
const inwards: readonly AddressKind[] = ['public', 'private', 'forbidden', 'loopback'];

const places: Readonly<Record<AddressKind, string>> = {
  public: 'leads to the internet',
  private: 'leads to a private network, and the service is not on one',
  forbidden: 'leads to a link-local or reserved address',
  loopback: 'leads to this machine, and the service is not on this machine',
};

/**
 * Keeps links that a service gives from leading further inward than the service itself is: a service on the internet
 * could otherwise make this machine ask others in its own network.
 */
export class Inward {
  #reached: AddressKind = 'public';

  /** Resolves the addresses that the user named. */
  readonly ownLookup: LookupFunction = localLookup;
  /** Resolves those that the service named. */
  readonly foreignLookup: LookupFunction = checkedLookup((address) => this.#refusal(address));

  /** The service was reached at an address. */
  reached(address: string | undefined): void {
    const kind = address === undefined ? 'public' : addressKind(address);
    if (inwards.indexOf(kind) > inwards.indexOf(this.#reached)) this.#reached = kind;
  }

  /** An address that is written as a number is never looked up. @throws TransportFailure for one that leads inward. */
  checkLiteral(url: URL): void {
    const address = literalAddress(url);
    const refusal = address === undefined ? undefined : this.#refusal(address);
    if (refusal) throw refusal;
  }

  #refusal(address: string): TransportFailure | undefined {
    const kind = addressKind(address);
    const isAllowed = kind !== 'forbidden' && inwards.indexOf(kind) <= inwards.indexOf(this.#reached);
    if (isAllowed) return undefined;
    const message = `the service's link ${places[kind]} (${address})`;
    return new TransportFailure('not_sent', message, { isPermanent: true });
  }
}
