import { failedOrderStatuses } from '../../api/enums.ts';
import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { formatMoney } from '../../format/money.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { shellLine } from '../../platform/shell.ts';
import type { MoneyDue } from '../money-lines.ts';
import { creditedIn, type OrderMoney } from '../money-of-order.ts';
import { centsIn, chargeOf } from '../price-of-order.ts';
import type { FoundOrder, RecordedIntent } from './chain-facts.ts';
import type { Facts } from './gather.ts';

/** A discrepancy. */
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
    | 'undone'
    | 'over_credited'
    | 'balance'
    | 'credit_due'
    | 'same_content'
    | 'reservation'
    | 'made_elsewhere'
    | 'set_aside';
  readonly order_id: string | null;
  readonly key: string | null;
  /** The amount in question, in cents; null if it is unknown. */
  readonly cents: number | null;
  readonly message: string;
  /** The command that resolves the discrepancy or shows details. */
  readonly command: string;
}

/** Maximum time, in ms, between the approval of a return and its credit. */
const creditMs = 14 * 24 * 3600 * 1000;
/**
 * Time in ms. Two orders with the same content are reported if less than this lies between them. They are not reported
 * if the second order was placed on purpose.
 */
const sameDayMs = 24 * 3600 * 1000;

type Make = Omit<Finding, 'order_id' | 'key' | 'cents'> & Partial<Finding>;
const finding = (make: Make): Finding => ({ order_id: null, key: null, cents: null, ...make });

