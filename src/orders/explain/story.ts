import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { quantityText } from '../../api/order-state.ts';
import type { Output } from '../../api/outputs/index.ts';
import { moneyOf, type OrderMoney } from '../../spending/money-of-order.ts';
import { chargeOf, partsOfPrice } from '../../spending/price-of-order.ts';
import { productsOf } from '../products-of.ts';
import type { LocalPart } from './local.ts';
import { openPoints } from './open.ts';
import { summaryOf } from './summary.ts';
import { whyOf, whyRefused } from './why.ts';

/** What is read of an order before its story is told. */
export interface Sources extends LocalPart {
  /** The order as the service has it; undefined where it has none, or of an intent that led to nothing yet. */
  readonly order: unknown;
  readonly milestones: readonly Fields[];
  readonly id: string | undefined;
  readonly service: string;
  /** What the service takes for an order, where that is known. */
  readonly feeCents: number | undefined;
  /** Flags with which a command reaches the same service. */
  readonly where: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** One order's whole story. Amounts are in the currency's minor unit; times ISO 8601. */
export type Story = Output<'OrderHistory'>;

/** The money of an order, as it is printed. */
export type MoneyPart = NonNullable<Story['money']>;

const moneyPart = ({ payer, lines, sums, due, isOpen, isComplete }: OrderMoney): MoneyPart => ({
  payer,
  lines: lines.map(({ returnId, ...line }) => ({ ...line, return_id: returnId ?? null })),
  sums,
  due: due.map(({ returnId, ...one }) => ({ ...one, return_id: returnId ?? null })),
  is_open: isOpen,
  is_complete: isComplete,
});

/** Puts together what was read. Pure. */
export function storyOf(sources: Sources): Story {
  const { order, record, chain, reservation, events, service, milestones } = sources;
  const paid = paymentIn(chain) ?? record?.payment ?? undefined;
  const feeCents = reservation?.feeCents ?? sources.feeCents;
  const money = order === undefined ? null : moneyOf(order, { feeCents, paid });
  const why = [...whyOf(order), ...(record && order === undefined ? whyRefused(record) : [])];
  const status = textIn(order, 'status') ?? record?.state ?? 'unknown';
  const story = {
    id: sources.id ?? record?.order_id ?? null,
    key: record && record.operation !== 'bulk.create' ? record.key : (reservation?.key ?? null),
    service,
    status,
    summary: '',
    products: productsOf(order ?? record?.body).map((one) => `${quantityText(one)} x ${one.name}`),
    asked: askedIn(sources),
    why,
    policy: reservation ? policyPart(reservation) : null,
    steps: chain.map(stepOf),
    milestones,
    price: priceOf(order),
    money: money && moneyPart(money),
    returns: objectsIn(order, 'returns'),
    events: events.map(({ id, event, status: to, error_type, received_at, deliveries }) => ({
      ...{ id, event, status: to, error_type, received_at, deliveries },
    })),
    open: openPoints(sources, money),
  };
  return { ...story, summary: summaryOf(story, order, money) };
}

function askedIn({ chain, record, row, order }: Sources): Story['asked'] {
  const first = chain.find(({ kind, detail }) => kind === 'intent' && !isReturn(detail));
  const of = { batch: row?.batch ?? null, row: row?.number ?? null };
  if (!first) return null;
  const { time, actor, job, command, profile, amount_cents: cents, detail } = first;
  const wholeCents = typeof cents === 'number' ? cents : null;
  const rowCents = numberIn(order, 'max_price') ?? null;
  return {
    at: String(time),
    actor: String(actor),
    job: typeof job === 'string' ? job : null,
    command: String(command),
    profile: typeof profile === 'string' ? profile : null,
    operation: textIn(detail, 'operation') ?? record?.operation ?? 'unknown',
    ceiling_cents: row ? rowCents : wholeCents,
    batch_ceiling_cents: row ? wholeCents : null,
    ...of,
  };
}

const isReturn = (detail: unknown): boolean => textIn(detail, 'operation') === 'return.create';

/** What was paid by challenge, as the chain keeps it. */
function paymentIn(chain: Sources['chain']): { amount: string; currency: string } | undefined {
  const paid = chain.findLast(({ kind }) => kind === 'paid');
  const amount = numberIn(paid, 'amount_cents');
  const currency = textIn(paid, 'currency');
  return amount === undefined || currency === undefined ? undefined : { amount: String(amount), currency };
}

const policyPart = (one: NonNullable<Sources['reservation']>): NonNullable<Story['policy']> => ({
  state: one.state,
  at: new Date(one.at).toISOString(),
  reserved_cents: one.cents,
  fee_cents: one.feeCents,
  counted_cents: one.counted,
  override: one.override ?? null,
});

function stepOf(record: Fields): Story['steps'][number] {
  const { number, time, kind, actor, command, amount_cents: cents, currency, detail } = record;
  const { code, outcome, status, change, reason, by, operation } = Object(detail);
  const what = code ?? outcome ?? status ?? change ?? reason ?? by;
  const of = operation === 'return.create' ? 'return ' : operation === 'bulk.create' ? 'batch ' : '';
  const step = `${of}${String(kind)}`;
  return {
    number: Number(number),
    at: String(time),
    step,
    outcome: typeof what === 'string' ? what : null,
    amount_cents: typeof cents === 'number' ? cents : null,
    currency: typeof currency === 'string' ? currency : null,
    actor: String(actor),
    command: String(command),
  };
}

function priceOf(order: unknown): Story['price'] {
  const price = own(own(order, 'job_result'), 'price_components');
  const total = numberIn(price, 'total');
  const parts = partsOfPrice(order);
  if (!parts || total === undefined) return null;
  const currency = textIn(price, 'currency') ?? 'USD';
  const charge = chargeOf(order);
  const charged = charge && charge.currency !== currency.toUpperCase() ? charge : null;
  return { currency, parts, total, charged };
}
