import type { ErrorType } from '../../../api/error-types.ts';
import type { OrderLine } from './lines.ts';
import { paymentCurrency, spokenAmount } from './money.ts';
import { chargedCents } from './price.ts';
import { sentences } from './sentences.ts';
import type { ItemChange, JobResult, OrderRecord, PriceComponents } from './types.ts';

type FieldError = NonNullable<JobResult['error_details']>['field_errors'][number];

export interface Rejection {
  readonly line: OrderLine;
  readonly code: ErrorType;
}

/** Why an order failed. */
export interface Refusal {
  readonly code: ErrorType;
  /** The lines to blame; none when the failure is the account's, the price's or the whole cart's. */
  readonly rejections: readonly Rejection[];
  /** What the cart came to, where the price was the reason. */
  readonly price?: PriceComponents;
}

type Field = Pick<FieldError, 'field' | 'received' | 'expected'>;

/** What the caller would have to change, where a field of the order is the reason. */
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

/** `Size: S, M, L; Colour: red`. */
const optionsIn = ({ options }: OrderLine['facts']): string | undefined =>
  options &&
  Object.entries(options)
    .map(([label, values]) => `${label}: ${values.join(', ')}`)
    .join('; ');

/** The `job_result` of a failed order (specification, Errors, rules 5 and 7). */
export function failedResult(record: OrderRecord, refusal: Refusal): JobResult {
  const { code, rejections } = refusal;
  const message = messageOf(record, refusal);
  return {
    success: false,
    error: message,
    error_type: code,
    error_details: {
      code,
      message,
      address_validation_reasons: code === 'shipping_address_invalid' ? [message] : [],
      field_errors: fieldErrors(record, refusal),
      line_rejections: rejections
        .filter(({ line }) => line.facts.reportsRejections)
        .map(({ line: { item }, code }) => ({
          item_id: item.id,
          url: item.url,
          code,
          message: sentences[code],
        })),
    },
    price_components: refusal.price ?? null,
    estimated_delivery: null,
    merchant_order_ids: [],
  };
}

function messageOf(record: OrderRecord, { code, price, rejections }: Refusal): string {
  if (price) {
    const total = spokenAmount(chargedCents(price), paymentCurrency);
    return `The total at checkout is ${total}; max_price allows ${spokenAmount(record.max_price, paymentCurrency)}.`;
  }
  const [first] = rejections;
  const named = first && record.items.length > 1;
  return named ? `${sentences[code]} (${first.line.facts.title})` : sentences[code];
}

function fieldErrors(record: OrderRecord, { code, rejections, price }: Refusal): FieldError[] {
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
 * How the items end: those to blame failed with their code and the others cancelled with them; where none is to
 * blame all failed, with the code only if it is about their price.
 */
export function failedItems(
  record: OrderRecord,
  refusal: Refusal,
  skipped: readonly ItemChange[],
): ItemChange[] {
  const skips = new Map(skipped.map((change) => [change.id, change]));
  const rejections = new Map(refusal.rejections.map((rejection) => [rejection.line.item.id, rejection]));
  return record.items.map(({ id }) => {
    const skip = skips.get(id);
    if (skip) return skip;
    const rejection = rejections.get(id);
    if (rejection) return { id, status: 'failed', error_type: rejection.code };
    if (refusal.rejections.length > 0) {
      return { id, status: 'cancelled', cancellation_reason: 'Another line of the order was refused.' };
    }
    return refusal.price ? { id, status: 'failed', error_type: refusal.code } : { id, status: 'failed' };
  });
}
