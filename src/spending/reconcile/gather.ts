import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import type { Client, QueryOf } from '../../http/client.ts';
import { pages, rowsOfPage } from '../../http/paging.ts';
import { unlessMissing } from '../../http/response.ts';
import { recordOfRow } from '../../journal/audit-record.ts';
import type { Journal } from '../../journal/journal.ts';
import { type JournalRecord, paidAccount } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { Reservation } from '../../journal/reservation-row.ts';
import { isOthers } from '../../journal/take-over.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { duplicateWindowMs } from '../../run/duplicate-window.ts';
import { moneyOf } from '../money-of-order.ts';
import { settleUnsettled } from '../policy/settle.ts';
import { centsIn, moneyInResult } from '../price-of-order.ts';
import { ChainFacts, type FoundOrder, type RecordedIntent } from './chain-facts.ts';
import { type WalletRead, walletNoteOf } from './wallet-moves.ts';

/** Everything that a reconciliation compares. */
export interface Facts {
  readonly service: string;
  /** ISO 8601. */
  readonly since: string;
  readonly now: number;
  readonly chain: ChainFacts;
  /** Records of the journal that are still open, and on which no live process is working. */
  readonly open: readonly JournalRecord[];
  /**
   * Intents that are open in the chain but missing from the journal. Either the journal was repaired, or someone
   * removed them.
   */
  readonly lost: readonly RecordedIntent[];
  /** Flags that make a suggested command use the same service. */
  readonly where: string;
  /** Number of records that other processes are sending at this moment. */
  readonly atWork: number;
  /** Number of open records that belong to other services or accounts. */
  readonly elsewhere: number;
  /** Orders of this machine, keyed by order id. Each has the intent that created the order. */
  readonly own: ReadonlyMap<string, RecordedIntent>;
  /** All orders that the service created since `since`, whether this machine placed them or not. */
  readonly orders: ReadonlyMap<string, FoundOrder>;
  /** Orders of this machine that the service does not return. */
  readonly missing: readonly string[];
  /**
   * Orders at the service that are very likely the result of an intent in doubt. Maps each order to the key of that
   * intent.
   */
  readonly doubted: ReadonlyMap<string, string>;
  /** Time during which a repeated command is refused, in ms. */
  readonly duplicateWindowMs: number;
  /** Number of orders that were not read, because there were too many to read one by one. */
  readonly unread: number;
  readonly reservations: readonly Reservation[];
  readonly wallet: WalletPart;
  /** The wallet, to be compared with the last recorded balance. */
  readonly balance: WalletRead;
  /** All intents in the chain, keyed by the id of the order that they created. */
  readonly made: ReadonlyMap<string, RecordedIntent>;
  /** Fingerprint of the API key. */
  readonly account: string;
}

/** Maximum number of orders that are read one by one because the order list does not show them. */
const maxSingleReads = 500;
const atOnce = 8;
/** Allowed difference, in ms, between the clocks of this machine and the service. */
const slackMs = 3600 * 1000;

/** Maximum age, in ms, of the orders that are read to explain a change of the balance. */
const walletMs = 60 * 24 * 3600 * 1000;
/** How long, in ms, a batch may still create orders after it was sent. */
const batchLifetimeMs = 24 * 3600 * 1000;

/** Whether an order matches a request body. */
export type Describes = (body: JournalRecord['body'], order: FoundOrder) => boolean;

/**
 * Reads all facts.
 * @param sinceMs is the earliest time of the intents and orders to read.
 * @throws ErrandError.
 */
