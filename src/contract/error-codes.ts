import type { Auth } from './operation.ts';

/** Every error code with its HTTP status and what a caller can do about it. */
interface CodeRow {
  readonly status: number;
  readonly hint: string;
  /** Known from watching the service, not from its specification. */
  readonly observed?: true;
  /** No longer returned. */
  readonly legacy?: true;
}

export const errorCodes = {
  unauthorized: {
    status: 401,
    hint: 'Send a valid key: `errand auth status` shows which one is used, `errand auth token` stores one.',
  },
  forbidden: {
    status: 403,
    hint: 'This key may not do that; use a key of the account that owns the record.',
  },
  invalid_token: {
    status: 401,
    hint: 'The key is not known to the service; store a valid one with `errand auth token`, or mint one for a sandbox with `errand sandbox mint --replace`.',
  },
  token_expired: {
    status: 401,
    hint: 'The key has expired; mint another with `errand sandbox mint --replace` or sign in again.',
  },
  not_found: {
    status: 404,
    hint: 'Check the id, and that the key belongs to the account that made the record.',
  },
  already_exists: { status: 409, hint: 'The record exists already; details.identifier names it.' },
  validation_error: { status: 422, hint: 'Correct the named field and send the request again.' },
  insufficient_funds: {
    status: 402,
    hint: 'Fund the wallet, lower max_price, or order with a saved retailer account.',
  },
  payment_failed: {
    status: 402,
    hint: 'The payment did not go through; check the payment method and try again.',
  },
  payment_method_required: { status: 402, hint: 'Add a payment method, or pay from the wallet.' },
  invalid_payment_method: { status: 402, hint: 'Choose another payment method; this one was refused.' },
  invalid_shipping_address: {
    status: 400,
    hint: 'Correct the shipping address; the message names what was refused.',
  },
  url_unreachable: {
    status: 400,
    hint: 'Open the product URL in a browser; copy the address of the product page itself.',
  },
  non_us_retailer: {
    status: 400,
    legacy: true,
    hint: 'Choose a retailer that sells in the destination country.',
  },
  unsupported_retailer: {
    status: 400,
    hint: '`errand retailer list` shows the retailers that can be ordered from.',
  },
  unsupported_country: { status: 400, hint: 'The service delivers to US, DE and IT.' },
  retailer_country_not_supported: {
    status: 400,
    hint: '`errand retailer check URL --country CC` tells where this retailer delivers.',
  },
  guest_checkout_not_supported: {
    status: 400,
    hint: 'This retailer needs your own account: `errand account add`, then order with --account.',
  },
  invalid_variant: { status: 400, hint: 'Choose one of the variants that `errand product get` lists.' },
  out_of_stock: { status: 400, hint: 'Choose another product or seller, or order again later.' },
  shipping_unavailable: {
    status: 400,
    hint: 'The retailer does not ship this item there; choose another address or item.',
  },
  order_not_cancellable: {
    status: 400,
    hint: 'Only a pending order can be cancelled; ask for a return once it is delivered.',
  },
  return_not_allowed: { status: 400, hint: 'Only a placed order can be returned, and an item only once.' },
  external_service_error: { status: 502, hint: 'A service behind this one failed; try again later.' },
  stripe_error: { status: 502, hint: 'The card processor failed; try again later.' },
  stytch_error: { status: 502, hint: 'The sign-in provider failed; try again later.' },
  internal_error: { status: 500, hint: 'The service failed; try again later.' },
  bad_request: { status: 400, hint: 'Correct the request as the message says.' },
  rate_limit_exceeded: { status: 429, hint: 'Wait as long as Retry-After says, then try again.' },
  service_unavailable: { status: 503, hint: 'The service is not available; try again later.' },
  authorization_pending: { status: 400, hint: 'Approve the code in the browser; polling goes on.' },
  slow_down: { status: 400, hint: 'Poll less often: wait details.interval seconds between polls.' },
  access_denied: { status: 400, hint: 'The request was denied; start again with `errand auth login`.' },
  expired_token: {
    status: 400,
    observed: true,
    hint: 'The code has expired; start again with `errand auth login`.',
  },
} as const satisfies Record<string, CodeRow>;

export type ErrorCode = keyof typeof errorCodes;

export const errorTypeGroups = [
  'product',
  'price',
  'cart',
  'gift',
  'shipping',
  'payment',
  'account',
  'retailer',
  'quantity',
] as const;

interface TypeRow {
  readonly group: (typeof errorTypeGroups)[number];
  readonly hint: string;
  readonly relaxedBy?: 'gift' | 'items' | 'quantity';
  readonly observed?: true;
}

