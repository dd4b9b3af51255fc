import { objectsIn, textIn } from '../../api/json.ts';
import { formatMoney } from '../../format/money.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { shellLine } from '../../platform/shell-word.ts';
import type { MoneyDue } from '../../spending/money-lines.ts';
import { creditedIn, type OrderMoney } from '../../spending/money-of-order.ts';
import { chargeOf } from '../../spending/price-of-order.ts';
import type { Sources } from './story.ts';

/** What is still owed or open of an order, and the command for it. */
export interface OpenPoint {
  readonly what: string;
  readonly command: string;
}

/** What is still owed or open. Pure. */
export function openPoints(
  { order, record, reservation, id, where }: Sources,
  money: OrderMoney | null,
): OpenPoint[] {
  const points: OpenPoint[] = [];
  const add: Add = (what, command) => {
    points.push({ what, command: `${command}${where}` });
  };
  const settle = (what: string, key: string): void => {
    points.push({ what, command: journalCommand('resume', key, where) });
  };
  if (record?.state === 'intended')
    settle('it is in doubt: resuming it settles that, with one order', record.key);
  if (record?.state === 'responded') settle('it was never reported to whoever ordered it', record.key);
  if (record?.state === 'damaged')
    add('its record is damaged: look whether there is an order of it', 'errand order list');
  if (id === undefined) return points;
  const status = textIn(order, 'status');
  if (order === undefined) add('the service shows no such order for the key in use', 'errand auth status');
  if (status === 'pending') add('it can still be cancelled', shellLine`errand order cancel ${id}`);
  if (status === 'pending' || status === 'in_progress')
    add('it is not placed yet', shellLine`errand order watch ${id}`);
  if (status === 'order_placed') delivery(order, id, add);
  for (const due of money?.due ?? []) add(dueText(due), commandFor(due, id));
  for (const one of objectsIn(order, 'returns')) ofReturn(one, add);
  const credited = creditedIn(order);
  const cost = chargeOf(order)?.cents ?? (money?.isComplete && !money.isOpen ? 0 : undefined);
  if (cost !== undefined && credited > cost)
    add(
      `${formatMoney(credited)} were credited for returns, and it cost ${formatMoney(cost)}`,
      'errand reconcile',
    );
  if (reservation?.state === 'held' && money && !money.isOpen)
    add('the policy still counts its ceiling: its cost could not be read', 'errand policy usage --refresh');
  return points;
}

type Add = (what: string, command: string) => void;

function delivery(order: unknown, id: string, add: Add): void {
  const states = objectsIn(order, 'tracking_numbers').map((parcel) => textIn(parcel, 'status'));
  // A return that is asked for, or has brought its credit, is told below.
  const isReturned = objectsIn(order, 'returns').some((one) => textIn(one, 'status') !== 'denied');
  if (states.includes('undeliverable')) {
    if (isReturned) return;
    add(
      'a parcel could not be delivered',
      shellLine`errand return create --order ${id} --reason not_delivered`,
    );
  } else if (states.includes('available_for_pickup'))
    add('a parcel waits to be picked up', shellLine`errand track ${id}`);
  else if (states.length === 0 || states.some((state) => state !== 'delivered'))
    add('it is not delivered yet', shellLine`errand order watch ${id}`);
}

function ofReturn(one: unknown, add: Add): void {
  const id = textIn(one, 'id') ?? '';
  const status = textIn(one, 'status') ?? '';
  if (status === 'open' || status === 'in_progress')
    add(`its return is ${status}: the retailer decides`, shellLine`errand return get ${id}`);
  if (status === 'approved')
    add(
      'its return is approved: send the items back; a credit may follow',
      shellLine`errand return labels ${id}`,
    );
}

/** What should have come back, in words. */
export const dueText = ({ what, cents, currency, note, payer }: MoneyDue): string => {
  const amount = cents === undefined ? `a ${what}` : `${formatMoney(cents, currency)}`;
  return `by rule ${amount} should have come back (${payer.replace('_', ' ')}): ${note}`;
};

const commandFor = ({ returnId }: MoneyDue, id: string): string =>
  returnId === undefined ? shellLine`errand order get ${id}` : shellLine`errand return get ${returnId}`;
