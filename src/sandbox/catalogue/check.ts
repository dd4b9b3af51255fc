import { destinationCountries, type UnsupportedReason } from '../../contract/enums.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import { type Retailer, retailerOf, unsupportedDomains } from './retailers.ts';

type Check = Shape<'RetailerCheckResponse'>;

/** Would an order for this URL to this country be refused: the very code that ordering would answer with. */
export function checkUrl(url: string, country: string, shopUrl: string): Check {
  const domain = new URL(url).hostname;
  const retailer = retailerOf(url);
  const isOwnShop =
    domain === new URL(shopUrl).hostname || /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(domain);
  const reason = reasonAgainst(domain, retailer, country);
  return {
    url,
    domain,
    orderable: reason === null,
    support: supportOf(domain, retailer, isOwnShop),
    retailer: retailer
      ? {
          retailer: retailer.retailer,
          brand: retailer.name,
          display_name: retailer.name,
          country: retailer.home,
        }
      : null,
    platform: retailer?.kind === 'storefront' ? 'hosted-storefront' : null,
    checkout: retailer
      ? { guest_checkout: retailer.guestCheckout, use_your_account: retailer.kind !== 'storefront' }
      : null,
    ships_to: [...(retailer?.countries ?? (unsupportedDomains.includes(domain) ? [] : destinationCountries))],
    evidence: { orders_placed: 0, last_order_at: null },
    support_detail: reason === null ? null : details[reason](domain, country),
    unsupported_reason: reason,
    how_to_order: reason === null ? 'POST /orders with this URL' : null,
  };
}

const details: Readonly<Record<UnsupportedReason, (domain: string, country: string) => string>> = {
  unsupported_retailer: (domain) => `${domain} cannot be ordered from.`,
  unsupported_country: (domain, country) => `${domain} does not deliver to ${country}.`,
  guest_checkout_not_supported: (domain) =>
    `${domain} sells to members only: order with your own account there.`,
};

function reasonAgainst(
  domain: string,
  retailer: Retailer | undefined,
  country: string,
): UnsupportedReason | null {
  if (unsupportedDomains.includes(domain)) return 'unsupported_retailer';
  const served: readonly string[] = retailer?.countries ?? destinationCountries;
  if (!served.includes(country)) return 'unsupported_country';
  return retailer && !retailer.guestCheckout ? 'guest_checkout_not_supported' : null;
}

function supportOf(domain: string, retailer: Retailer | undefined, isOwnShop: boolean): Check['support'] {
  if (unsupportedDomains.includes(domain)) return 'unsupported';
  if (isOwnShop) return 'verified';
  return retailer?.support ?? 'untested';
}
