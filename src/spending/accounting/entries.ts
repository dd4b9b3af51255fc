import type { MoneyLine, Payer } from '../money-lines.ts';

/** An amount posted to an account. The postings of an entry sum to 0 in each currency. */
export interface Posting {
  /**
   * Account name such as `Assets:Errand:Wallet`. Colons separate its parts, which consist of letters, digits and
   * dashes.
   */
  readonly account: string;
  /** Amount in minor units of the currency. It is positive if it enters the account. */
  readonly cents: number;
  /** Three capital letters. */
  readonly currency: string;
}

/** A bookkeeping entry. Strings are untrusted; each format escapes them. */
export interface Entry {
  /** Stable id. The same event gets the same id whenever and wherever it is recorded. */
  readonly id: string;
  readonly kind: Kind | 'opening';
  /** When the money moved, in ms since the epoch. */
  readonly at: number;
  /** The date in the time zone of the books. */
  readonly date: string;
  readonly orderId?: string;
  readonly payee: string;
  readonly text: string;
  readonly poNumber?: string;
  readonly metadata?: string;
  /** Whether the amount was inferred from the service's rules because no record contains it. */
  readonly isByRule: boolean;
  readonly postings: readonly Posting[];
}

export type Kind = Exclude<MoneyLine['what'], 'hold'>;

export const walletAccount = 'Assets:Errand:Wallet';

/**
 * All movements of one kind of money for one order. Their total may change, for example if there is a credit or a
 * corrected price.
 */
export interface Stream {
  readonly orderId: string;
  readonly kind: Kind;
  readonly payer: Payer;
  readonly currency: string;
  readonly returnId?: string;
}

/** How much of a stream the books already contain. */
interface Written {
  readonly stream: Stream;
  /** Number of entries written. */
  readonly count: number;
  /** Total of the entries written so far. Payments are positive, as in `MoneyLine`. */
  readonly total: number;
}

/** An entry found in a file, with an id that errand generated. */
export interface ExistingEntry {
  readonly id: string;
  /** Line on which the entry begins, starting at 1. */
  readonly line: number;
  /**
   * The postings found in the file, which may differ from those that errand wrote. Undefined if someone has edited the
   * postings in a way that errand cannot parse.
   */
  readonly postings: readonly Posting[] | undefined;
}

/** The amount, in minor units, that postings add to an account. */
export const centsOn = (postings: readonly Posting[], name: string, of: string): number =>
  postings.reduce(
    (sum, { account, cents, currency }) => sum + (account === name && currency === of ? cents : 0),
    0,
  );

/** By how many orders a list may shift from one page to the next. */
const maxShifted = 20_000;

/** The entries that the books already contain. */
export class WrittenEntries {
  /** Totals that the books already contain, keyed by order id and then by the name of the stream. */
  readonly #orders = new Map<string, Map<string, Written>>();
  readonly ids = new Set<string>();
  /** Orders whose entries this run added: the latest, and those before them. */
  #added: [Set<string>, Set<string>] = [new Set(), new Set()];
  opening: number | undefined;
  /** Wallet balance according to these entries, in cents. Without an opening balance, this is only the net change. */
  walletCents = 0;

  /** Adds an entry with the amounts found in the file. An entry whose id errand did not generate is ignored. */
  take({ id, postings = [] }: Pick<ExistingEntry, 'id' | 'postings'>): void {
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

  /** Adds an entry that is to be written. Of its order no more than the id is remembered. */
  add({ postings, orderId }: Entry): void {
    this.walletCents += centsOn(postings, walletAccount, 'USD');
    if (orderId === undefined) return;
    const [latest] = this.#added;
    if (latest.size >= maxShifted) this.#added = [new Set([orderId]), latest];
    else latest.add(orderId);
  }

  /** Whether a list that was shifted by new orders has shown the order before. */
  isAdded(orderId: string): boolean {
    return this.#added.some((orders) => orders.has(orderId));
  }

  of(orderId: string): ReadonlyMap<string, Written> {
    return this.#orders.get(orderId) ?? new Map();
  }
}

export const openingId = (cents: number): string => `opening.wallet.${cents}`;

/** Parses the id of an opening balance. Returns the amount that the id contains, in cents. */
export function readOpening(id: string): number | undefined {
  const cents = /^opening\.wallet\.(-?\d{1,16})$/.exec(id)?.[1];
  return cents === undefined ? undefined : Number(cents);
}

export const streamName = ({ orderId, kind, payer, currency, returnId }: Stream): string =>
  [orderId, kind, payer, currency, ...(returnId === undefined ? [] : [returnId])].join('.');

/** The id of the entry that brings a stream to a given total. The id contains that total. */
export const entryId = ({ stream, count, total }: Written): string =>
  `${streamName(stream)}.${count}.${total}`;

/** Format of an entry id. An id contains only characters that no bookkeeping format needs to escape. */
const idShape =
  /^(\w[\w-]{0,63})\.(charge|fee|refund|credit)\.(wallet|card|connect|retailer_account|challenge)\.([A-Z]{3})(?:\.(\w[\w-]{0,63}))?\.(\d{1,6})\.(-?\d{1,16})$/;

/** Parses an entry id that errand generated; undefined for any other id. */
export function readId(id: string): Written | undefined {
  const [, orderId, kind, payer, currency, returnId, count, total] = idShape.exec(id) ?? [];
  if (orderId === undefined || currency === undefined) return undefined;
  // The casts are safe because the regular expression matches only valid kinds and payers.
  const stream = { orderId, kind: kind as Kind, payer: payer as Payer, currency };
  return {
    stream: returnId === undefined ? stream : { ...stream, returnId },
    count: Number(count),
    total: Number(total),
  };
}

/** Whether an id from the service can be used as part of an entry id. */
export const isIdPart = (text: string | undefined): text is string =>
  text !== undefined && /^\w[\w-]{0,63}$/.test(text);

/** The account from which an order was paid. Wallet amounts in a foreign currency get a separate account. */
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

/** The account that records what the money was for. @param retailers are the names of the retailers of the order. */
export const purposeAccount = (what: MoneyLine['what'], retailers: readonly string[]): string =>
  what === 'fee' ? 'Expenses:Fees:Service' : `Expenses:Purchases:${accountPart(retailers)}`;

/** Accounts for the parts of a price other than the goods. The keys are those of `partsOfPrice`. */
export const partAccounts: Readonly<Record<string, string>> = {
  shipping: 'Expenses:Shipping',
  tax: 'Expenses:Tax',
  discount: 'Income:Discounts',
  'fees of the retailer': 'Expenses:Fees:Retailer',
};

const maxLength = 60;

/**
 * Converts a name to a part of an account name that every program accepts: `morningroast.example` becomes
 * `Morningroast-Example`.
 */
function accountPart(retailers: readonly string[]): string {
  const [only = '', ...others] = retailers;
  if (others.length > 0) return 'Several';
  const words = only
    .normalize('NFKD')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  const name = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('-');
  return name.slice(0, maxLength).replace(/-$/, '') || 'Unknown';
}
