import type { FulfillmentConcern } from '../../../api/enums.ts';
import { type ErrorType, errorTypes } from '../../../api/error-types.ts';
import type { OrderLine } from './lines.ts';
import { paymentCurrency, spokenAmount } from './lines.ts';
import { chargedCents, type Purchase, priceOf } from './payment.ts';
import type { Concession, ItemChange, JobResult, OrderRecord, PriceComponents } from './types.ts';

/** A user-facing sentence for each failure. */
const sentences: Readonly<Record<ErrorType, string>> = {
  max_price_exceeded: 'The price at checkout is over max_price.',
  out_of_stock: 'The item is out of stock.',
  invalid_variant: 'The retailer does not offer this variant.',
  shipping_unavailable: 'The retailer does not ship this item to the address.',
  gift_option_unavailable: 'The retailer offers no free gift option for this item.',
  quantity_limit_exceeded: 'The retailer does not sell that many of this item.',
  order_limit_exceeded: 'The account has reached its limit of orders.',
  cart_empty: 'No item of the order could be bought.',
  login_failed: 'The retailer refused the sign-in to the account.',
  account_locked: 'The retailer has locked the account.',
  product_not_found: 'The page sells no product.',
  product_out_of_stock: 'The item is out of stock.',
  product_unavailable: 'The item cannot be bought as requested.',
  invalid_product_url: 'The URL is not that of a product page.',
  product_variant_required: 'The item comes in variants and the order names none.',
  product_variant_unavailable: 'This variant of the item cannot be bought now.',
  product_quantity_unavailable: 'The retailer has fewer of this item than requested.',
  add_to_cart_failed: 'The retailer did not take the item into the cart.',
  checkout_blocked: 'The retailer blocked the checkout.',
  checkout_failed: 'The checkout did not go through.',
  shipping_address_invalid: 'The retailer refused the shipping address.',
  shipping_method_unavailable: 'No delivery leaves within handling_days_max.',
  payment_declined: 'The payment was declined.',
  payment_method_invalid: 'The payment method was refused.',
  payment_failed: 'The payment did not go through.',
  session_expired: 'The retailer ended the session.',
  account_verification_required: 'The retailer requires a verification code.',
  retailer_unavailable: 'The retailer does not respond.',
};

/** Possible problems of a line, in the order in which a checkout detects the problems. */
const problems: readonly (readonly [ErrorType, (line: OrderLine, record: OrderRecord) => boolean])[] = [
  ['out_of_stock', ({ facts }) => !facts.available || facts.quantityCap === 0],
  ['invalid_variant', hasUnknownVariant],
  ['product_unavailable', lacksCondition],
  ['shipping_method_unavailable', isTooSlow],
  ['quantity_limit_exceeded', ({ facts, item }) => item.quantity > (facts.quantityCap ?? item.quantity)],
  ['gift_option_unavailable', ({ facts }, record) => record.is_gift && !facts.giftOption],
];

/** Failures of the whole order. No single line is at fault, and no relaxation applies. */
const orderWide: ReadonlySet<ErrorType> = new Set(['login_failed', 'account_locked', 'order_limit_exceeded']);

/**
 * All problems of a line, in checkout order. The ceiling and the account are checked elsewhere, for the order as a
 * whole.
 */
function problemsOf(line: OrderLine, record: OrderRecord): ErrorType[] {
  const rehearsed = line.test?.fails;
  const ownLine = rehearsed && rehearsed !== 'max_price_exceeded' && !orderWide.has(rehearsed);
  const met = problems.filter(([, found]) => found(line, record)).map(([code]) => code);
  return ownLine ? [rehearsed, ...met] : met;
}

/**
 * The failure, simulated by a test product, that stops the order before its lines are checked; undefined if there is
 * none.
 */
function orderWideFailure(lines: readonly OrderLine[]): ErrorType | undefined {
  return lines.map((line) => line.test?.fails).find((code) => code !== undefined && orderWide.has(code));
}

/** The relaxed concern that permits this problem; null if there is none (specification, Errors, rule 6). */
function relaxing(code: ErrorType, record: OrderRecord): FulfillmentConcern | null {
  const concern = concernOf(code);
  return concern && record.fulfillment?.[concern] === 'best_effort' ? concern : null;
}

/** Whether a failure of this kind is the fault of a single line rather than the whole order. */
export const blamesLine = (code: ErrorType): boolean =>
  concernOf(code) !== undefined || code === 'shipping_unavailable';