/** Every `error_type` of an order that failed, why it helps to know, and the concern that relaxes it. */
export const errorTypes = {
  max_price_exceeded: {
    group: 'price',
    hint: 'The price went over the ceiling; order again with a higher --max-price.',
  },
  out_of_stock: {
    group: 'product',
    relaxedBy: 'items',
    hint: 'The item is sold out; choose another or order again later.',
  },
  invalid_variant: {
    group: 'product',
    relaxedBy: 'items',
    hint: 'Choose a variant that `errand product get` lists.',
  },
  shipping_unavailable: {
    group: 'shipping',
    hint: 'The retailer does not ship this there; choose another address or item.',
  },
  gift_option_unavailable: {
    group: 'gift',
    relaxedBy: 'gift',
    hint: 'Order without --gift, or allow a normal order with --best-effort gift.',
  },
  quantity_limit_exceeded: {
    group: 'quantity',
    relaxedBy: 'quantity',
    hint: 'Order fewer, or accept what the retailer allows with --best-effort quantity.',
  },
  order_limit_exceeded: {
    group: 'quantity',
    hint: 'The account has reached its own limit of orders; wait, or ask to raise it.',
  },
  cart_empty: { group: 'cart', hint: 'No item of the order could be bought; choose other items.' },
  login_failed: {
    group: 'account',
    hint: 'The retailer refused the sign-in; correct it with `errand account update`.',
  },
  account_locked: { group: 'account', hint: 'Unlock the account at the retailer, then order again.' },
  product_not_found: {
    group: 'product',
    relaxedBy: 'items',
    observed: true,
    hint: 'The page no longer sells a product; search again.',
  },
  product_out_of_stock: {
    group: 'product',
    relaxedBy: 'items',
    observed: true,
    hint: 'The item is sold out; choose another or order again later.',
  },
  product_unavailable: {
    group: 'product',
    relaxedBy: 'items',
    observed: true,
    hint: 'The item cannot be bought now; choose another.',
  },
  invalid_product_url: {
    group: 'product',
    relaxedBy: 'items',
    observed: true,
    hint: 'Copy the address of the product page itself.',
  },
  product_variant_required: {
    group: 'product',
    relaxedBy: 'items',
    observed: true,
    hint: 'Name a variant: --product URL,variant=Label:Value.',
  },
  product_variant_unavailable: {
    group: 'product',
    relaxedBy: 'items',
    observed: true,
    hint: 'Choose another variant with `errand product get`.',
  },
  product_quantity_unavailable: {
    group: 'quantity',
    relaxedBy: 'quantity',
    observed: true,
    hint: 'Order fewer of this item.',
  },
  add_to_cart_failed: {
    group: 'cart',
    relaxedBy: 'items',
    observed: true,
    hint: 'The retailer did not take the item into the cart; order again.',
  },
  checkout_blocked: {
    group: 'cart',
    observed: true,
    hint: 'The retailer blocked the checkout; order again later.',
  },
  checkout_failed: { group: 'cart', observed: true, hint: 'The checkout failed; order again.' },
  shipping_address_invalid: {
    group: 'shipping',
    observed: true,
    hint: 'Correct the address; error_details.field_errors says why.',
  },
  shipping_method_unavailable: {
    group: 'shipping',
    observed: true,
    hint: 'No delivery fits; relax --handling-days-max.',
  },
  payment_declined: {
    group: 'payment',
    observed: true,
    hint: 'The payment was declined; choose another payment method.',
  },
  payment_method_invalid: { group: 'payment', observed: true, hint: 'Choose another payment method.' },
  payment_failed: { group: 'payment', observed: true, hint: 'The payment did not go through; order again.' },
  session_expired: { group: 'account', observed: true, hint: 'The retailer ended the session; order again.' },
  account_verification_required: {
    group: 'account',
    observed: true,
    hint: 'The retailer wants a verification code: `errand account forwarding` sets that up.',
  },
  retailer_unavailable: {
    group: 'retailer',
    observed: true,
    hint: 'The retailer does not respond; order again later.',
  },
} as const satisfies Record<string, TypeRow>;

export type ErrorType = keyof typeof errorTypes;

export const errorHint = (code: string): string | undefined =>
  Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].hint : errorTypeHint(code);

/** A hint for a refusal; the legacy surface has a token of its own. */
export const refusalHint = (code: string, auth: Auth): string | undefined =>
  auth === 'basic' && Object.hasOwn(errorCodes, code) && errorCodes[code as ErrorCode].status === 401
    ? legacyTokenHint
    : errorHint(code);

const legacyTokenHint =
  'Store a valid client token with `errand auth token --legacy`, or set ERRAND_LEGACY_TOKEN.';

/** @param hasAccount whether the order was placed with a retailer account of the user's. */
export const errorTypeHint = (type: string, hasAccount = true): string | undefined =>
  type === 'login_failed' && !hasAccount
    ? errorCodes.guest_checkout_not_supported.hint
    : Object.hasOwn(errorTypes, type)
      ? errorTypes[type as ErrorType].hint
      : undefined;