export async function gather(context: Context, sinceMs: number, describes: Describes): Promise<Facts> {
  const service = context.settings.baseUrl.value;
  const client = await context.client();
  const { account } = await context.sender();
  const journal = journalExists(context.settings) ? await context.journal() : undefined;
  // Read this machine's intents after the list of orders. Otherwise an order placed in the meantime would look like an
  // order of someone else.
  const now = context.clock.now();
  const earlier = walletNoteOf(lastWallet(journal, service, account));
  const from = Math.min(sinceMs, now - walletMs);
  const balance = await readBalance(client, Math.min(from, earlier?.from ?? from) - slackMs);
  const found = balance.orders;
  const chain = new ChainFacts(service);
  const recorded = journal?.recorded();
  if (journal) for (const row of journal.audit.rows()) chain.take(recordOfRow(row));
  chain.check.end(recorded);
  const allIntents = [...chain.intents.values()];
  const intents = allIntents.filter(({ at }) => Date.parse(at) >= sinceMs);
  const records = journal?.list() ?? [];
  const here = records.filter((record) => isHere(record, service, account));
  const since = new Date(sinceMs).toISOString();
  const own = await ownOrders(client, intents);
  const orders = within(found, sinceMs, own, await ownOrders(client, before(allIntents, sinceMs)));
  const expected = [...own].filter(
    ([, intent]) => intent.account === account || intent.account === paidAccount,
  );
  const absent = expected.map(([id]) => id).filter((id) => !orders.has(id));
  const missing = await readSingle(client, absent.slice(0, maxSingleReads), orders);
  if (journal) await settleUnsettled(context, sinceMs);
  return {
    ...{ service, since, now, chain, own, orders, missing },
    doubted: doubtedIn(here, orders, own, describes),
    duplicateWindowMs: duplicateWindowMs(context),
    open: here.filter((record) => !isAtWork(record)),
    lost: intents.filter(({ state, key }) => state === 'open' && !journal?.find(key, service)),
    where: whereFlags(context),
    atWork: here.filter(isAtWork).length,
    elsewhere: records.length - here.length,
    unread: Math.max(0, absent.length - maxSingleReads),
    reservations: journal ? ofService(journal, sinceMs, service, account) : [],
    wallet: await readWallet(client),
    balance: { ...balance, before: earlier, from },
    made: new Map(allIntents.flatMap((one) => (one.madeId === undefined ? [] : [[one.madeId, one]]))),
    account,
  };
}

function lastWallet(
  journal: Journal | undefined,
  service: string,
  account: string,
): Readonly<Record<string, unknown>> | undefined {
  const row = journal?.audit.lastWallet(service, account);
  return row && recordOfRow(row);
}

/**
 * Intents from before the compared period. By the service's time, the orders of these intents may still fall within the
 * period.
 */
const before = (intents: readonly RecordedIntent[], sinceMs: number): RecordedIntent[] =>
  intents.filter(({ at, operation }) => {
    const ageMs = sinceMs - Date.parse(at);
    return ageMs > 0 && (operation !== 'bulk.create' || ageMs <= batchLifetimeMs);
  });

/**
 * The orders in the compared period. For an order of this machine, the time of its intent counts. For any other order,
 * the time of the order itself counts.
 */
function within(
  found: ReadonlyMap<string, FoundOrder>,
  sinceMs: number,
  own: ReadonlyMap<string, unknown>,
  earlier: ReadonlyMap<string, unknown>,
): Map<string, FoundOrder> {
  const isLate = (order: FoundOrder): boolean => !(Date.parse(textIn(order, 'created_at') ?? '') < sinceMs);
  return new Map([...found].filter(([id, order]) => own.has(id) || (!earlier.has(id) && isLate(order))));
}

/**
 * Looks at orders that this machine did not record. Finds those that an intent in doubt has created, by comparing their
 * content.
 */
function doubtedIn(
  records: readonly JournalRecord[],
  orders: ReadonlyMap<string, FoundOrder>,
  own: ReadonlyMap<string, unknown>,
  describes: Describes,
): Map<string, string> {
  const doubted = new Map<string, string>();
  const others = [...orders.values()].filter(({ id }) => !own.has(id)).toReversed();
  for (const { key, state, operation, created_at: at, body } of records) {
    if (state !== 'intended' || (operation !== 'order.create' && operation !== 'agent.order.create'))
      continue;
    const made = others.find(
      (order) =>
        !doubted.has(order.id) &&
        !(Date.parse(textIn(order, 'created_at') ?? '') < Date.parse(at) - slackMs) &&
        describes(body, order),
    );
    if (made) doubted.set(made.id, key);
  }
  return doubted;
}

/**
 * Whether another process is working on a record. A damaged record never counts, because the damage may also affect the
 * name of that process.
 */
const isAtWork = (record: JournalRecord): boolean => record.state !== 'damaged' && isOthers(record);

const isHere = ({ base_url: url, account: of }: JournalRecord, service: string, account: string): boolean =>
  url === service && (of === account || of === paidAccount);

const ofService = (journal: Journal, sinceMs: number, service: string, account: string): Reservation[] =>
  journal.reservations
    .since(sinceMs)
    .filter(({ baseUrl, account: of }) => baseUrl === service && (of === account || of === paidAccount));