function concernOf(code: ErrorType): FulfillmentConcern | undefined {
  const row: { readonly hint: string; readonly relaxedBy?: FulfillmentConcern } = errorTypes[code];
  return row.relaxedBy;
}

function hasUnknownVariant({ facts, item }: OrderLine): boolean {
  const { options } = facts;
  if (!options) return false;
  return (item.variant ?? []).some(({ label, value }) => !options[label]?.includes(value));
}

function lacksCondition({ facts, item }: OrderLine): boolean {
  if (!facts.conditions) return false;
  const accepted = facts.conditions.filter((condition) => item.condition_in?.includes(condition) ?? true);
  return accepted.every((condition) => item.condition_not_in?.includes(condition) ?? false);
}

function isTooSlow({ facts }: OrderLine, record: OrderRecord): boolean {
  return record.handling_days_max !== null && (facts.handlingDays ?? 0) > record.handling_days_max;
}

/** Outcome of an order at checkout. */
export interface Verdict {
  readonly purchases: readonly Purchase[];
  readonly price: PriceComponents;
  readonly concessions: readonly Concession[];
  readonly skipped: readonly ItemChange[];
  /** Null if the purchases proceed. */
  readonly failure: CheckoutFailure | null;
}

/**
 * Decides the outcome of an order. Every requirement is strict unless its concern is relaxed; the ceiling and account
 * limits are never relaxed (specification, Errors, rule 6).
 */
export function decide(record: OrderRecord, lines: readonly OrderLine[], accountError?: ErrorType): Verdict {
  const decided = lines.map((line) => decideLine(line, record));
  const purchases = decided.flatMap(({ purchase }) => purchase ?? []);
  const price = priceOf(purchases);
  const rejections = decided.flatMap(({ rejection }) => rejection ?? []);
  const whole = accountError ?? orderWideFailure(lines);
  return {
    purchases,
    price,
    concessions: whole ? [] : decided.flatMap(({ concessions }) => concessions),
    skipped: whole ? [] : decided.flatMap(({ skipped }) => skipped ?? []),
    failure: whole ? { code: whole, rejections: [] } : failureOf(record, purchases, rejections, price),
  };
}

function failureOf(
  record: OrderRecord,
  purchases: readonly Purchase[],
  rejections: readonly Rejection[],
  price: PriceComponents,
): CheckoutFailure | null {
  const [first] = rejections;
  if (first) return { code: first.code, rejections };
  if (purchases.length === 0) return { code: 'cart_empty', rejections };
  return overCeiling(record, purchases, price) ? { code: 'max_price_exceeded', rejections, price } : null;
}

/** Whether the purchases cost more than the caller authorized; always true for `test-price-exceeded`. */
export function overCeiling(
  record: OrderRecord,
  purchases: readonly Purchase[],
  price: PriceComponents,
): boolean {
  return (
    chargedCents(price) > record.max_price ||
    purchases.some(({ line }) => line.test?.fails === 'max_price_exceeded')
  );
}

interface LineVerdict {
  readonly concessions: readonly Concession[];
  readonly purchase?: Purchase;
  readonly rejection?: Rejection;
  readonly skipped?: ItemChange;
}

function decideLine(line: OrderLine, record: OrderRecord): LineVerdict {
  const concessions: Concession[] = [];
  let { quantity } = line.item;
  for (const code of problemsOf(line, record)) {
    const concern = relaxing(code, record);
    if (concern === null) return { concessions, rejection: { line, code } };
    const fulfilled = concern === 'quantity' ? Math.min(quantity, line.facts.quantityCap ?? quantity) : null;
    concessions.push({
      concern,
      code,
      message: `${sentences[code]} ${consequences[concern]}`,
      item_id: line.item.id,
      url: line.item.url,
      requested_quantity: fulfilled === null ? null : quantity,
      fulfilled_quantity: fulfilled,
    });
    if (concern === 'items')
      return { concessions, skipped: { id: line.item.id, status: 'skipped', error_type: code } };
    quantity = fulfilled ?? quantity;
  }
  return { concessions, purchase: { line, quantity } };
}

const consequences = {
  gift: 'It comes as a normal order.',
  items: 'It was skipped.',
  quantity: 'As many as it sells were bought.',
} as const;

type FieldError = NonNullable<JobResult['error_details']>['field_errors'][number];

