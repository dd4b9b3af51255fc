import { failedOrderStatuses } from '../api/enums.ts';
import { objectsIn, own, textIn } from '../api/json.ts';
import { namesAccount } from '../api/order-fields.ts';
import { type MoneyDue, type MoneyLine, type MoneySum, type Payer, sumsOf } from './money-lines.ts';
import { centsIn, chargeOf, minorUnits } from './price-of-order.ts';

/**
 * The money that an order holds, has cost and has returned. Amounts come from the order's record or are inferred from
 * rules, and are in the currency's minor unit. Every command that reports an order's money uses this.
 */
export interface OrderMoney {
  /** Who pays for the goods. */
  readonly payer: Payer;
  /** Lines with signed amounts. Holds and payments are positive, and returned money is negative. */
  readonly lines: readonly MoneyLine[];
  /** Sums of the lines, per payer and currency. */
  readonly sums: readonly MoneySum[];
  /** Money that the order's record should show as returned, but does not. */
  readonly due: readonly MoneyDue[];
  /** Whether the service is still processing the order. */
  readonly isOpen: boolean;
  /** False if an amount is unknown. This is so if a placed order has no price, or if the fee or status is unknown. */
  readonly isComplete: boolean;
}

/** Information about an order that is not in its record. */
export interface KnownOfOrder {
  /**
   * Service fee of the order, in cents. This is the fee that was reserved for the order. If none was reserved, it is
   * the fee that the wallet reports now.
   */
  readonly feeCents: number | undefined;
  /** The amount paid by challenge before the order was sent. */
  readonly paid?: { readonly amount: string; readonly currency: string } | undefined;
}

const usd = 'USD';

/**
 * Calculates the money that an order holds, has cost and has returned. Pure.
 * @param order is the record as received.
 */
export function moneyOf(order: unknown, { feeCents, paid }: KnownOfOrder): OrderMoney {
  const ledger = new Ledger();
  const payer = payerOf(order, paid);
  const stage = stageOf(order);
  const fee = payer === 'card' ? (centsIn(own(order, 'payment'), 'fee_cents') ?? feeCents) : feeCents;
  const facts: Facts = { order, stage, ledger, fee };
  if (payer === 'challenge') byChallenge(facts, paid);
  else if (payer === 'card') byOther(facts, 'card', fee ?? 0);
  else {
    if (payer === 'connect') byOther(facts, 'connect', 0);
    else forGoods(facts, payer);
    forFee(facts);
  }
  ofReturns(facts, payer);
  const isComplete = !ledger.lacks && stage !== 'unknown';
  return {
    payer,
    lines: ledger.lines,
    sums: sumsOf(ledger.lines),
    due: ledger.due,
    isOpen: stage === 'open',
    isComplete,
  };
}

/** Who pays for the goods of an order. */
function payerOf(order: unknown, paid: KnownOfOrder['paid']): Payer {
  if (paid || objectsIn(own(order, 'job_result'), 'refunds').length > 0) return 'challenge';
  if (own(order, 'payment') != null && textIn(own(order, 'payment'), 'mode') !== 'wallet') return 'card';
  if (own(order, 'connect') != null) return 'connect';
  return namesAccount(order) ? 'retailer_account' : 'wallet';
}

/**
 * `undone` means that the order was placed and then cancelled by the retailer. `nothing` means that it was never
 * placed.
 */
type Stage = 'open' | 'placed' | 'undone' | 'nothing' | 'unknown';

function stageOf(order: unknown): Stage {
  const status = textIn(order, 'status') ?? '';
  if (status === 'order_placed') return 'placed';
  if (status === 'cancelled_by_retailer') return 'undone';
  if (failedOrderStatuses.some((failed) => failed === status)) return 'nothing';
  return status === 'pending' || status === 'in_progress' ? 'open' : 'unknown';
}

interface Facts {
  readonly order: unknown;
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly fee: number | undefined;
}

