import { destinationCountries } from '../../../api/enums.ts';
import { linesOf, type OrderLine } from './lines.ts';
import { estimatedDelivery, journeys } from './parcels.ts';
import { initialRecord } from './record.ts';
import { type Draw, drawFor, type Schedule, scheduleFor } from './schedule.ts';
import { type RehearsedErrorCode, slugOf, type TestProduct, testProducts } from './test-products.ts';
import type {
  ItemChange,
  JobResult,
  NewOrder,
  OrderBody,
  OrderEnvironment,
  OrderPlan,
  OrderRecord,
  OrderState,
  Transition,
} from './types.ts';
import { type CheckoutFailure, decide, failedItems, failedResult, type Verdict } from './verdict.ts';

/** The parts of an error response. The code determines the status. */
interface CreationError {
  readonly code: RehearsedErrorCode;
  readonly message: string;
  /** Empty for `insufficient_funds`: the wallet code fills in `required`, `available` and `fund_with`. */
  readonly details: Readonly<Record<string, unknown>>;
  /**
   * Whether the error is detected only when the order is placed. If so, a check of the order in advance does not report
   * the error.
   */
  readonly isLate: boolean;
}

/**
 * The error that an order's test products cause at creation, or null if they cause none (specification, Errors, rule
 * 8).
 */
export function creationError(order: OrderBody, shopUrl: string): CreationError | null {
  for (const [index, { url }] of order.products.entries()) {
    const code = rehearsedErrorCode(url, shopUrl);
    if (code === null) continue;
    if (code === 'guest_checkout_not_supported' && order.retailer_credentials_id != null) continue;
    const { isLate = false, ...body } = refusals[code]({ order, url, index });
    return { code, ...body, isLate };
  }
  return null;
}

/**
 * The code with which a test product is rejected at creation. Null if the product is not rejected or the URL is not a
 * test product.
 */
export function rehearsedErrorCode(url: string, shopUrl: string): RehearsedErrorCode | null {
  const slug = slugOf(url, shopUrl);
  if (slug === null) return null;
  const { refusesCreation }: TestProduct = testProducts[slug];
  return refusesCreation ?? null;
}

interface Refused {
  readonly order: OrderBody;
  readonly url: string;
  /** Index of the product line. */
  readonly index: number;
}

type CreationErrorBody = Pick<CreationError, 'message' | 'details'> & { readonly isLate?: true };

const refusals: Readonly<Record<RehearsedErrorCode, (refused: Refused) => CreationErrorBody>> = {
  url_unreachable: ({ url }) => ({ message: `The product page does not respond: ${url}`, details: { url } }),
  insufficient_funds: () => ({ message: 'The wallet cannot cover this.', details: {}, isLate: true }),
  invalid_shipping_address: ({ order }) => addressRefused(order),
  out_of_stock: ({ url }) => ({
    message: `The item is out of stock: ${url}`,
    details: { url },
    isLate: true,
  }),
  invalid_variant: ({ order, url, index }) => ({
    message: `The retailer does not offer this variant: ${url}`,
    details: {
      url,
      field_errors: [
        {
          field: `products.${index}.variant`,
          code: 'invalid_variant',
          message: 'The retailer does not offer this variant.',
          received: order.products[index]?.variant ?? null,
          expected: 'a variant that the product page lists',
        },
      ],
    },
    isLate: true,
  }),
  shipping_unavailable: ({ order, url }) => ({
    message: `The retailer does not ship this item to the address: ${url}`,
    details: { url, country: countryOf(order) },
    isLate: true,
  }),
  unsupported_retailer: ({ url }) => ({
    message: `This retailer cannot be ordered from: ${url}`,
    details: { url },
  }),
  unsupported_country: ({ order, url }) => ({
    message: `The retailer does not deliver to ${countryOf(order)}: ${url}`,
    details: { url, country: countryOf(order) },
  }),
  retailer_country_not_supported: ({ url }) => ({
    message: `The retailer sells from a country that is not served; ${destinationCountries.join(', ')} are: ${url}`,
    details: { url },
  }),
  guest_checkout_not_supported: ({ url }) => ({
    message: `The retailer sells to members only; order with your own account there: ${url}`,
    details: { url },
  }),
  payment_failed: (refused) => ({
    message: 'The payment did not go through; nothing was charged.',
    details: paymentOf(refused),
    isLate: true,
  }),
  payment_method_required: (refused) => ({
    message: 'There is no payment method to pay this order with.',
    details: paymentOf(refused),
    isLate: true,
  }),
  invalid_payment_method: (refused) => ({
    message: 'The payment method was refused; nothing was charged.',
    details: paymentOf(refused),
    isLate: true,
  }),
};

