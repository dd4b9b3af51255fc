import { objectsIn, own, textIn } from '../../api/json.ts';
import { sha256 } from '../../format/canonical.ts';
import { parseUrl, withPlainLetters } from '../../platform/net/urls.ts';

// Older reservations hold hashes that were made before products and recipients had a canonical form. Such reservations
// are kept for 400 days. This code only finds duplicates of their orders.

/** The products and the address of an order, in the form of the older reservations. */
export interface EarlierFacts {
  readonly products: readonly string[];
  readonly address: string;
}

/** Pure. */
export function earlierFacts(body: Readonly<Record<string, unknown>>): EarlierFacts {
  const urls = objectsIn(body, 'products').map((line) => textIn(line, 'url') ?? '');
  const address = own(body, 'shipping_address');
  const parts = fields.map((name) => {
    const text = (textIn(address, name) ?? '').trim().replace(/\s+/g, ' ').toUpperCase();
    return name === 'postal_code' ? text.replace(/^(\d{5})-\d{4}$/, '$1') : text;
  });
  return {
    products: [...new Set(urls.map((url) => hash(earlierProduct(url))))],
    address: hash(JSON.stringify(parts)),
  };
}

const fields = ['address_line1', 'address_line2', 'city', 'state', 'postal_code', 'country'];

function earlierProduct(text: string): string {
  const url = parseUrl(text);
  if (!url) return text;
  const host = url.hostname.replace(/(?<!\.)\.+$/, '');
  if (host !== '') url.hostname = host;
  const path = withPlainLetters(url.pathname).replace(/%[0-9a-f]{2}/gi, (found) => found.toUpperCase());
  return `${url.host}${path}${url.search}`;
}

const hash = (text: string): string => sha256(text).slice(0, 16);
