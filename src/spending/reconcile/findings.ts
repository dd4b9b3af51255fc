import { failedOrderStatuses } from '../../contract/enums.ts';
import { numberIn, objectsIn, own, textIn } from '../../contract/json.ts';
import { formatMoney } from '../../output/money.ts';
import { shellLine } from '../../shell-word.ts';
import { canonicalJson, sha256 } from '../../state/canonical.ts';
import { journalCommand } from '../../state/journal-command.ts';
import type { MoneyDue } from '../money-lines.ts';
import type { OrderMoney } from '../money-of-order.ts';
import { chargeOf } from '../price-of-order.ts';
import type { ToldIntent } from './chain-facts.ts';
import type { Facts, FoundOrder } from './gather.ts';

/** Something that does not agree. */
export interface Finding {
  readonly finding:
    | 'chain'
    | 'in_doubt'
    | 'unreported'
    | 'damaged'
    | 'lost_intent'
    | 'missing_order'
    | 'over_ceiling'
    | 'other_ceiling'
    | 'other_cost'
    | 'unknown_cost'
    | 'refund_due'
    | 'credit_due'
    | 'same_content'
    | 'reservation'
    | 'made_elsewhere'
    | 'set_aside';
  readonly order_id: string | null;
  readonly key: string | null;
  /** What it is about, in cents, where that is known. */
  readonly cents: number | null;
  readonly message: string;
  /** What settles it, or shows more. */
  readonly command: string;
}

/** A return that was approved so long ago should have brought its credit, ms. */
const creditMs = 14 * 24 * 3600 * 1000;
/** Two orders of the same within this time are one too many, unless another was meant, ms. */
const twinMs = 24 * 3600 * 1000;

type Make = Omit<Finding, 'order_id' | 'key' | 'cents'> & Partial<Finding>;
const finding = (make: Make): Finding => ({ order_id: null, key: null, cents: null, ...make });

/** What does not agree among the records of this machine, and between them and the service's. Pure. */
export function findingsOf(facts: Facts, money: ReadonlyMap<string, OrderMoney>): Finding[] {
  const orders = [...facts.own].flatMap(([id, intent]) => {
    const order = facts.orders.get(id);
    const sums = money.get(id);
    return order && sums ? [{ order, intent, sums }] : [];
  });
  const others = [
    ...facts.chain.check.findings.map(({ message }) =>
      finding({
        finding: 'chain',
        message: `the audit chain is not whole: ${message}`,
        command: 'errand audit verify',
      }),
    ),
    ...lostIntents(facts),
    ...facts.missing.map((id) =>
      finding({
        ...{ finding: 'missing_order', order_id: id, key: facts.own.get(id)?.key ?? null },
        message: `the service shows no order ${id}, which it confirmed to this machine`,
        command: shellLine`errand order explain ${id}`,
      }),
    ),
    ...orders.flatMap(({ order, intent, sums }) => ofOrder(facts, order, intent, sums)),
    ...sameContent(orders),
    ...unsettled(facts),
  ];
  return [...openOnes(facts), ...others.map((one) => ({ ...one, command: `${one.command}${facts.where}` }))];
}

const openWords = {
  intended: ['in_doubt', 'is in doubt: it was sent, and what became of it is unknown'],
  responded: ['unreported', 'was made, and the command ended before it could say so'],
  damaged: ['damaged', 'has a damaged record; an order may have come of it'],
} as const;

const openOnes = ({ open, where }: Facts): Finding[] =>
  open.flatMap(({ key, state, order_id }) => {
    if (state !== 'intended' && state !== 'responded' && state !== 'damaged') return [];
    const [name, words] = openWords[state];
    const command = journalCommand(state === 'damaged' ? 'forget' : 'resume', key, where);
    return [finding({ finding: name, key, order_id, message: `${key} ${words}`, command })];
  });

const lostIntents = ({ lost }: Facts): Finding[] =>
  lost.map(({ key, at }) =>
    finding({
      ...{ finding: 'lost_intent', key },
      message: `${key} of ${at} was recorded and never ended, and the journal does not know it`,
      command: 'errand order list',
    }),
  );

