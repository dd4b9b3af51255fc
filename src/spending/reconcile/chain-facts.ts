import { numberIn, own, textIn } from '../../api/json.ts';
import { ChainCheck } from '../../journal/audit-check.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An intent to order, as recorded in the audit chain. */
export interface RecordedIntent {
  readonly key: string;
  readonly operation: string;
  readonly account: string;
  /** ISO 8601. */
  readonly at: string;
  readonly ceilingCents: number | undefined;
  /** SHA-256 of the request. A repeated command has the same hash. */
  readonly content: string;
  /** Whether the user placed another order on purpose, either with `--new` or by choosing the key of the order. */
  readonly isDeliberate: boolean;
  state: 'open' | 'made' | 'ended';
  /** Id of the order, batch or return that the service created. */
  madeId: string | undefined;
  paid: { readonly amount: string; readonly currency: string } | undefined;
}

/** The last recorded result of an order. */
interface RecordedEnd {
  readonly status: string;
  readonly cents: number | undefined;
  readonly currency: string | undefined;
  /** What the order cost when it was last read as placed. */
  readonly placed: { readonly cents: number; readonly currency: string } | undefined;
}

/** The facts that the audit chain records about the orders at one service. The chain is verified while it is read. */
export class ChainFacts {
  readonly check = new ChainCheck();
  /** By idempotency key. */
  readonly intents = new Map<string, RecordedIntent>();
  /** By order id. */
  readonly ends = new Map<string, RecordedEnd>();
  readonly #service: string;

  constructor(service: string) {
    this.#service = service;
  }

  /** Adds the next record. Records must be added in the order of the chain. */
  take(record: Fields): void {
    this.check.take(record);
    const { kind, key, service, order_id: id } = record;
    if (service !== this.#service) return;
    if (kind === 'settled' && typeof id === 'string') this.ends.set(id, endOf(record, this.ends.get(id)));
    if (kind === 'refused' && typeof id === 'string') this.ends.delete(id);
    if (typeof key !== 'string') return;
    const before = this.intents.get(key);
    if (kind === 'intent') this.intents.set(key, intentOf(key, record, before));
    else if (before) advance(before, record);
  }
}

function intentOf(key: string, record: Fields, before: RecordedIntent | undefined): RecordedIntent {
  const { time, amount_cents: cents, command, detail } = record;
  return {
    key,
    operation: textIn(detail, 'operation') ?? '',
    account: textIn(detail, 'account') ?? '',
    at: before && own(detail, 'again') === true ? before.at : String(time),
    ceilingCents: typeof cents === 'number' ? cents : undefined,
    content: textIn(detail, 'content') ?? '',
    isDeliberate: / --(?:new|idempotency-key)(?: |=|$)/.test(String(command)),
    state: 'open',
    madeId: undefined,
    paid: before?.paid,
  };
}

function advance(intent: RecordedIntent, record: Fields): void {
  const { kind, order_id: id } = record;
  if (kind === 'responded') {
    intent.state = 'made';
    intent.madeId = typeof id === 'string' ? id : undefined;
  }
  if (kind === 'refused' || kind === 'given_up' || kind === 'moved_out') intent.state = 'ended';
  // If a sandbox has undone an order, the order no longer counts as one of this machine.
  if (kind === 'refused') intent.madeId = undefined;
  const amount = kind === 'paid' ? numberIn(record, 'amount_cents') : undefined;
  const currency = textIn(record, 'currency');
  if (amount !== undefined && currency !== undefined) intent.paid = { amount: String(amount), currency };
}

function endOf(record: Fields, before: RecordedEnd | undefined): RecordedEnd {
  const status = textIn(record.detail, 'status') ?? '';
  const cents = numberIn(record, 'amount_cents');
  const currency = textIn(record, 'currency');
  const placed =
    status === 'order_placed' && cents !== undefined
      ? { cents, currency: currency ?? 'USD' }
      : before?.placed;
  return { status, cents, currency, placed };
}

/** An order as the service returns it, with its id. */
export type FoundOrder = Readonly<Record<string, unknown>> & { readonly id: string };
