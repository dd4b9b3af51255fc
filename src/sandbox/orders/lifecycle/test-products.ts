import type { ErrorType } from '../../../api/error-types.ts';
import type { operations } from '../../../api/operations/index.ts';
import type { Shape } from '../../../api/schemas/index.ts';
import { isUrl, trimSlashes } from '../../../platform/net/urls.ts';
import type { LineFacts } from './types.ts';

/** The error codes with which a test product can be rejected at creation. */
export type RehearsedErrorCode = Exclude<
  (typeof operations)['order.create']['errors'][number],
  'already_exists' | 'bad_request' | 'payment_required'
>;

/**
 * A product of the sandbox's shop, and the outcome that an order of this product has. Some products are from the
 * specification (Errors, rule 8), the others are our own.
 */
export interface TestProduct {
  readonly scenario: string;
  readonly name: string;
  readonly description: string;
  /** Error code with which creation is rejected. */
  readonly refusesCreation?: RehearsedErrorCode;
  /** Error type with which the order or the product's line fails. */
  readonly fails?: ErrorType;
  readonly facts?: Partial<LineFacts>;
  readonly pace?: 'slow' | 'never';
  readonly ending?: 'available_for_pickup' | 'undeliverable';
  readonly parcels?: 2;
  readonly cancelledByRetailer?: true;
}

const row = (
  scenario: string,
  name: string,
  description: string,
  rest: Partial<TestProduct> = {},
): TestProduct => ({
  scenario,
  name,
  description,
  ...rest,
});
const fails = (code: ErrorType, name: string, description: string): TestProduct =>
  row(code, name, description, { fails: code });
const refuses = (code: RehearsedErrorCode, name: string, description: string): TestProduct =>
  row(code, name, description, { refusesCreation: code });
/**
 * Test product for an error code that can also occur as a later failure, or for which the specification has no test
 * product.
 */
const refusesAtOnce = (code: RehearsedErrorCode, name: string, description: string): TestProduct =>
  row(`refused_${code}`, name, description, { refusesCreation: code });

export const testProducts = {
  'test-success': row(
    'success',
    'Successful order',
    'Is placed within seconds and delivered within about ten.',
  ),
  'test-price-exceeded': fails(
    'max_price_exceeded',
    'Price over the ceiling',
    'The price at checkout is always over max_price, so the order fails.',
  ),
  'test-out-of-stock': fails('out_of_stock', 'Out of stock', 'The item has sold out, so its line fails.'),
  'test-invalid-variant': fails(
    'invalid_variant',
    'Invalid variant',
    'The retailer does not know the variant, so the line fails.',
  ),
  'test-shipping-unavailable': fails(
    'shipping_unavailable',
    'Shipping unavailable',
    'The retailer does not ship to the address, so the order fails.',
  ),
  'test-invalid-address': refuses(
    'invalid_shipping_address',
    'Invalid shipping address',
    'The order is refused at creation: its address cannot be verified.',
  ),
  'test-url-unreachable': refuses(
    'url_unreachable',
    'Unreachable product page',
    'The order is refused at creation: the page does not respond.',
  ),
  'test-insufficient-funds': refuses(
    'insufficient_funds',
    'Insufficient funds',
    'The order is refused at creation, whatever the wallet holds.',
  ),
  'test-gift-unavailable': row(
    'gift_option_unavailable',
    'No gift option',
    'Fails when ordered as a gift; with the gift concern relaxed it comes as a normal order.',
    { facts: { giftOption: false } },
  ),
  'test-quantity-limit': row(
    'quantity_limit_exceeded',
    'Quantity limit',
    'At most 2 can be bought; with the quantity concern relaxed those 2 are.',
    { facts: { quantityCap: 2 } },
  ),
  'test-order-limit': fails(
    'order_limit_exceeded',
    'Order limit',
    "The account's own limit of orders is reached.",
  ),
  'test-login-failed': fails('login_failed', 'Sign-in refused', 'The retailer refuses the sign-in.'),
  'test-account-locked': fails('account_locked', 'Account locked', 'The retailer has locked the account.'),
  'test-cancelled-by-retailer': row(
    'cancelled_by_retailer',
    'Cancelled by the retailer',
    'Is placed, then the retailer cancels it and the charge comes back.',
    { cancelledByRetailer: true },
  ),
  'test-pickup': row('available_for_pickup', 'Pickup', 'Ends ready for pickup instead of delivered.', {
    ending: 'available_for_pickup',
  }),
  'test-undeliverable': row(
    'undeliverable',
    'Undeliverable',
    'The carrier cannot deliver it and sends it back.',
    {
      ending: 'undeliverable',
    },
  ),
  'test-two-packages': row(
    'two_packages',
    'Two packages',
    'Comes in two parcels, each with its own tracking number.',
    {
      parcels: 2,
    },
  ),
  'test-slow': row('slow', 'Slow start', 'Stays pending for a minute, long enough to be cancelled by hand.', {
    pace: 'slow',
  }),
  'test-never': row('never', 'Never settles', 'Stays in progress, so that a deadline can be rehearsed.', {
    pace: 'never',
  }),
  'test-other-currency': row(
    'other_currency',
    'Price in euros',
    'Is sold in euros: the ceiling holds against what is charged in US dollars.',
    { facts: { currency: 'EUR' } },
  ),
  'test-refused-out-of-stock': refusesAtOnce(
    'out_of_stock',
    'Out of stock at once',
    'Refused at creation: the item has sold out.',
  ),
  'test-refused-invalid-variant': refusesAtOnce(
    'invalid_variant',
    'Invalid variant at once',
    'Refused at creation: the retailer does not know the variant.',
  ),
  'test-refused-shipping-unavailable': refusesAtOnce(
    'shipping_unavailable',
    'Shipping unavailable at once',
    'Refused at creation: the retailer does not ship to the address.',
  ),
  'test-refused-unsupported-retailer': refusesAtOnce(
    'unsupported_retailer',
    'Unsupported retailer',
    'Refused at creation: this retailer cannot be ordered from.',
  ),
  'test-refused-unsupported-country': refusesAtOnce(
    'unsupported_country',
    'Unsupported country',
    'Refused at creation: the retailer does not deliver to the country of the address.',
  ),
  'test-refused-retailer-country-not-supported': refusesAtOnce(
    'retailer_country_not_supported',
    "Retailer's country not supported",
    'Refused at creation: the retailer sells from a country that is not served.',
  ),
  'test-refused-guest-checkout-not-supported': refusesAtOnce(
    'guest_checkout_not_supported',
    'Members only',
    'Refused at creation unless the order is placed with a managed account.',
  ),
  'test-refused-payment-failed': refusesAtOnce(
    'payment_failed',
    'Payment failed',
    'Refused at creation: the payment does not go through.',
  ),
  'test-refused-payment-method-required': refusesAtOnce(
    'payment_method_required',
    'Payment method required',
    'Refused at creation: there is no payment method.',
  ),
  'test-refused-invalid-payment-method': refusesAtOnce(
    'invalid_payment_method',
    'Invalid payment method',
    'Refused at creation: the payment method is refused.',
  ),
} as const satisfies Record<string, TestProduct>;

