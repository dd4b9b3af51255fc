import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import type { Client } from '../../http/client.ts';
import { pages } from '../../http/paging.ts';
import { ofLastUrl, parseUrl } from '../../platform/net/urls.ts';
import type { Context } from '../../run/context.ts';

interface WalletFacts {
  readonly id: string;
  /** The service's fee per order, in cents; undefined if the service does not report it. */
  readonly feeCents: number | undefined;
  /** Wallet balance, in cents; undefined if the service does not report it. */
  readonly balance: number | undefined;
}

export async function readWallet(context: Context): Promise<WalletFacts> {
  const client = await context.client();
  const { body } = await client.call('wallet.get', {});
  const cents = (name: string): number | undefined => {
    const found = numberIn(body, name);
    return Number.isSafeInteger(found) ? found : undefined;
  };
  const fee = cents('order_fee_cents');
  return {
    id: textIn(body, 'id') ?? 'wallet',
    feeCents: fee !== undefined && fee >= 0 ? fee : undefined,
    balance: cents('balance'),
  };
}

/** Finds the name of the retailer that belongs to the URL of a product. */
export type RetailerNames = (url: string) => string;

/**
 * Reads the service's list of retailers, and indexes it by host. If a retailer is not in the list, its host is used as
 * its name.
 * @throws ErrandError if the service cannot be reached.
 */
export async function readRetailers(client: Client): Promise<RetailerNames> {
  const names = new Map<string, string>();
  for await (const { rows } of pages(client, 'retailer.list', {}, { all: true }))
    for (const row of rows) {
      const host = hostOf(textIn(row, 'base_url') ?? '');
      const name = textIn(row, 'retailer');
      if (host !== undefined && name !== undefined && name !== '') names.set(host, name);
    }
  return (url) => {
    const host = hostOf(url);
    return host === undefined ? 'unknown' : (names.get(host) ?? host);
  };
}

const hostOf = ofLastUrl(
  (url): string | undefined => parseUrl(url)?.hostname.replace(/^www\./, '') || undefined,
);

/** The distinct retailers of an order's items, in alphabetical order. Pure. */
export const retailersOf = (order: unknown, nameOf: RetailerNames): readonly string[] =>
  [...new Set(objectsIn(order, 'items').map((item) => nameOf(textIn(item, 'url') ?? '')))].sort();
