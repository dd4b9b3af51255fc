import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import type { Client } from '../../http/client.ts';
import { pages } from '../../http/paging.ts';
import type { Context } from '../../run/context.ts';

interface WalletFacts {
  readonly id: string;
  /** What the service takes for an order, cents; undefined where it does not say. */
  readonly feeCents: number | undefined;
  /** Cents; undefined where it does not say. */
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

/** From the URL of a product to what its retailer is called. */
export type RetailerNames = (url: string) => string;

/**
 * Retailers by the hosts of their addresses, as the service lists them; one that it does not list is called by its host.
 * @throws ErrandError where the service cannot be asked.
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

const hostOf = (url: string): string | undefined =>
  URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, '') || undefined : undefined;

/** The retailers of an order's items, each once, in the order of the alphabet. Pure. */
export const retailersOf = (order: unknown, nameOf: RetailerNames): readonly string[] =>
  [...new Set(objectsIn(order, 'items').map((item) => nameOf(textIn(item, 'url') ?? '')))].sort();
