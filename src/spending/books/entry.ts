import type { MoneyLine, Payer } from '../money-lines.ts';

/** An amount that enters an account; those of an entry add up to 0 in each currency. */
export interface Posting {
  /** `Assets:Errand:Wallet`: letters, digits and dashes between the colons. */
  readonly account: string;
  /** Minor units of the currency; what enters the account is positive. */
  readonly cents: number;
  /** Three capitals. */
  readonly currency: string;
}

/** One event of the books. Texts are as they came from outside: each format makes them inert. */
export interface Entry {
  /** The same whenever and wherever the same event is written. */
  readonly id: string;
  readonly kind: Kind | 'opening';
  /** ms since the epoch. */
  readonly at: number;
  /** The day in the zone of the books. */
  readonly date: string;
  readonly orderId?: string;
  readonly payee: string;
  readonly text: string;
  readonly poNumber?: string;
  readonly metadata?: string;
  /** No record shows the amount: it follows from how the service works. */
  readonly isByRule: boolean;
  readonly postings: readonly Posting[];
}

export type Kind = Exclude<MoneyLine['what'], 'hold'>;

export const walletAccount = 'Assets:Errand:Wallet';

/** One kind of movement of one order, whose total may grow or shrink: a credit, a price that was put right. */
export interface Stream {
  readonly orderId: string;
  readonly kind: Kind;
  readonly payer: Payer;
  readonly currency: string;
  readonly returnId?: string;
}

/** How far a stream has been written. */
export interface Written {
  readonly stream: Stream;
  /** How many entries. */
  readonly count: number;
  /** What they come to: what was paid is positive, as in `MoneyLine`. */
  readonly total: number;
}

/** What stands in books already. */
export class WrittenBooks {
  /** By order, then by the name of the stream. */
  readonly #orders = new Map<string, Map<string, Written>>();
  readonly ids = new Set<string>();
  opening: number | undefined;

  /** Takes the id of an entry; one that is not ours is no concern of ours. */
  note(id: string): void {
    if (this.ids.has(id)) return;
    const opening = openingShape.exec(id);
    if (opening) this.opening = Number(opening[1]);
    const found = readId(id);
    if (!found && !opening) return;
    this.ids.add(id);
    if (!found) return;
    const of = this.#orders.get(found.stream.orderId) ?? new Map<string, Written>();
    this.#orders.set(found.stream.orderId, of);
    const name = streamName(found.stream);
    if ((of.get(name)?.count ?? 0) < found.count) of.set(name, found);
  }

  of(orderId: string): ReadonlyMap<string, Written> {
    return this.#orders.get(orderId) ?? new Map();
  }

  /** What the wallet holds by these books, cents: without an opening balance, what has entered and left it. */
  get walletCents(): number {
    const moved = [...this.#orders.values()]
      .flatMap((of) => [...of.values()])
      .filter(({ stream: { payer, currency } }) => payer === 'wallet' && currency === 'USD');
    return moved.reduce((sum, { total }) => sum - total, this.opening ?? 0);
  }
}

export const openingId = (cents: number): string => `opening.wallet.${cents}`;
const openingShape = /^opening\.wallet\.(-?\d{1,16})$/;

export const streamName = ({ orderId, kind, payer, currency, returnId }: Stream): string =>
  [orderId, kind, payer, currency, ...(returnId === undefined ? [] : [returnId])].join('.');

/** The id of the entry that brings a stream to a total. */
export const entryId = ({ stream, count, total }: Written): string =>
  `${streamName(stream)}.${count}.${total}`;

/** An id as it stands in every entry: nothing but these characters, so that no format has to escape it. */
const idShape =
  /^(\w[\w-]{0,63})\.(charge|fee|refund|credit)\.(wallet|card|connect|retailer_account|challenge)\.([A-Z]{3})(?:\.(\w[\w-]{0,63}))?\.(\d{1,6})\.(-?\d{1,16})$/;

function readId(id: string): Written | undefined {
  const [, orderId, kind, payer, currency, returnId, count, total] = idShape.exec(id) ?? [];
  if (orderId === undefined || currency === undefined) return undefined;
  // The expression names the kinds and the payers.
  const stream = { orderId, kind: kind as Kind, payer: payer as Payer, currency };
  return {
    stream: returnId === undefined ? stream : { ...stream, returnId },
    count: Number(count),
    total: Number(total),
  };
}

/** Whether an id of the service can be part of one of ours. */
export const isIdPart = (text: string | undefined): text is string =>
  text !== undefined && /^\w[\w-]{0,63}$/.test(text);