export type TestSlug = keyof typeof testProducts;

export const testSlugs = Object.keys(testProducts).filter(isTestSlug);

/** Outcomes that a listing can have. These are the outcomes of all test products that are not rejected at creation. */
export const listingOutcomes: readonly string[] = Object.values<TestProduct>(testProducts).flatMap(
  ({ scenario, refusesCreation }) => (refusesCreation ? [] : [scenario]),
);

/** Finds the test product of a scenario. */
export const testProductOf = (scenario: string): TestProduct | undefined =>
  Object.values<TestProduct>(testProducts).find((one) => one.scenario === scenario);

export function isTestSlug(slug: string): slug is TestSlug {
  return Object.hasOwn(testProducts, slug);
}

/** The response to `GET /orders/test-products`. `shopUrl` has no trailing slash. */
export function testProductsResponse(shopUrl: string): Shape<'TestProductsResponse'> {
  const products = testSlugs.map((slug) => {
    const { scenario, name, description, refusesCreation }: TestProduct = testProducts[slug];
    return {
      url: `${shopUrl}/${slug}`,
      scenario,
      name,
      description,
      is_synchronous_error: refusesCreation !== undefined,
    };
  });
  return { products };
}

/** Price (USD cents) and options of a test product. */
export function testFacts(slug: TestSlug): LineFacts {
  const { name, facts }: TestProduct = testProducts[slug];
  return { ...shopFacts, productId: slug, title: name, ...facts };
}

const shopFacts = {
  retailer: 'sandbox-shop',
  priceCents: 1_999,
  currency: 'USD',
  available: true,
  giftOption: true,
  // Allows tests of `line_rejections`, which only one retailer reports.
  reportsRejections: true,
} as const;

const loopback = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns the test product that a product URL refers to, or null. Matches the shop's own address, and the same path on
 * any loopback host and port, because the sandbox runs embedded and on ports chosen at startup.
 */
export function slugOf(url: string, shopUrl: string): TestSlug | null {
  if (url.length > maxKnownLength) return readSlug(url, shopUrl);
  const slugs = slugsOf(shopUrl);
  const known = slugs.get(url);
  if (known !== undefined) return known;
  const slug = readSlug(url, shopUrl);
  if (slugs.size >= maxKnown) slugs.clear();
  slugs.set(url, slug);
  return slug;
}

/** Caches parsed URLs per shop, because they are looked up repeatedly and many orders use the same URLs. */
const shops = new Map<string, Map<string, TestSlug | null>>();
const [maxKnown, maxKnownLength] = [1_000, 1_000];

function slugsOf(shopUrl: string): Map<string, TestSlug | null> {
  const known = shops.get(shopUrl);
  if (known) return known;
  if (shops.size >= maxShops) shops.clear();
  const slugs = new Map<string, TestSlug | null>();
  shops.set(shopUrl, slugs);
  return slugs;
}
const maxShops = 10;

function readSlug(url: string, shopUrl: string): TestSlug | null {
  if (!isUrl(url) || !isUrl(shopUrl)) return null;
  const page = new URL(url);
  const shop = new URL(shopUrl);
  if (page.origin !== shop.origin && !loopback.test(page.hostname)) return null;
  const folder = `${trimSlashes(shop.pathname)}/`;
  if (!page.pathname.startsWith(folder)) return null;
  const slug = trimSlashes(page.pathname.slice(folder.length));
  return isTestSlug(slug) ? slug : null;
}
