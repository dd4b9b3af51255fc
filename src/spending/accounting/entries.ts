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
interface Written {
  readonly stream: Stream;
  /** How many entries. */
  readonly count: number;
  /** What they come to: what was paid is positive, as in `MoneyLine`. */
  readonly total: number;
}

/** An entry of a file that bears an id of ours. */
export interface Standing {
  readonly id: string;
  /** Of the file, from 1, where it begins. */
  readonly line: number;
  /** As they stand, which need not be as they were written; undefined where a person has written what errand cannot read. */
  readonly postings: readonly Posting[] | undefined;
}

/** What postings bring to an account, minor units. */
export const centsOn = (postings: readonly Posting[], name: string, of: string): number =>
  postings.reduce(
    (sum, { account, cents, currency }) => sum + (account === name && currency === of ? cents : 0),
    0,
  );

/** What stands in books already. */
export class WrittenBooks {
  /** By order, then by the name of the stream. */
  readonly #orders = new Map<string, Map<string, Written>>();
  readonly ids = new Set<string>();
  opening: number | undefined;
  /** What the wallet holds by these entries, cents: without an opening balance, what has entered and left it. */
  walletCents = 0;

  /** Takes an entry with its amounts as they stand; one whose id is not ours is no concern of ours. */
  take({ id, postings = [] }: Pick<Standing, 'id' | 'postings'>): void {
    const found = readId(id);
    const opening = readOpening(id);
    if (!found && opening === undefined) return;
    this.walletCents += centsOn(postings, walletAccount, 'USD');
    this.opening ??= opening;
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
}

export const openingId = (cents: number): string => `opening.wallet.${cents}`;

/** The cents of an opening balance's id. */
export function readOpening(id: string): number | undefined {
  const cents = /^opening\.wallet\.(-?\d{1,16})$/.exec(id)?.[1];
  return cents === undefined ? undefined : Number(cents);
}

export const streamName = ({ orderId, kind, payer, currency, returnId }: Stream): string =>
  [orderId, kind, payer, currency, ...(returnId === undefined ? [] : [returnId])].join('.');

/** The id of the entry that brings a stream to a total. */
export const entryId = ({ stream, count, total }: Written): string =>
  `${streamName(stream)}.${count}.${total}`;

/** An id as it stands in every entry: nothing but these characters, so that no format has to escape it. */
const idShape =
  /^(\w[\w-]{0,63})\.(charge|fee|refund|credit)\.(wallet|card|connect|retailer_account|challenge)\.([A-Z]{3})(?:\.(\w[\w-]{0,63}))?\.(\d{1,6})\.(-?\d{1,16})$/;

/** What an id of ours says; undefined for any other. */
export function readId(id: string): Written | undefined {
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

/** Whose money an order was paid with; another currency of the wallet is never mixed with its own. */
export function payerAccount(payer: Payer, currency: string): string {
  if (payer === 'wallet') return currency === 'USD' ? walletAccount : 'Liabilities:Errand:Other-Currency';
  return {
    card: 'Liabilities:Errand:Card',
    connect: 'Liabilities:Errand:Connect',
    retailer_account: 'Liabilities:Errand:Retailer-Account',
    challenge: 'Liabilities:Errand:Challenge',
  }[payer];
}

export const openingAccount = 'Equity:Opening-Balances';

/** What a movement was for. @param retailers whose names the order has. */
export const purposeAccount = (what: MoneyLine['what'], retailers: readonly string[]): string =>
  what === 'fee' ? 'Expenses:Fees:Service' : `Expenses:Purchases:${accountPart(retailers)}`;

/** Where the parts of a price go that are not goods, by the names that `partsOfPrice` gives them. */
export const partAccounts: Readonly<Record<string, string>> = {
  shipping: 'Expenses:Shipping',
  tax: 'Expenses:Tax',
  discount: 'Income:Discounts',
  'fees of the retailer': 'Expenses:Fees:Retailer',
};

const longest = 60;

/** A name as a part of an account that every program takes: `morningroast.example` is `Morningroast-Example`. */
function accountPart(retailers: readonly string[]): string {
  const [only = '', ...others] = retailers;
  if (others.length > 0) return 'Several';
  const words = only
    .normalize('NFKD')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  const name = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('-');
  return name.slice(0, longest).replace(/-$/, '') || 'Unknown';
}
