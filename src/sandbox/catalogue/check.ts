import { destinationCountries, type UnsupportedReason } from '../../contract/enums.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import { domainOf, isUnsupported, type Retailer } from './retailers.ts';

type Check = Shape<'RetailerCheckResponse'>;

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Would an order for this URL to this country be refused: the very code that ordering would answer with.
 * @param retailer that sells what the URL names, if it is one of ours.
 * @param country two letters, any case.
 */
export function checkUrl(
  url: string,
  country: string,
  retailer: Retailer | undefined,
  shopUrl: string,
): Check {
  const domain = domainOf(url);
  const destination = country.toUpperCase();
  const reason = reasonAgainst(domain, retailer, destination);
  return {
    url,
    domain,
    orderable: reason === null,
    support: supportOf(domain, retailer, shopUrl),
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
    ships_to: isUnsupported(domain) ? [] : [...(retailer?.countries ?? destinationCountries)],
    evidence: { orders_placed: 0, last_order_at: null },
    support_detail: reason === null ? null : details[reason](domain, destination),
    unsupported_reason: reason,
    how_to_order: howToOrder(reason),
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
  if (isUnsupported(domain)) return 'unsupported_retailer';
  const served: readonly string[] = retailer?.countries ?? destinationCountries;
  if (!served.includes(country)) return 'unsupported_country';
  return retailer && !retailer.guestCheckout ? 'guest_checkout_not_supported' : null;
}

function supportOf(domain: string, retailer: Retailer | undefined, shopUrl: string): Check['support'] {
  if (isUnsupported(domain)) return 'unsupported';
  if (retailer) return retailer.support;
  return domain === domainOf(shopUrl) || loopback.test(domain) ? 'verified' : 'untested';
}

function howToOrder(reason: UnsupportedReason | null): string | null {
  if (reason === null) return 'POST /orders with this URL';
  return reason === 'guest_checkout_not_supported'
    ? 'POST /orders with this URL and the retailer_credentials_id of your account there'
    : null;
}