interface Rejection {
  readonly line: OrderLine;
  readonly code: ErrorType;
}

export interface CheckoutFailure {
  readonly code: ErrorType;
  /** Lines at fault; empty if the account, the price or the whole cart is the cause. */
  readonly rejections: readonly Rejection[];
  /** The cart's price, if the price is the cause. */
  readonly price?: PriceComponents;
}

type Field = Pick<FieldError, 'field' | 'received' | 'expected'>;

/** For failures caused by a field of the order: which field the caller has to change, and how. */
const fields: Partial<Record<ErrorType, (line: OrderLine, record: OrderRecord) => Field>> = {
  invalid_variant: ({ index, item, facts }) => ({
    field: `products.${index}.variant`,
    received: item.variant,
    expected: optionsIn(facts) ?? 'a variant that the product page lists',
  }),
  quantity_limit_exceeded: ({ index, item, facts }) => ({
    field: `products.${index}.quantity`,
    received: item.quantity,
    expected: facts.quantityCap === undefined ? null : String(facts.quantityCap),
  }),
  gift_option_unavailable: () => ({ field: 'is_gift', received: true, expected: 'false' }),
  shipping_method_unavailable: ({ facts }, record) => ({
    field: 'handling_days_max',
    received: record.handling_days_max,
    expected: facts.handlingDays === undefined ? null : String(facts.handlingDays),
  }),
};

/** The options of a line as text: `Size: S, M, L; Colour: red`. */
const optionsIn = ({ options }: OrderLine['facts']): string | undefined =>
  options &&
  Object.entries(options)
    .map(([label, values]) => `${label}: ${values.join(', ')}`)
    .join('; ');

/** Builds the `job_result` of a failed order (specification, Errors, rules 5 and 7). */
export function failedResult(record: OrderRecord, failure: CheckoutFailure): JobResult {
  const { code, rejections } = failure;
  const message = messageOf(record, failure);
  return {
    success: false,
    error: message,
    error_type: code,
    error_details: {
      code,
      message,
      address_validation_reasons: code === 'shipping_address_invalid' ? [message] : [],
      field_errors: fieldErrors(record, failure),
      line_rejections: rejections
        .filter(({ line }) => line.facts.reportsRejections)
        .map(({ line: { item }, code }) => ({
          item_id: item.id,
          url: item.url,
          code,
          message: sentences[code],
        })),
    },
    price_components: failure.price ?? null,
    estimated_delivery: null,
    merchant_order_ids: [],
  };
}

function messageOf(record: OrderRecord, { code, price, rejections }: CheckoutFailure): string {
  if (price) {
    const total = spokenAmount(chargedCents(price), paymentCurrency);
    return `The total at checkout is ${total}; max_price allows ${spokenAmount(record.max_price, paymentCurrency)}.`;
  }
  const [first] = rejections;
  const named = first && record.items.length > 1;
  return named ? `${sentences[code]} (${first.line.facts.title})` : sentences[code];
}

function fieldErrors(record: OrderRecord, { code, rejections, price }: CheckoutFailure): FieldError[] {
  if (price) {
    const expected = String(chargedCents(price));
    return [{ field: 'max_price', code, message: sentences[code], received: record.max_price, expected }];
  }
  return rejections.flatMap(({ line, code }) => {
    const field = fields[code]?.(line, record);
    return field ? [{ ...field, code, message: sentences[code] }] : [];
  });
}

/**
 * Final item states of a failed order. If lines are at fault, those lines fail with their code and the other lines are
 * cancelled. Otherwise all items fail. In that case, the items get the code only if the price is the cause.
 */
export function failedItems(
  record: OrderRecord,
  failure: CheckoutFailure,
  skipped: readonly ItemChange[],
): ItemChange[] {
  const skips = new Map(skipped.map((change) => [change.id, change]));
  const rejections = new Map(failure.rejections.map((rejection) => [rejection.line.item.id, rejection]));
  return record.items.map(({ id }) => {
    const skip = skips.get(id);
    if (skip) return skip;
    const rejection = rejections.get(id);
    if (rejection) return { id, status: 'failed', error_type: rejection.code };
    if (failure.rejections.length > 0) {
      return { id, status: 'cancelled', cancellation_reason: 'Another line of the order was refused.' };
    }
    return failure.price ? { id, status: 'failed', error_type: failure.code } : { id, status: 'failed' };
  });
}
