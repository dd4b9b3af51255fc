import { type Auth, type ErrorType, errorTypes } from './error-types.ts';
import { textIn } from './json.ts';
import { isFailedOrder } from './order-state.ts';

/** HTTP status of an error code, and a hint for the caller. */
export interface CodeRow {
  readonly status: number;
  readonly hint: string;
  /**
   * Whether the order itself causes the error, by its product, retailer or address. An order that was accepted may
   * still fail for the same reason.
   */
  readonly isOfOrder?: true;
  /** Observed on the service, but not in its specification. */
  readonly observed?: true;
  /** Whether the service no longer returns this code. */
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
    hint: 'The key is not known to the service; store a valid one with `errand auth token`, or mint one for a sandbox with `errand sandbox mint`.',
  },
  token_expired: {
    status: 401,
    hint: 'The key has expired; mint another with `errand sandbox mint` or sign in again.',
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
  payment_required: {
    status: 402,
    observed: true,
    hint: 'Nothing was ordered: pay at the address that the service gives, then send the same order again with the same key.',
  },
  payment_method_required: { status: 402, hint: 'Add a payment method, or pay from the wallet.' },
  invalid_payment_method: { status: 402, hint: 'Choose another payment method; this one was refused.' },
  invalid_shipping_address: {
    status: 400,
    isOfOrder: true,
    hint: 'Correct the shipping address; the message names what was refused.',
  },
  url_unreachable: {
    status: 400,
    isOfOrder: true,
    hint: 'Open the product URL in a browser; copy the address of the product page itself.',
  },
  non_us_retailer: {
    status: 400,
    isOfOrder: true,
    legacy: true,
    hint: 'Choose a retailer that sells in the destination country.',
  },
  unsupported_retailer: {
    status: 400,
    isOfOrder: true,
    hint: '`errand retailer list` shows the retailers that can be ordered from.',
  },
  unsupported_country: {
    status: 400,
    isOfOrder: true,
    hint: 'The service delivers to US, DE and IT. A US state goes into its own field, such as --state IL.',
  },
  retailer_country_not_supported: {
    status: 400,
    isOfOrder: true,
    hint: 'This retailer sells from a country that is not served; `errand retailer list` shows others.',
  },
  guest_checkout_not_supported: {
    status: 400,
    isOfOrder: true,
    hint: 'This retailer needs your own account: `errand account add`, then order with --account.',
  },
  invalid_variant: {
    status: 400,
    isOfOrder: true,
    hint: 'Choose one of the variants that `errand product get` lists.',
  },
  out_of_stock: {
    status: 400,
    isOfOrder: true,
    hint: 'Choose another product or seller, or order again later.',
  },
  shipping_unavailable: {
    status: 400,
    isOfOrder: true,
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

export const errorHint = (code: string): string | undefined =>
  Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode].hint : errorTypeHint(code);

/**
 * Picks the hint for an error response. Special cases: the legacy surface uses its own token, and a failed order has
 * nothing left to cancel. @param details are the details of the error response, as received. @param isRead tells
 * whether the call only reads, and orders nothing.
 */
export function errorResponseHint(
  code: string,
  auth: Auth,
  details: unknown,
  isRead = false,
): string | undefined {
  if (isRead && code === ('insufficient_funds' satisfies ErrorCode)) return fundForReads;
  if (code === ('order_not_cancellable' satisfies ErrorCode) && isFailedOrder(textIn(details, 'status')))
    return neverCancelled;
  return auth === 'basic' && Object.hasOwn(errorCodes, code) && errorCodes[code as ErrorCode].status === 401
    ? legacyTokenHint
    : errorHint(code);
}

const fundForReads =
  'The wallet has to cover even a call that orders nothing: fund it; `errand wallet` shows what it holds.';

const neverCancelled = 'It has ended already; nothing is left to cancel.';

const legacyTokenHint =
  'Store a valid client token with `errand auth token --legacy`, or set ERRAND_LEGACY_TOKEN.';

/**
 * Hint for an order's `error_type`. @param hasAccount tells whether the order used one of the user's retailer accounts.
 */
export const errorTypeHint = (type: string, hasAccount = true): string | undefined =>
  type === 'login_failed' && !hasAccount
    ? errorCodes.guest_checkout_not_supported.hint
    : Object.hasOwn(errorTypes, type)
      ? errorTypes[type as ErrorType].hint
      : undefined;
