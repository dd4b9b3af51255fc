/** Groups of order failure reasons. */

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
  /** Failure reason in a word or two, for lists; defaults to the code. */
  readonly short?: string;
  readonly relaxedBy?: 'gift' | 'items' | 'quantity';
  readonly observed?: true;
}

/** Every `error_type` of a failed order, with a hint and the `relax` concern that avoids the failure. */
export const errorTypes = {
  max_price_exceeded: {
    group: 'price',
    short: 'price',
    hint: 'The price went over the ceiling; order again with a higher --max-price.',
  },
  out_of_stock: {
    group: 'product',
    relaxedBy: 'items',
    hint: 'The item is sold out; choose another or order again later.',
  },
  invalid_variant: {
    group: 'product',
    short: 'variant',
    relaxedBy: 'items',
    hint: 'Choose a variant that `errand product get` lists.',
  },
  shipping_unavailable: {
    group: 'shipping',
    short: 'shipping',
    hint: 'The retailer does not ship this there; choose another address or item.',
  },
  gift_option_unavailable: {
    group: 'gift',
    short: 'no gift option',
    relaxedBy: 'gift',
    hint: 'Order without --gift, or allow a normal order with --best-effort gift.',
  },
  quantity_limit_exceeded: {
    group: 'quantity',
    short: 'quantity limit',
    relaxedBy: 'quantity',
    hint: 'Order fewer, or accept what the retailer allows with --best-effort quantity.',
  },
  order_limit_exceeded: {
    group: 'quantity',
    short: 'order limit',
    hint: 'The account has reached its own limit of orders; wait, or ask to raise it.',
  },
  cart_empty: { group: 'cart', hint: 'No item of the order could be bought; choose other items.' },
  login_failed: {
    group: 'account',
    short: 'sign-in',
    hint: 'The retailer refused the sign-in; correct it with `errand account update`.',
  },
  account_locked: { group: 'account', hint: 'Unlock the account at the retailer, then order again.' },
  product_not_found: {
    group: 'product',
    short: 'not found',
    relaxedBy: 'items',
    observed: true,
    hint: 'The page no longer sells a product; search again.',
  },
  product_out_of_stock: {
    group: 'product',
    short: 'out of stock',
    relaxedBy: 'items',
    observed: true,
    hint: 'The item is sold out; choose another or order again later.',
  },
  product_unavailable: {
    group: 'product',
    short: 'unavailable',
    relaxedBy: 'items',
    observed: true,
    hint: 'The item cannot be bought now; choose another.',
  },
  invalid_product_url: {
    group: 'product',
    short: 'product URL',
    relaxedBy: 'items',
    observed: true,
    hint: 'Copy the address of the product page itself.',
  },
  product_variant_required: {
    group: 'product',
    short: 'no variant',
    relaxedBy: 'items',
    observed: true,
    hint: 'Name a variant: --product URL,variant=Label:Value.',
  },
  product_variant_unavailable: {
    group: 'product',
    short: 'variant',
    relaxedBy: 'items',
    observed: true,
    hint: 'Choose another variant with `errand product get`.',
  },
  product_quantity_unavailable: {
    group: 'quantity',
    short: 'quantity',
    relaxedBy: 'quantity',
    observed: true,
    hint: 'Order fewer of this item.',
  },
  add_to_cart_failed: {
    group: 'cart',
    short: 'cart',
    relaxedBy: 'items',
    observed: true,
    hint: 'The retailer did not take the item into the cart; order again.',
  },
  checkout_blocked: {
    group: 'cart',
    short: 'checkout',
    observed: true,
    hint: 'The retailer blocked the checkout; order again later.',
  },
  checkout_failed: {
    group: 'cart',
    short: 'checkout',
    observed: true,
    hint: 'The checkout failed; order again.',
  },
  shipping_address_invalid: {
    group: 'shipping',
    short: 'address',
    observed: true,
    hint: 'Correct the address; error_details.field_errors says why.',
  },
  shipping_method_unavailable: {
    group: 'shipping',
    short: 'shipping',
    observed: true,
    hint: 'No delivery fits; relax --handling-days-max.',
  },
  payment_declined: {
    group: 'payment',
    short: 'payment',
    observed: true,
    hint: 'The payment was declined; choose another payment method.',
  },
  payment_method_invalid: {
    group: 'payment',
    short: 'payment method',
    observed: true,
    hint: 'Choose another payment method.',
  },
  payment_failed: {
    group: 'payment',
    short: 'payment',
    observed: true,
    hint: 'The payment did not go through; order again.',
  },
  session_expired: {
    group: 'account',
    short: 'session',
    observed: true,
    hint: 'The retailer ended the session; order again.',
  },
  account_verification_required: {
    group: 'account',
    short: 'verification',
    observed: true,
    hint: 'The retailer wants a verification code: `errand account forwarding` sets that up.',
  },
  retailer_unavailable: {
    group: 'retailer',
    short: 'retailer',
    observed: true,
    hint: 'The retailer does not respond; order again later.',
  },
} as const satisfies Record<string, TypeRow>;

export type ErrorType = keyof typeof errorTypes;

/** Failure reason of an order in a word or two; undefined if the code itself is short enough. */
export function shortErrorType(type: string): string | undefined {
  const row: TypeRow | undefined = Object.hasOwn(errorTypes, type)
    ? errorTypes[type as ErrorType]
    : undefined;
  return row?.short;
}

/**
 * How a call is authorized. `payment`: each request is paid through a 402 challenge. `basic`: the client token is sent
 * as the user name.
 */
export type Auth = 'none' | 'bearer' | 'payment' | 'basic';