/** Finds discrepancies, both within this machine's records and between these and the service's records. Pure. */
export function findingsOf(facts: Facts, money: ReadonlyMap<string, OrderMoney>): Finding[] {
  const orders = ownOrdersOf(facts).flatMap(({ order, intent }) => {
    const sums = money.get(order.id);
    return sums ? [{ order, intent, sums }] : [];
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
    ...sameContent(orders, facts),
    ...unsettled(facts),
  ];
  return [...openOnes(facts), ...others.map((one) => ({ ...one, command: `${one.command}${facts.where}` }))];
}

const openWords = {
  intended: ['in_doubt', 'is in doubt: it was sent, and what became of it is unknown'],
  responded: ['unreported', 'was made, and the command ended before it could say so'],
  damaged: ['damaged', 'has a damaged record; an order may have come of it'],
} as const;

const openOnes = ({ open, doubted, where }: Facts): Finding[] => {
  const likely = new Map([...doubted].map(([id, key]) => [key, id]));
  return open.flatMap(({ key, state, order_id }) => {
    if (state !== 'intended' && state !== 'responded' && state !== 'damaged') return [];
    const [name, words] = openWords[state];
    const command = journalCommand(state === 'damaged' ? 'forget' : 'resume', key, where);
    const order = order_id ?? likely.get(key) ?? null;
    const made = order_id === null && order !== null ? `; ${order} asks for the same` : '';
    return [finding({ finding: name, key, order_id: order, message: `${key} ${words}${made}`, command })];
  });
};

const lostIntents = ({ lost }: Facts): Finding[] =>
  lost.map(({ key, at }) =>
    finding({
      ...{ finding: 'lost_intent', key },
      message: `${key} of ${at} was recorded and never ended, and the journal does not know it`,
      command: 'errand order list',
    }),
  );

function ofOrder(facts: Facts, order: FoundOrder, intent: RecordedIntent, money: OrderMoney): Finding[] {
  const { id } = order;
  const base = { order_id: id, key: intent.key, command: shellLine`errand order explain ${id}` };
  const found: Finding[] = [];
  const add: Add = (name, message, cents, command = base.command) => {
    found.push(
      finding({ ...base, finding: name, message: `${id}: ${message}`, cents: cents ?? null, command }),
    );
  };
  checkCeiling(order, intent, add);
  checkCost(facts, order, money, add);
  for (const due of money.due)
    add(due.what === 'credit' ? 'credit_due' : 'refund_due', dueWords(due), due.cents, commandOf(due, id));
  if (money.payer === 'wallet' && isPlaced(order)) checkReturns(order, facts.now, add);
  return found;
}

/** Adds a finding that is about an order. */
type Add = (name: Finding['finding'], message: string, cents?: number, command?: string) => void;

const isPlaced = (order: FoundOrder): boolean => textIn(order, 'status') === 'order_placed';

/** Compares the ceiling of an order with the requested ceiling, and with the amount charged. */
function checkCeiling(order: FoundOrder, { operation, ceilingCents }: RecordedIntent, add: Add): void {
  const charge = chargeOf(order);
  const ceiling = centsIn(order, 'max_price');
  if (ceiling === undefined) return;
  if (isPlaced(order) && charge?.currency === 'USD' && charge.cents > ceiling)
    add(
      'over_ceiling',
      `${formatMoney(charge.cents)} were charged under a ceiling of ${formatMoney(ceiling)}`,
      charge.cents - ceiling,
    );
  // A batch has a separate ceiling for each row.
  if (operation !== 'bulk.create' && ceilingCents !== undefined && ceilingCents !== ceiling)
    add(
      'other_ceiling',
      `its ceiling is ${formatMoney(ceiling)}, and ${formatMoney(ceilingCents)} was ordered`,
      ceiling - ceilingCents,
    );
}

/** Compares the cost of an order with the cost recorded earlier, and with the credits for its returns. */
function checkCost(facts: Facts, order: FoundOrder, money: OrderMoney, add: Add): void {
  const charge = chargeOf(order);
  const status = textIn(order, 'status') ?? '';
  if (isPlaced(order) && !charge)
    add('unknown_cost', 'it is placed, and the service does not say what it cost');
  const recorded = facts.chain.ends.get(order.id);
  const cost = failedOrderStatuses.some((failed) => failed === status) ? 0 : charge?.cents;
  if (cost === undefined) return;
  if (recorded?.status === status && recorded.cents !== undefined && recorded.cents !== cost)
    add(
      'other_cost',
      `it cost ${formatMoney(cost, charge?.currency)} now, and ${formatMoney(recorded.cents, charge?.currency)} when it was read before`,
      cost - recorded.cents,
    );
  const credited = creditedIn(order);
  const paysFirst = money.payer === 'wallet' || money.payer === 'retailer_account';
  // If the retailer cancels an order, a refund is expected, and no finding is needed. If a placed order fails in any
  // other way, that is suspicious.
  if (paysFirst && recorded?.placed && cost === 0 && status !== 'cancelled_by_retailer') {
    const { cents, currency } = recorded.placed;
    if (credited < cents)
      add(
        'undone',
        `it was placed for ${formatMoney(cents, currency)} and is ${status} now; nothing shows that this came back`,
        cents,
      );
  }
  if (credited > cost && (charge?.currency ?? 'USD') === 'USD')
    add(
      'over_credited',
      `${formatMoney(credited)} were credited for returns, and it cost ${formatMoney(cost)}`,
      credited - cost,
    );
}

/** Finds returns that were approved long enough ago but have no credit. */
function checkReturns(order: FoundOrder, now: number, add: Add): void {
  for (const one of objectsIn(order, 'returns')) {
    const at = Date.parse(textIn(one, 'updated_at') ?? '');
    const state = textIn(one, 'status');
    if (
      (state === 'approved' || state === 'completed') &&
      numberIn(one, 'credited_amount') === 0 &&
      now - at > creditMs
    )
      add(
        'credit_due',
        `its return is ${state} since ${textIn(one, 'updated_at')}, and nothing was credited`,
        undefined,
        shellLine`errand return get ${textIn(one, 'id') ?? ''}`,
      );
  }
}

const dueWords = ({ cents, what, currency, note }: MoneyDue): string =>
  `by rule ${cents === undefined ? `a ${what}` : formatMoney(cents, currency)} should have come back: ${note}`;

const commandOf = ({ returnId }: MoneyDue, id: string): string =>
  returnId === undefined ? shellLine`errand order explain ${id}` : shellLine`errand return get ${returnId}`;

/**
 * Two orders of this machine with the same content. Neither of them was placed with `--new` or with a key that the user
 * chose.
 */
interface Duplicates {
  readonly earlier: FoundOrder;
  readonly later: FoundOrder;
  readonly key: string;
  /** Interval between the two, in ms. */
  readonly apartMs: number;
}

/**
 * Finds pairs of orders that have the same content and were placed within a day. The contents are compared as
 * `order create` compares them to recognize repeated commands. Rows of a batch are not compared.
 */
function duplicatesIn(orders: readonly OwnOrder[]): Duplicates[] {
  const last = new Map<string, OwnOrder>();
  const found: Duplicates[] = [];
  const alive = orders.filter(
    ({ order, intent }) =>
      intent.operation !== 'bulk.create' &&
      intent.content !== '' &&
      !failedOrderStatuses.some((failed) => failed === own(order, 'status')),
  );
  const at = ({ intent }: OwnOrder): number => Date.parse(intent.at);
  for (const one of alive.toSorted((a, b) => at(a) - at(b))) {
    const { operation, account, content, key, isDeliberate: isMeant } = one.intent;
    const same = `${operation} ${account} ${content}`;
    const before = last.get(same);
    last.set(same, one);
    if (!before || isMeant || before.intent.isDeliberate) continue;
    const apartMs = at(one) - at(before);
    if (apartMs <= sameDayMs) found.push({ earlier: before.order, later: one.order, key, apartMs });
  }
  return found;
}

/**
 * Finds duplicates within the duplicate window. There should be none, because a repeated command is refused within that
 * window.
 */
const sameContent = (orders: readonly OwnOrder[], { duplicateWindowMs }: Facts): Finding[] =>
  duplicatesIn(orders)
    .filter(({ apartMs }) => apartMs <= duplicateWindowMs)
    .map(({ earlier, later, key }) =>
      finding({
        ...{ finding: 'same_content', order_id: later.id, key },
        message: `${later.id} asks for the same as ${earlier.id}, within the duplicate window`,
        command: cancelCommand(later),
      }),
    );

/** Finds duplicates after the duplicate window. These may well be intended. */
export const repeatedLater = (facts: Facts): string[] =>
  duplicatesIn(ownOrdersOf(facts))
    .filter(({ apartMs }) => apartMs > facts.duplicateWindowMs)
    .map(
      ({ earlier, later }) =>
        `${later.id} asks for the same as ${earlier.id}, within a day; if one was meant: ${cancelCommand(later)}${facts.where}`,
    );

const cancelCommand = (order: FoundOrder): string =>
  own(order, 'status') === 'pending'
    ? shellLine`errand order cancel ${order.id}`
    : own(order, 'status') === 'order_placed'
      ? shellLine`errand return create --order ${order.id}`
      : shellLine`errand order watch ${order.id}`;

interface OwnOrder {
  readonly order: FoundOrder;
  readonly intent: RecordedIntent;
}

const ownOrdersOf = ({ own: ours, orders }: Facts): OwnOrder[] =>
  [...ours].flatMap(([id, intent]) => {
    const order = orders.get(id);
    return order ? [{ order, intent }] : [];
  });

/** Finds reservations that the policy still counts, although the order has ended or was never recorded. */
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
