import type { FulfillmentConcern } from '../../../api/enums.ts';
import { type ErrorType, errorTypes } from '../../../api/error-types.ts';
import type { OrderLine } from './lines.ts';
import type { OrderRecord } from './types.ts';

/** What can go wrong with one line, in the order a checkout meets it. */
const troubles: readonly (readonly [ErrorType, (line: OrderLine, record: OrderRecord) => boolean])[] = [
  ['out_of_stock', ({ facts }) => !facts.available || facts.quantityCap === 0],
  ['invalid_variant', hasUnknownVariant],
  ['product_unavailable', lacksCondition],
  ['shipping_method_unavailable', isTooSlow],
  ['quantity_limit_exceeded', ({ facts, item }) => item.quantity > (facts.quantityCap ?? item.quantity)],
  ['gift_option_unavailable', ({ facts }, record) => record.is_gift && !facts.giftOption],
];

/** Failures of the whole order: no line is to blame and nothing relaxes them. */
const orderWide: ReadonlySet<ErrorType> = new Set(['login_failed', 'account_locked', 'order_limit_exceeded']);

/** Every trouble of a line, the first met first; the ceiling and the account are decided for the whole order. */
export function troublesOf(line: OrderLine, record: OrderRecord): ErrorType[] {
  const rehearsed = line.test?.fails;
  const ownLine = rehearsed && rehearsed !== 'max_price_exceeded' && !orderWide.has(rehearsed);
  const met = troubles.filter(([, found]) => found(line, record)).map(([code]) => code);
  return ownLine ? [rehearsed, ...met] : met;
}

/** The failure that stops the order before any line is looked at, if a test product rehearses one. */
export function orderTrouble(lines: readonly OrderLine[]): ErrorType | undefined {
  return lines.map((line) => line.test?.fails).find((code) => code !== undefined && orderWide.has(code));
}

/** The concern that the caller relaxed and that covers this code (specification, Errors, rule 6). */
export function relaxing(code: ErrorType, record: OrderRecord): FulfillmentConcern | null {
  const concern = concernOf(code);
  return concern && record.fulfillment?.[concern] === 'best_effort' ? concern : null;
}

/** Whether one line is to blame for a failure of this kind, and not the whole order. */
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
