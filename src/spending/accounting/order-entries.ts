import { isObject, numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { SortedTexts } from '../../platform/sorted-texts.ts';
import type { MoneyLine } from '../money-lines.ts';
import { moneyOf } from '../money-of-order.ts';
import { chargeOf, partsOfPrice } from '../price-of-order.ts';
import { type RetailerNames, retailersOf } from '../report/read.ts';
import {
  type Entry,
  entryId,
  isIdPart,
  type Kind,
  openingAccount,
  openingId,
  type Posting,
  partAccounts,
  payerAccount,
  purposeAccount,
  type Stream,
  streamName,
  type WrittenEntries,
} from './entries.ts';
import type { AccountingFormat, Rendered } from './files.ts';

interface EntryContext {
  readonly written: WrittenEntries;
  readonly feeCents: number | undefined;
  readonly retailers: RetailerNames;
  /** Converts a time, in ms since the epoch, to its date. */
  readonly dateAt: (moment: number) => string;
}

/** Entries that the books need for an order but do not contain yet. */
interface OrderEntries {
  readonly entries: readonly Entry[];
  /** Number of entries already in the books. */
  readonly there: number;
  /** False if the order has no usable id or time, or one of its amounts is unknown. */
  readonly isComplete: boolean;
}

/**
 * Finds the entries that the books need for an order but do not contain yet. Each entry has the difference between the
 * current total of a movement and the total that the books contain. The difference may be negative. Pure.
 * @param order is the record as received.
 */
export function entriesOf(
  order: unknown,
  { written, feeCents, retailers, dateAt }: EntryContext,
): OrderEntries {
  const id = textIn(order, 'id');
  const created = timeIn(order, 'created_at');
  if (!isIdPart(id) || created === undefined) return { entries: [], there: 0, isComplete: false };
  const { lines, isComplete } = moneyOf(order, { feeCents });
  if (written.isAdded(id)) return { entries: [], there: 0, isComplete };
  const totals = totalsOf(id, lines);
  const before = written.of(id);
  // A movement in the books may no longer exist, for example because a credit was reversed. Correct its total to 0.
  for (const [name, { stream }] of before)
    if (!totals.has(name)) totals.set(name, { stream, total: 0, isByRule: false });
  const names = retailersOf(order, retailers);
  const entries = [...totals].flatMap(([name, { stream, total, isByRule }]): Entry[] => {
    const earlier = before.get(name);
    const moved = total - (earlier?.total ?? 0);
    // Do not correct a fee that the books already contain. The wallet reports only the current fee, which may differ
    // from the fee at that time.
    const isUnchanged = isByRule && stream.kind === 'fee' && earlier !== undefined && earlier.total !== 0;
    if (moved === 0 || isUnchanged) return [];
    const count = (earlier?.count ?? 0) + 1;
    const at = timeOf(order, stream, count) ?? created;
    const poNumber = textIn(order, 'po_number');
    const metadata = metadataText(own(order, 'metadata'));
    return [
      {
        ...{ id: entryId({ stream, count, total }), kind: stream.kind, at, date: dateAt(at), orderId: id },
        payee: names.join(' + '),
        text: count === 1 ? textOf(order, stream.kind) : `${textOf(order, stream.kind)} (correction)`,
        ...(poNumber && { poNumber }),
        ...(metadata && { metadata }),
        isByRule,
        postings: postingsOf(order, stream, moved, names),
      },
    ];
  });
  const there = [...before.values()].reduce((sum, { count }) => sum + count, 0);
  return { entries, there, isComplete };
}

interface Total {
  readonly stream: Stream;
  readonly total: number;
  readonly isByRule: boolean;
}

function totalsOf(orderId: string, lines: readonly MoneyLine[]): Map<string, Total> {
  const totals = new Map<string, Total>();
  for (const { what, payer, currency, returnId, cents, basis } of lines) {
    if (what === 'hold') continue;
    const stream: Stream = {
      ...{ orderId, kind: what, payer },
      currency: /^[A-Z]{3}$/.test(currency) ? currency : 'XXX',
      ...(isIdPart(returnId) && { returnId }),
    };
    const name = streamName(stream);
    const known = totals.get(name);
    totals.set(name, {
      stream,
      total: (known?.total ?? 0) + cents,
      isByRule: basis === 'by_rule' || known?.isByRule === true,
    });
  }
  return totals;
}

/**
 * Builds the postings for a change in the amount paid.
 * @param moved is that change, which may be negative.
 */
function postingsOf(
  order: unknown,
  { kind, payer, currency }: Stream,
  moved: number,
  retailers: readonly string[],
): Posting[] {
  const purpose = purposeAccount(kind, retailers);
  const paid = { account: payerAccount(payer, currency), cents: -moved, currency };
  const parts = kind === 'charge' || kind === 'refund' ? pricedParts(order, currency, purpose) : undefined;
  const whole = parts?.reduce((sum, { cents }) => sum + cents, 0);
  if (!parts || Math.abs(moved) !== whole) return [{ account: purpose, cents: moved, currency }, paid];
  const sign = Math.sign(moved);
  return [...parts.map((part) => ({ ...part, cents: sign * part.cents })), paid];
}

/** The parts of the price, with one posting per account. Undefined if price and charge have different currencies. */
function pricedParts(order: unknown, currency: string, goods: string): Posting[] | undefined {
  const parts = partsOfPrice(order);
  const price = own(own(order, 'job_result'), 'price_components');
  const charge = chargeOf(order);
  if (!parts || charge?.currency !== currency || charge.cents !== numberIn(price, 'total')) return undefined;
  const sums = new Map<string, number>();
  for (const { part, cents } of parts) {
    const account = Object.hasOwn(partAccounts, part) ? (partAccounts[part] ?? goods) : goods;
    sums.set(account, (sums.get(account) ?? 0) + cents);
  }
  return [...sums]
    .filter(([, cents]) => cents !== 0)
    .map(([account, cents]) => ({ account, cents, currency }));
}

/**
 * When money moved. For the first charge or fee, this is when the order was created. For anything later, it is when the
 * return or the order was last updated.
 */
function timeOf(order: unknown, { kind, returnId }: Stream, count: number): number | undefined {
  if (returnId !== undefined) {
    const one = objectsIn(order, 'returns').find((it) => textIn(it, 'id') === returnId);
    return timeIn(one, 'updated_at') ?? timeIn(order, 'updated_at');
  }
  const isFirst = count === 1 && (kind === 'charge' || kind === 'fee');
  return timeIn(order, isFirst ? 'created_at' : 'updated_at');
}

function timeIn(record: unknown, key: string): number | undefined {
  const at = Date.parse(textIn(record, key) ?? '');
  // Accept only years with four digits, because the books require them.
  return at >= Date.UTC(1970, 0, 2) && at < Date.UTC(9999, 0) ? at : undefined;
}

const words: Readonly<Record<Kind, string>> = {
  charge: '',
  fee: 'Fee of the service: ',
  refund: 'Refund: ',
  credit: 'Return credit: ',
};

function textOf(order: unknown, kind: Kind): string {
  const price = own(own(order, 'job_result'), 'price_components');
  const cart = objectsIn(price, 'cart_items').map(
    (item) => `${numberIn(item, 'quantity') ?? 1} x ${textIn(item, 'name') ?? 'item'}`,
  );
  const items = objectsIn(order, 'items').map(
    (item) => `${numberIn(item, 'quantity') ?? 1} x ${textIn(item, 'url') ?? 'item'}`,
  );
  return `${words[kind]}${(cart.length > 0 ? cart : items).join(', ')}`;
}

const metadataText = (metadata: unknown): string =>
  isObject(metadata)
    ? Object.entries(metadata)
        .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
    : '';

/** Collects entries, and sorts them by time at the end. Each entry is rendered as soon as it is added. */
export class Collection {
  readonly #format: AccountingFormat;
  readonly #written: WrittenEntries;
  readonly #texts = new SortedTexts();
  readonly #accounts = new Set<string>();
  readonly #currencies = new Set<string>();
  #span: { readonly first: number; readonly last: number } | undefined;
  /** Number of entries that the format cannot represent. */
  leftOut = 0;

  constructor(format: AccountingFormat, written: WrittenEntries) {
    this.#format = format;
    this.#written = written;
  }

  get count(): number {
    return this.#texts.count;
  }

  /** Time of the earliest entry, in ms since the epoch. Undefined if there are no entries. */
  get firstAt(): number | undefined {
    return this.#span?.first;
  }

  add(entry: Entry): void {
    if (!this.#format.takes(entry)) {
      this.leftOut += 1;
      return;
    }
    this.#written.add(entry);
    const { at } = entry;
    this.#texts.add({ at, text: this.#format.render(entry) });
    const { first, last } = this.#span ?? { first: at, last: at };
    this.#span = { first: Math.min(first, at), last: Math.max(last, at) };
    for (const { account, currency } of entry.postings) {
      this.#accounts.add(account);
      this.#currencies.add(currency);
    }
  }

  rendered(): Rendered {
    const texts = this.#texts.read();
    return { texts, span: this.#span, accounts: this.#accounts, currencies: this.#currencies };
  }
}

/** The entry for the opening balance. It is placed just before the entry whose time is `at`. */
export const openingEntry = (cents: number, at: number, date: string): Entry => ({
  ...{ id: openingId(cents), kind: 'opening', at: at - 1, date },
  payee: 'Opening balance',
  text: 'what the wallet held before',
  isByRule: false,
  postings: [
    { account: payerAccount('wallet', 'USD'), cents, currency: 'USD' },
    { account: openingAccount, cents: -cents, currency: 'USD' },
  ],
});
