import { failedOrderStatuses } from '../../api/enums.ts';
import { errorHint, errorTypeHint } from '../../api/error-codes.ts';
import { type JsonObject, numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { namesAccount } from '../../api/order-fields.ts';
import { isAbout, quantityText, type ShownState, spoken } from '../../api/order-state.ts';
import type { Output } from '../../api/outputs/index.ts';
import { contains, type RejectedLine, rejectedLines, rejectionText } from '../../format/line-rejections.ts';
import { formatMoney } from '../../format/money.ts';
import type { Attempt } from '../../journal/attempts.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { revertedCode } from '../../journal/reverting.ts';
import { shellLine } from '../../platform/shell.ts';
import type { MoneyDue, MoneySum } from '../../spending/money-lines.ts';
import { creditedIn, moneyOf, type OrderMoney } from '../../spending/money-of-order.ts';
import { chargeOf, partsOfPrice } from '../../spending/price-of-order.ts';
import { concessionText, productsOf } from '../columns.ts';
import { metadataOf } from '../needs/reference.ts';
import { stateOfOrder } from '../order-record.ts';
import { type LocalPart, referenceOf } from './local.ts';

/** Inputs of a story. */
interface Sources extends LocalPart {
  /** The order at the service. Undefined if the service does not have the order, or if the intent has no result yet. */
  readonly order: unknown;
  readonly milestones: readonly Fields[];
  readonly id: string | undefined;
  readonly service: string;
  /** The fee that the service charges per order, if known. */
  readonly feeCents: number | undefined;
  /** Flags with which a suggested command uses the same service. */
  readonly where: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The full story of an order. Amounts are in the currency's minor unit, times are in ISO 8601. */
export type Story = Output<'OrderHistory'>;

type MoneyPart = NonNullable<Story['money']>;

const moneyPart = ({ payer, lines, sums, due, isOpen, isComplete }: OrderMoney): MoneyPart => ({
  payer,
  lines: lines.map(({ returnId, ...line }) => ({ ...line, return_id: returnId ?? null })),
  sums,
  due: due.map(({ returnId, ...one }) => ({ ...one, return_id: returnId ?? null })),
  is_open: isOpen,
  is_complete: isComplete,
});

/** Builds the story from its inputs. Pure. */
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
    ...attemptsIn(sources),
    service,
    status,
    summary: '',
    products: productsOf(order ?? record?.body).map((one) => `${quantityText(one)} x ${one.name}`),
    asked: requestIn(sources),
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

function attemptsIn({
  order,
  record,
  attempts,
  id,
}: Sources): Pick<Story, 'reference' | 'attempt' | 'attempts'> {
  const reference = referenceOf(order, record);
  const isThis = ({ orderId, key }: Attempt): boolean =>
    id === undefined ? key === record?.key : orderId?.toLowerCase() === id;
  return {
    reference: reference ? metadataOf(reference) : null,
    attempt: attempts.find(isThis)?.number ?? null,
    attempts: attempts.map(({ number, orderId = null, key, state, madeAt }) => ({
      ...{ attempt: number, order_id: orderId, key, state: state.replace('_', ' ') },
      made_at: new Date(madeAt).toISOString(),
    })),
  };
}

function requestIn({ chain, record, row, order }: Sources): Story['asked'] {
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

/** Payment by challenge, from the audit chain. */
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

/** Something about an order that is pending or unresolved, and the command that deals with it. */
interface OpenPoint {
  readonly what: string;
  readonly command: string;
}

/** Lists what is pending or unresolved about an order. Pure. */
function openPoints(
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
  // If a return was requested or credited, the code below reports that.
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

/** Describes money that the payer should have got back. */
const dueText = ({ what, cents, currency, note, payer }: MoneyDue): string => {
  const amount = cents === undefined ? `a ${what}` : `${formatMoney(cents, currency)}`;
  return `by rule ${amount} should have come back (${payer.replace('_', ' ')}): ${note}`;
};

const commandFor = ({ returnId }: MoneyDue, id: string): string =>
  returnId === undefined ? shellLine`errand order get ${id}` : shellLine`errand return get ${returnId}`;

/** Summarizes the story in a sentence or two. Pure. */
function summaryOf(
  { status, why, asked, key }: Pick<Story, 'status' | 'why' | 'asked' | 'key'>,
  order: unknown,
  money: OrderMoney | null,
): string {
  const what =
    order === undefined
      ? ofIntent(status, asked !== null, why[0]?.code ?? null)
      : ofOrder(order, status, why[0]?.code ?? null);
  const summary = money ? `${what} ${costs(money)}` : what;
  return order !== undefined && asked === null && key === null
    ? `${summary} Nothing here says that this machine asked for it.`
    : summary;
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
  (state === 'refused' && code === revertedCode
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

/** Describes a placed order's state in a sentence. */
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

/** Describes, for each payer, the money that an order holds and what the order finally cost. */
function costs({ sums, isOpen, isComplete }: OrderMoney): string {
  const held = sums.filter((sum) => sum.held !== 0);
  const paid = sums.filter((sum) => sum.net > 0);
  const won = sums.filter((sum) => sum.net < 0).map((sum) => ({ ...sum, net: 0 - sum.net }));
  const sumsText = (some: readonly MoneySum[], what: 'held' | 'net'): string =>
    some.map((sum) => `${formatMoney(sum[what], sum.currency)} ${payers[sum.payer]}`).join(' and ');
  const rendered = [
    ...(held.length === 0 ? [] : [`Held: ${sumsText(held, 'held')}.`]),
    ...(paid.length === 0 ? [] : [`${isOpen ? 'Paid so far:' : 'It cost'} ${sumsText(paid, 'net')}.`]),
    ...(won.length === 0
      ? []
      : [
          `More came back than it cost: ${sumsText(won, 'net').replaceAll('from the wallet', 'to the wallet')}.`,
        ]),
    ...(held.length + paid.length + won.length > 0 ? [] : [isOpen ? 'Nothing is held.' : 'It cost nothing.']),
    ...(isComplete ? [] : ['Not every amount is known.']),
  ];
  return rendered.join(' ');
}

/** Why something failed, or was fulfilled only in part. */
interface Why {
  /** The service's code; null if there is none. */
  readonly code: string | null;
  readonly message: string;
  /** What to do about the problem. */
  readonly hint: string | null;
}

/** Reasons why an order and its parts failed or were changed by a concession; empty if there are none. Pure. */
export function whyOf(order: unknown): Why[] {
  const result = own(order, 'job_result');
  const details = own(result, 'error_details');
  const type = textIn(result, 'error_type') ?? textIn(details, 'code');
  const message = textIn(result, 'error') ?? textIn(details, 'message');
  const status = textIn(order, 'status') ?? '';
  const hasFailed = failedOrderStatuses.some((failed) => failed === status);
  const hasAccount = namesAccount(order);
  const hintOf = (code: string | undefined): string | undefined =>
    hasFailed && code !== undefined ? errorTypeHint(code, hasAccount) : undefined;
  const whole =
    hasFailed && (type !== undefined || message !== undefined) ? [reason(type, message, hintOf(type))] : [];
  const items = objectsIn(order, 'items');
  const isOneLine = items.length <= 1;
  const concessions = objectsIn(own(order, 'fulfillment'), 'concessions');
  const rejected = rejectedLines(details);
  const lines = [
    ...rejected.map((line) => rejectedPart(line, hintOf)),
    ...items.flatMap((item) => {
      if (textIn(item, 'cancellation_reason') !== undefined)
        return [partOf(item, 'url', 'cancellation_reason', hintOf)];
      const code = textIn(item, 'error_type');
      const isReported =
        code === undefined ||
        code === type ||
        rejected.some((line) => line.codes.includes(code) && isAbout(line, item)) ||
        concessions.some(({ item_id: itemId, url }) => isAbout({ itemId, url }, item));
      return isReported ? [] : [partOf({ ...item, said: spoken(code) }, 'url', 'said', hintOf)];
    }),
  ];
  // Include field errors only if no line repeats them.
  const fields = objectsIn(details, 'field_errors')
    .map((field) => partOf(field, 'field', 'message'))
    .filter(
      ({ text }) =>
        ![message, ...lines.map((line) => line.text)].some((rendered) => contains(rendered, text)),
    );
  const relaxed = concessions.map((concession) => {
    const text = concessionText(concession);
    const url = isOneLine ? undefined : textIn(concession, 'url');
    return reason(textIn(concession, 'code'), url ? `${url}: ${text}` : text, undefined);
  });
  // If a part has the same message as the order, do not repeat the message. If there are several parts, name only the
  // part; otherwise leave the part out.
  const parts = [...fields, ...lines].flatMap(({ name, text, counts, why }) => {
    const isRepeated = whole.length > 0 && contains(message, text);
    if (isOneLine && counts === '' && (isRepeated || (why.code !== null && why.code === type))) return [];
    const named = [name, counts === '' ? '' : `(${counts})`].filter(Boolean).join(' ');
    return isRepeated && name !== undefined ? [{ ...why, message: `that is ${named}` }] : [why];
  });
  const more = unique([...parts, ...relaxed]);
  const page = hasFailed ? textIn(details, 'url') : undefined;
  const isNamed =
    page === undefined ||
    page === '' ||
    (isOneLine && textIn(items[0], 'url') === page) ||
    [...whole, ...more].some((one) => one.message.includes(page));
  const about = isNamed ? [] : [reason(undefined, `it is about ${page}`, undefined)];
  return withAdvice([...whole, ...more, ...about], status);
}

/** Removes duplicate messages. */
const unique = (reasons: readonly Why[]): Why[] =>
  reasons.filter(({ message }, at) => reasons.findIndex((one) => one.message === message) === at);

/** Advice by status. Used for codes that have no advice of their own. */
const statusHints: Readonly<Record<string, { readonly message: string; readonly hint: string }>> = {
  cancelled: {
    message: 'it was cancelled before it was placed',
    hint: 'Order it again if it is still wanted.',
  },
  cancelled_by_retailer: {
    message: 'the retailer cancelled it',
    hint: 'Order again later, or from another retailer; the fee of the service does not come back.',
  },
};

function withAdvice(reasons: readonly Why[], status: string): Why[] {
  const known = Object.hasOwn(statusHints, status) ? statusHints[status] : undefined;
  if (!known || reasons.some(({ hint }) => hint !== null)) return [...reasons];
  const [first = { code: null, message: known.message }, ...rest] = reasons;
  return [{ ...first, hint: known.hint }, ...rest];
}

/** The service's reason for refusing an intent, from the journal. */
const whyRefused = ({ state, code, message }: JournalRecord): Why[] =>
  state === 'refused'
    ? [{ code, message: message ?? 'the service refused it', hint: errorHint(code ?? '') ?? null }]
    : [];

const reason = (code: string | undefined, message: string | undefined, hint: string | undefined): Why => ({
  code: code ?? null,
  message: message ?? 'the service gives no reason',
  hint: hint ?? null,
});

type HintOf = (code: string | undefined) => string | undefined;

/** A part of an order that failed. */
interface Part {
  readonly name: string | undefined;
  readonly text: string;
  /** How many were requested, and how many are available; empty if not stated. */
  readonly counts: string;
  readonly why: Why;
}

function rejectedPart(line: RejectedLine, hintOf: HintOf): Part {
  const { name, reason: text, counts, codes } = line;
  const hint = codes.map(hintOf).find((one) => one !== undefined);
  return { name, text, counts, why: reason(codes[0], rejectionText(line) || undefined, hint) };
}

/** Name and failure reason of one part of an order. */
function partOf(part: JsonObject, name: string, why: string, hintOf: HintOf = () => undefined): Part {
  const text = textIn(part, why) ?? '';
  const message = [textIn(part, name), text].filter((one) => one !== undefined && one !== '').join(': ');
  const code = textIn(part, 'code') ?? textIn(part, 'error_type');
  return { name: textIn(part, name), text, counts: '', why: reason(code, message, hintOf(code)) };
}