class Ledger {
  readonly lines: MoneyLine[] = [];
  readonly due: MoneyDue[] = [];
  /** Whether an amount that matters is unknown. */
  lacks = false;

  /** Adds a line, unless the amount is 0. An unknown amount sets `lacks` instead. */
  add(line: Omit<MoneyLine, 'cents'>, cents: number | undefined): void {
    if (cents === undefined) this.lacks = true;
    else if (cents !== 0) this.lines.push(withCents(line, cents));
  }
}

/** Lines come in several layouts, of which V8 copies none fast; field by field they all get the same. */
function withCents(
  { what, currency, payer, basis, note, returnId }: Omit<MoneyLine, 'cents'>,
  cents: number,
) {
  const line: MoneyLine = { what, cents, currency, payer, basis, note };
  return returnId === undefined ? line : { ...line, returnId };
}

function forGoods({ order, stage, ledger }: Facts, payer: 'wallet' | 'retailer_account'): void {
  const owner = payer === 'wallet' ? 'the wallet' : 'your account at the retailer';
  if (stage === 'open' && payer === 'wallet')
    ledger.add(
      {
        what: 'hold',
        currency: usd,
        payer,
        basis: 'by_rule',
        note: 'ceiling, until it is placed or has failed',
      },
      centsIn(order, 'max_price'),
    );
  if (stage !== 'placed' && stage !== 'undone') return;
  const charge = chargeOf(order);
  const currency = charge?.currency ?? usd;
  ledger.add(
    { what: 'charge', currency, payer, basis: 'observed', note: `price, paid from ${owner}` },
    charge?.cents,
  );
  if (stage === 'undone')
    ledger.add(
      { what: 'refund', currency, payer, basis: 'by_rule', note: 'the retailer cancelled it' },
      charge && -Math.max(0, charge.cents - creditedIn(order)),
    );
}

/** What the fee is, by the stage of the order; at the other stages there is none. */
const feeNotes: Readonly<Partial<Record<Stage, string>>> = {
  open: 'fee of the service, until it is placed',
  placed: 'fee of the service',
  undone: 'fee of the service; it had placed the order',
};

/** The fee is charged to the wallet when the order is placed, and is not refunded if the retailer cancels. */
function forFee({ stage, ledger, fee }: Facts): void {
  const [what, note] = [stage === 'open' ? 'hold' : 'fee', feeNotes[stage]] as const;
  if (note !== undefined) ledger.add({ currency: usd, payer: 'wallet', basis: 'by_rule', what, note }, fee);
}

/** Payers other than the wallet. For each payer, the fields of its block in the record and the wording of its lines. */
const blocks = {
  card: {
    block: 'payment',
    ...{ open: 'authorized', held: 'authorized_cents', charged: 'captured_cents' },
    words: { hold: 'authorised on the card', charge: 'captured from the card', refund: 'back on the card' },
  },
  connect: {
    block: 'connect',
    ...{ open: 'secured', held: 'secured_amount', charged: 'final_charge' },
    words: {
      ...{ hold: 'secured from the customer', refund: 'back to the customer' },
      charge: 'paid by the customer, margin included',
    },
  },
} as const;

/**
 * Adds payments by card or connect. For a card, the customer is charged the goods plus the fee. For connect, the
 * customer pays the goods plus the margin.
 * @param ofFee is the fee's part of the charge.
 */
