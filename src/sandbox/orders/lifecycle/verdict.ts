import type { ErrorType } from '../../../api/error-types.ts';
import type { OrderLine } from './lines.ts';
import { chargedCents, type Purchase, priceOf } from './price.ts';
import type { Refusal, Rejection } from './refusal.ts';
import { sentences } from './sentences.ts';
import { orderTrouble, relaxing, troublesOf } from './troubles.ts';
import type { Concession, ItemChange, OrderRecord, PriceComponents } from './types.ts';

/** What comes of an order at the checkout. */
export interface Verdict {
  readonly purchases: readonly Purchase[];
  readonly price: PriceComponents;
  readonly concessions: readonly Concession[];
  readonly skipped: readonly ItemChange[];
  /** Null when the purchases go ahead. */
  readonly refusal: Refusal | null;
}

/** Strict unless a concern is relaxed; the ceiling and the account's limits never are (specification, Errors, rule 6). */
export function decide(record: OrderRecord, lines: readonly OrderLine[], accountError?: ErrorType): Verdict {
  const decided = lines.map((line) => decideLine(line, record));
  const purchases = decided.flatMap(({ purchase }) => purchase ?? []);
  const price = priceOf(purchases);
  const rejections = decided.flatMap(({ rejection }) => rejection ?? []);
  const whole = accountError ?? orderTrouble(lines);
  return {
    purchases,
    price,
    concessions: whole ? [] : decided.flatMap(({ concessions }) => concessions),
    skipped: whole ? [] : decided.flatMap(({ skipped }) => skipped ?? []),
    refusal: whole ? { code: whole, rejections: [] } : refusalOf(record, purchases, rejections, price),
  };
}

function refusalOf(
  record: OrderRecord,
  purchases: readonly Purchase[],
  rejections: readonly Rejection[],
  price: PriceComponents,
): Refusal | null {
  const [first] = rejections;
  if (first) return { code: first.code, rejections };
  if (purchases.length === 0) return { code: 'cart_empty', rejections };
  return overCeiling(record, purchases, price) ? { code: 'max_price_exceeded', rejections, price } : null;
}

/** Whether the purchases cost more than the caller authorized; `test-price-exceeded` always does. */
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
  for (const code of troublesOf(line, record)) {
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
