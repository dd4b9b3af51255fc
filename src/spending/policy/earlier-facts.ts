import { objectsIn, own, textIn } from '../../api/json.ts';
import { sha256 } from '../../format/canonical.ts';
import { parseUrl, withPlainLetters } from '../../platform/net/urls.ts';

// Reservations from before the canonical form of products and recipients hold hashes of another form. They are kept for
// 400 days. This code only serves to find duplicates of their orders.

/** An order's products and address as older reservations hold them. */
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