function byOther({ order, stage, ledger }: Facts, payer: keyof typeof blocks, ofFee: number): void {
  const { block, words, ...names } = blocks[payer];
  const payment = own(order, block);
  const state = textIn(payment, 'state');
  const line = { currency: usd, payer, basis: 'observed' } as const;
  const held = centsIn(payment, names.held);
  const charged = centsIn(payment, names.charged);
  const fee = Math.min(ofFee, charged ?? 0);
  if (state === names.open) ledger.add({ ...line, what: 'hold', note: words.hold }, held);
  if (state === 'captured' || state === 'refunded') {
    ledger.add({ ...line, what: 'charge', note: words.charge }, charged && charged - fee);
    ledger.add({ ...line, what: 'fee', note: 'fee of the service, captured with it' }, fee);
  }
  if (state === 'refunded') ledger.add({ ...line, what: 'refund', note: words.refund }, charged && -charged);
  const retained = state === names.open ? held : state === 'captured' ? charged : 0;
  if ((stage === 'nothing' || stage === 'undone') && retained !== 0)
    ledger.due.push({
      what: 'refund',
      cents: retained,
      currency: usd,
      payer,
      note: `the payment is still ${state}`,
    });
}

/** The ceiling and the fee are paid up front. Once the order has ended, the unused part goes back to the payer. */
function byChallenge({ order, stage, ledger, fee }: Facts, paid: KnownOfOrder['paid']): void {
  const ceiling = centsIn(order, 'max_price');
  const currency = (paid?.currency ?? usd).toUpperCase();
  const upFront = paid
    ? minorUnits(paid.amount)
    : fee !== undefined && ceiling !== undefined
      ? ceiling + fee
      : undefined;
  const ofFee = currency === usd && upFront !== undefined ? Math.min(fee ?? 0, upFront) : 0;
  const line = { currency, payer: 'challenge', basis: paid ? 'observed' : 'by_rule' } as const;
  ledger.add(
    { ...line, what: 'charge', note: 'ceiling, paid up front' },
    upFront === undefined ? undefined : upFront - ofFee,
  );
  ledger.add({ ...line, what: 'fee', note: 'fee of the service, paid up front' }, ofFee);
  let refunded = 0;
  for (const refund of objectsIn(own(order, 'job_result'), 'refunds')) {
    const cents = minorUnits(textIn(refund, 'amount'));
    const back = textIn(refund, 'currency')?.toUpperCase() ?? currency;
    if (back === currency) refunded += cents ?? 0;
    ledger.add(
      { what: 'refund', currency: back, payer: 'challenge', basis: 'observed', note: 'back to the payer' },
      cents && -cents,
    );
  }
  const cost = stage === 'placed' ? chargeOf(order)?.cents : 0;
  if (
    stage === 'open' ||
    stage === 'unknown' ||
    currency !== usd ||
    ceiling === undefined ||
    cost === undefined
  )
    return;
  const cents = ceiling - cost - refunded;
  if (cents > 0)
    ledger.due.push({
      what: 'refund',
      cents,
      currency,
      payer: 'challenge',
      note: 'what the order did not cost',
    });
}

/**
 * Adds money that was given back for returns. If the wallet paid, the service credits the wallet. Any other payer is
 * refunded by the retailer, and no record shows that refund.
 */
function ofReturns({ order, stage, ledger }: Facts, payer: Payer): void {
  const currency = chargeOf(order)?.currency ?? usd;
  for (const one of objectsIn(order, 'returns')) {
    const id = textIn(one, 'id');
    const ofReturn = id === undefined ? {} : { returnId: id };
    const credited = centsIn(one, 'credited_amount') ?? 0;
    const line = { what: 'credit', currency: usd, payer: 'wallet', basis: 'observed' } as const;
    ledger.add({ ...line, note: 'credit for a return', ...ofReturn }, 0 - credited);
    if (payer === 'wallet' && stage === 'placed' && credited === 0 && textIn(one, 'status') === 'credited') {
      const note = 'the return counts as credited, and nothing came';
      ledger.due.push({ what: 'credit', cents: undefined, currency, payer, note, ...ofReturn });
    }
  }
}

/** Total credits for returns, in cents. */
export const creditedIn = (order: unknown): number =>
  objectsIn(order, 'returns').reduce((sum, one) => sum + (centsIn(one, 'credited_amount') ?? 0), 0);
