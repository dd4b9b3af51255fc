import { objectsIn } from '../../api/json.ts';
import type { ShownState } from '../../api/order-state.ts';
import { formatMoney } from '../../format/money.ts';
import { undoneCode } from '../../journal/undoing.ts';
import type { MoneySum } from '../../spending/money-lines.ts';
import type { OrderMoney } from '../../spending/money-of-order.ts';
import { stateOfOrder } from '../order-record.ts';
import type { Story } from './story.ts';

/** The story in a sentence or two. Pure. */
export function summaryOf(
  { status, why, asked, key }: Pick<Story, 'status' | 'why' | 'asked' | 'key'>,
  order: unknown,
  money: OrderMoney | null,
): string {
  const what =
    order === undefined
      ? ofIntent(status, asked !== null, why[0]?.code ?? null)
      : ofOrder(order, status, why[0]?.code ?? null);
  const told = money ? `${what} ${costs(money)}` : what;
  return order !== undefined && asked === null && key === null
    ? `${told} Nothing here says that this machine asked for it.`
    : told;
}

const intents: Readonly<Record<string, string>> = {
  intended: 'In doubt: it was sent, or was about to be, and no response was recorded.',
  responded: 'The service has it; the command that ordered it ended before it could say so.',
  reported: 'The service had it when it was ordered.',
  refused: 'The service refused it; nothing came of it.',
  forgotten: 'It was given up; whether an order came of it is not known here.',
  damaged: "The journal's record of it was changed on disk; what it says is not certain.",
};

const ofIntent = (state: string, isKnown: boolean, code: string | null): string =>
  (state === 'refused' && code === undoneCode
    ? 'The sandbox went back to a state before it; nothing of it is left there.'
    : undefined) ??
  (Object.hasOwn(intents, state) ? intents[state] : undefined) ??
  (isKnown
    ? 'This machine ordered it; the service shows no such order for this key.'
    : 'Nothing is known of it.');

function ofOrder(order: unknown, status: string, code: string | null): string {
  if (status === 'pending') return 'It waits to be placed, and can still be cancelled.';
  if (status === 'in_progress') return 'The service is placing it.';
  if (status === 'order_failed') return `It failed${code === null ? '' : ` (${code})`}; nothing was bought.`;
  if (status === 'cancelled') return 'It was cancelled before it was placed; nothing was bought.';
  if (status === 'cancelled_by_retailer') return 'It was placed, and the retailer cancelled it.';
  if (status !== 'order_placed') return `The service calls it ${status}, which is not known here.`;
  return ofPlaced(stateOfOrder(Object(order)), objectsIn(order, 'tracking_numbers').length);
}

/** The one state of a placed order in a sentence. */
function ofPlaced({ text, mood }: ShownState, parcels: number): string {
  if (text === 'undeliverable') return 'It is undeliverable: the carrier could not deliver it.';
  if (text.endsWith('undeliverable'))
    return `It is placed; ${text.replace('undeliverable', 'parcels could not be delivered')}.`;
  if (mood === 'bad' && text.endsWith('in part'))
    return `It is ${text}: not all that was asked for was bought.`;
  if (mood === 'bad') return `It was placed, and nothing of it was bought (${text}).`;
  if (mood === 'waiting' && parcels === 0) return `It is ${text}; no parcel has left yet.`;
  return mood === 'waiting' ? `It is on its way (${text}).` : `It is ${text}.`;
}

const payers: Readonly<Record<MoneySum['payer'], string>> = {
  wallet: 'from the wallet',
  card: 'on the card',
  connect: 'from the customer, by connect',
  retailer_account: 'on your account at the retailer',
  challenge: 'with a payment by challenge',
};

/** What it holds and cost in the end, by who pays. */
function costs({ sums, isOpen, isComplete }: OrderMoney): string {
  const held = sums.filter((sum) => sum.held !== 0);
  const paid = sums.filter((sum) => sum.net > 0);
  const won = sums.filter((sum) => sum.net < 0).map((sum) => ({ ...sum, net: 0 - sum.net }));
  const listed = (some: readonly MoneySum[], what: 'held' | 'net'): string =>
    some.map((sum) => `${formatMoney(sum[what], sum.currency)} ${payers[sum.payer]}`).join(' and ');
  const said = [
    ...(held.length === 0 ? [] : [`Held: ${listed(held, 'held')}.`]),
    ...(paid.length === 0 ? [] : [`${isOpen ? 'Paid so far:' : 'It cost'} ${listed(paid, 'net')}.`]),
    ...(won.length === 0
      ? []
      : [
          `More came back than it cost: ${listed(won, 'net').replaceAll('from the wallet', 'to the wallet')}.`,
        ]),
    ...(held.length + paid.length + won.length > 0 ? [] : [isOpen ? 'Nothing is held.' : 'It cost nothing.']),
    ...(isComplete ? [] : ['Not every amount is known.']),
  ];
  return said.join(' ');
}