/** The orders that resulted from intents. For a batch, the service is asked for the orders of the rows. */
async function ownOrders(
  client: Client,
  intents: readonly RecordedIntent[],
): Promise<Map<string, RecordedIntent>> {
  const own = new Map<string, RecordedIntent>();
  const batches: (readonly [string, RecordedIntent])[] = [];
  for (const intent of intents) {
    const { madeId, operation } = intent;
    if (madeId === undefined || operation === 'return.create') continue;
    if (operation === 'bulk.create') batches.push([madeId, intent]);
    else own.set(madeId, intent);
  }
  await each(batches, async ([id, intent]) => {
    const batch = await unlessMissing(client.call('bulk.get', { path: { batch_id: id } }));
    for (const row of objectsIn(batch?.body, 'rows')) {
      const order = textIn(row, 'order_id');
      if (order !== undefined) own.set(order, intent);
    }
  });
  return own;
}

/**
 * Reads orders one by one and adds them to `orders`.
 * @returns the ids of the orders that the service does not show.
 */
async function readSingle(
  client: Client,
  ids: readonly string[],
  orders: Map<string, FoundOrder>,
): Promise<string[]> {
  const missing: string[] = [];
  await each(ids, async (id) => {
    const found = await unlessMissing(client.call('order.get', { path: { order_id: id } }));
    if (found) orders.set(id, { ...found.body });
    else missing.push(id);
  });
  return missing;
}

/** The fee, in cents, of an order that an intent has created. */
export const feeOf = (intent: RecordedIntent | undefined, { feeCents }: WalletPart): number | undefined =>
  intent?.operation === 'agent.order.create' ? limits.agentOrderFeeCents : feeCents;

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

interface WalletPart {
  readonly balance: number | undefined;
  readonly spendable: number | undefined;
  readonly feeCents: number | undefined;
  /** The part of the balance that cannot be spent. */
  readonly setAside: number | undefined;
  /** The amount that all open orders of the account hold, as inferred from the service's rules. */
  readonly heldByRule: number;
}

/** If the balance changes while the orders are read, they are read again, but at most this many times in all. */
const maxReads = 3;

/**
 * Reads the orders since a given time, and the balance that belongs to them. A balance belongs to the orders if it is
 * the same before and after they are read.
 */
async function readBalance(client: Client, sinceMs: number): Promise<Omit<WalletRead, 'before' | 'from'>> {
  const query = { created_after: new Date(sinceMs).toISOString() };
  let before = await walletOf(client);
  for (let left = maxReads; ; left -= 1) {
    const orders = await listOrders(client, query);
    const after = await walletOf(client);
    const isSteady = after.balance === before.balance;
    if (isSteady || left === 1) return { ...after, isSteady, orders };
    before = after;
  }
}

async function walletOf(client: Client): Promise<Pick<WalletRead, 'balance' | 'spendable' | 'fee'>> {
  const { body } = await client.call('wallet.get', {});
  const cents = (name: string): number | undefined => {
    const found = numberIn(body, name);
    return Number.isSafeInteger(found) ? found : undefined;
  };
  return {
    balance: cents('balance'),
    spendable: cents('spendable_balance'),
    fee: centsIn(body, 'order_fee_cents'),
  };
}

/**
 * Reads the wallet, and the orders that hold part of its balance. If the two do not match, reads both again, because an
 * order may have changed in between.
 */
async function readWallet(client: Client): Promise<WalletPart> {
  let part = await walletNow(client);
  if (part.balance !== undefined && part.setAside !== part.heldByRule) part = await walletNow(client);
  return part;
}

async function walletNow(client: Client): Promise<WalletPart> {
  const waiting = await listOrders(client, { status_filter: 'pending' });
  const working = await listOrders(client, { status_filter: 'in_progress' });
  const { balance, spendable, fee: feeCents } = await walletOf(client);
  const heldByRule = [...waiting, ...working]
    .flatMap(([, order]) => moneyOf(order, { feeCents }).sums)
    .reduce((sum, { payer, held }) => sum + (payer === 'wallet' ? held : 0), 0);
  const setAside = balance === undefined || spendable === undefined ? undefined : balance - spendable;
  return { balance, spendable, feeCents, setAside, heldByRule };
}

/** Drops what no comparison reads, which is half of an order. */
async function listOrders(client: Client, query: QueryOf<'order.list'>): Promise<Map<string, FoundOrder>> {
  const orders = new Map<string, FoundOrder>();
  for await (const page of pages(client, 'order.list', { query }, { all: true, asSent: true }))
    for (const { tracking_numbers: _, merchant_order_ids: _numbers, job_result, ...order } of rowsOfPage(
      page,
    )) {
      const id = textIn(order, 'id');
      if (id !== undefined) orders.set(id, { ...order, id, job_result: moneyInResult(job_result) });
    }
  return orders;
}