const countryOf = ({ shipping_address: { country } }: OrderBody): string => country.toUpperCase();

const paymentOf = ({ order: { payment } }: Refused): CreationError['details'] => ({
  mode: payment?.mode ?? 'wallet',
  ...(payment?.payment_method != null && { payment_method: payment.payment_method }),
});

function addressRefused({ shipping_address: { address_line1, postal_code } }: OrderBody): CreationErrorBody {
  const reason = 'No such street and number in this postal code.';
  const field_errors = [
    {
      field: 'shipping_address.address_line1',
      code: 'invalid_shipping_address',
      message: reason,
      received: address_line1,
      expected: `a deliverable address in ${postal_code}`,
    },
  ];
  const details = { address_validation_reasons: [reason], field_errors };
  return { message: 'The shipping address could not be verified.', details };
}

/**
 * Creates an order with its entire plan. Assumes that the order was accepted. `creationError` returns the reasons to
 * reject an order.
 */
export function createOrder(input: NewOrder): OrderState {
  const record = initialRecord(input);
  return { record, plan: planOrder(record, input, input.startAt ?? input.createdAt) };
}

/** Plans all transitions of a pending order whose processing starts at `startAt` (ms since the epoch). */
function planOrder(record: OrderRecord, environment: OrderEnvironment, startAt: number): OrderPlan {
  const lines = linesOf(record, environment);
  const paces = new Set(lines.map((line) => line.test?.pace));
  const draw = drawFor(environment.seed, record.id);
  const speed = environment.speed ?? 1;
  const schedule = scheduleFor(draw, startAt, { speed, slow: paces.has('slow') });
  const started: Transition = { at: schedule('started'), kind: 'started' };
  if (paces.has('never')) return [started];
  const verdict = decide(record, lines, environment.accountError);
  const rest = verdict.failure
    ? [failure(record, verdict.failure, schedule('settled'), verdict)]
    : purchase(record, verdict, environment, { draw, schedule });
  return [started, ...rest];
}

/** The transition that fails the order at `at` (ms). */
export function failure(
  record: OrderRecord,
  cause: CheckoutFailure,
  at: number,
  { skipped, concessions }: Pick<Verdict, 'skipped' | 'concessions'> = { skipped: [], concessions: [] },
): Transition {
  return {
    at,
    kind: 'failed',
    items: failedItems(record, cause, skipped),
    concessions,
    job_result: failedResult(record, cause),
  };
}

/** The transition that places the order and all later transitions, in chronological order. */
export function purchase(
  record: OrderRecord,
  verdict: Omit<Verdict, 'failure'>,
  { config }: OrderEnvironment,
  { draw, schedule }: { draw: Draw; schedule: Schedule },
): Transition[] {
  const { purchases, skipped, concessions } = verdict;
  const ordered = purchases.map(({ line }): ItemChange => ({ id: line.item.id, status: 'ordered' }));
  const placed: Transition = {
    at: schedule('settled'),
    kind: 'placed',
    items: [...ordered, ...skipped],
    concessions,
    job_result: placedResult(record, verdict, draw, schedule),
  };
  if (purchases.some(({ line }) => line.test?.cancelledByRetailer)) {
    const reason = 'The retailer cancelled the order.';
    return [placed, { at: schedule('cancelledByRetailer'), kind: 'cancelled_by_retailer', reason }];
  }
  const sent = journeys(record, purchases, { draw, schedule, config });
  return [placed, ...sent.toSorted((one, other) => one.at - other.at)];
}

function placedResult(
  record: OrderRecord,
  verdict: Pick<Verdict, 'price' | 'purchases'>,
  draw: Draw,
  schedule: Schedule,
): JobResult {
  return {
    success: true,
    error: null,
    error_type: null,
    error_details: null,
    price_components: verdict.price,
    estimated_delivery: estimatedDelivery(record, schedule('settled'), draw),
    merchant_order_ids: merchantOrderIds(
      verdict.purchases.map(({ line }) => line),
      draw,
    ),
  };
}

/** One order number per retailer, in the dashed format that people copy from the retailer's emails. */
function merchantOrderIds(lines: readonly OrderLine[], draw: Draw): JobResult['merchant_order_ids'] {
  const retailers = [...new Set(lines.map(({ facts }) => facts.retailer))];
  return retailers.map((retailer) => {
    const digits = draw.digits(`merchant order ${retailer}`, 17);
    return {
      merchant_order_id: `${digits.slice(0, 3)}-${digits.slice(3, 10)}-${digits.slice(10)}`,
      retailer,
    };
  });
}