function ofOrder(facts: Facts, order: FoundOrder, intent: ToldIntent, money: OrderMoney): Finding[] {
  const { id } = order;
  const base = { order_id: id, key: intent.key, command: shellLine`errand order explain ${id}` };
  const found: Finding[] = [];
  const add = (name: Finding['finding'], message: string, cents?: number, command = base.command): void => {
    found.push(
      finding({ ...base, finding: name, message: `${id}: ${message}`, cents: cents ?? null, command }),
    );
  };
  const charge = chargeOf(order);
  const status = textIn(order, 'status') ?? '';
  const ceiling = numberIn(order, 'max_price');
  const wanted = intent.operation === 'bulk.create' ? undefined : intent.ceilingCents;
  if (
    status === 'order_placed' &&
    charge?.currency === 'USD' &&
    ceiling !== undefined &&
    charge.cents > ceiling
  )
    add(
      'over_ceiling',
      `${formatMoney(charge.cents)} were charged under a ceiling of ${formatMoney(ceiling)}`,
      charge.cents - ceiling,
    );
  if (wanted !== undefined && ceiling !== undefined && wanted !== ceiling)
    add(
      'other_ceiling',
      `its ceiling is ${formatMoney(ceiling)}, and ${formatMoney(wanted)} was ordered`,
      ceiling - wanted,
    );
  if (status === 'order_placed' && !charge)
    add('unknown_cost', 'it is placed, and the service does not say what it cost');
  const told = facts.chain.ends.get(id);
  const cost = failedOrderStatuses.some((failed) => failed === status) ? 0 : charge?.cents;
  if (told?.status === status && told.cents !== undefined && cost !== undefined && told.cents !== cost)
    add(
      'other_cost',
      `it cost ${formatMoney(cost, charge?.currency)} now, and ${formatMoney(told.cents, charge?.currency)} when it was read before`,
      cost - told.cents,
    );
  for (const due of money.due)
    add(due.what === 'credit' ? 'credit_due' : 'refund_due', dueWords(due), due.cents, commandOf(due, id));
  if (money.payer === 'wallet' && status === 'order_placed')
    for (const one of objectsIn(order, 'returns')) {
      const at = Date.parse(textIn(one, 'updated_at') ?? '');
      const state = textIn(one, 'status');
      if (
        (state === 'approved' || state === 'completed') &&
        numberIn(one, 'credited_amount') === 0 &&
        facts.now - at > creditMs
      )
        add(
          'credit_due',
          `its return is ${state} since ${textIn(one, 'updated_at')}, and nothing was credited`,
          undefined,
          shellLine`errand return get ${textIn(one, 'id') ?? ''}`,
        );
    }
  return found;
}

const dueWords = ({ cents, what, currency, note }: MoneyDue): string =>
  `by rule ${cents === undefined ? `a ${what}` : formatMoney(cents, currency)} should have come back: ${note}`;

const commandOf = ({ returnId }: MoneyDue, id: string): string =>
  returnId === undefined ? shellLine`errand order explain ${id}` : shellLine`errand return get ${returnId}`;

/** Orders of this machine that ask for the same within a day, of which the later was not meant as another. */
function sameContent(
  orders: readonly { readonly order: FoundOrder; readonly intent: ToldIntent }[],
): Finding[] {
  const last = new Map<string, FoundOrder>();
  const found: Finding[] = [];
  const alive = orders.filter(
    ({ order }) => !failedOrderStatuses.some((failed) => failed === own(order, 'status')),
  );
  for (const { order, intent } of alive.toSorted((one, other) => madeAt(one.order) - madeAt(other.order))) {
    const content = contentOf(order);
    const before = last.get(content);
    last.set(content, order);
    if (!before || intent.isMeant || madeAt(order) - madeAt(before) > twinMs) continue;
    found.push(
      finding({
        ...{ finding: 'same_content', order_id: order.id, key: intent.key },
        message: `${order.id} asks for the same as ${before.id}, within a day`,
        command: shellLine`errand order explain ${order.id}`,
      }),
    );
  }
  return found;
}

const madeAt = (order: FoundOrder): number => Date.parse(textIn(order, 'created_at') ?? '') || 0;

/** What an order asks for, whatever became of it. */
function contentOf(order: FoundOrder): string {
  const {
    shipping_address,
    max_price,
    metadata = {},
    po_number,
    retailer_credentials_id,
    gift_message,
  } = order;
  const items = objectsIn(order, 'items').map(
    ({ url, quantity, variant, condition_in, condition_not_in }) => ({
      ...{ url, quantity, variant, condition_in, condition_not_in },
    }),
  );
  return sha256(
    canonicalJson({
      items,
      shipping_address,
      max_price,
      metadata,
      po_number,
      retailer_credentials_id,
      gift_message,
    }),
  );
}

/** Money that the policy still counts for what has ended, or for what was never recorded. */
function unsettled({ reservations, orders, chain }: Facts): Finding[] {
  return reservations
    .filter(({ state, orderId, intents }) => {
      if (state !== 'held') return false;
      const status = textIn(orders.get(orderId ?? ''), 'status');
      if (orderId !== undefined)
        return status !== undefined && status !== 'pending' && status !== 'in_progress';
      return !intents.some((key) => chain.intents.get(key)?.state === 'open');
    })
    .map(({ key, orderId, cents }) =>
      finding({
        ...{ finding: 'reservation', key, order_id: orderId ?? null, cents },
        message: `${formatMoney(cents)} stay reserved for ${orderId ?? key}, and nothing says what it came to`,
        command:
          orderId === undefined
            ? 'errand policy usage --refresh'
            : shellLine`errand order explain ${orderId}`,
      }),
    );
}
