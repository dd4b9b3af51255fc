import { placeRows } from '../bulk/place-rows.ts';
import { givenListingsName, type SandboxConfig } from '../config.ts';
import { runDueTransitions } from '../control/due-transitions.ts';
import type { OrderBody } from '../orders/lifecycle/types.ts';
import { findOrder } from '../orders/records.ts';
import { storedReturn } from '../returns/records.ts';
import type { Exported, Service } from '../server/service.ts';
import { lastMs } from '../store/clock.ts';
import { interventionsIn } from '../store/interventions.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { stateOf } from './course.ts';

/** Placeholders for secrets, which are never exported. */
const unsaid = { password: 'not exported', totp_secret: 'A'.repeat(64) };

/** Time budget, in ms of real time, for placing batch rows. Placing never takes this long. */
const placingBudgetMs = 10 * 60_000;

const iso = (at: unknown): string => new Date(Number(at)).toISOString();

/**
 * Exports the sandbox's state as a scenario that reproduces it. When run on the same version, the scenario yields the
 * same ids, times and records. Keys are exported by name, without their values. @param faults active faults, in
 * `--fault` syntax.
 */
export async function exportScenario(service: Service, faults: readonly string[]): Promise<Exported> {
  const { store, clock, config, idGenerator } = service;
  const now = clock.now();
  await placeRows(service, now, placingBudgetMs);
  await runDueTransitions(service, now);
  // Flushes pending group writes.
  await store.grouped(() => undefined);
  const keys = keysIn(store);
  const nameOf = new Map(keys.map(({ userId, name }) => [userId, name]));
  const accounts = new Set(store.all('SELECT id FROM accounts').map(({ id }) => String(id)));
  const orders = store
    .all('SELECT id, user_id, idempotency_key, created_at, speed, body, account_id FROM orders ORDER BY seq')
    .filter((row) => isWhole(row, nameOf, accounts));
  const known = new Set(orders.map(({ id }) => String(id)));
  const returns = store
    .all('SELECT * FROM returns ORDER BY seq')
    .filter(({ order_id: id }) => known.has(String(id)));
  const given = store.meta(givenListingsName);
  const written = addressed(config);
  const sections = {
    keys: keys.map(({ row, name }) => exportedKey(store, row, name)),
    listings: given === undefined ? [] : JSON.parse(given),
    accounts: store.all('SELECT * FROM accounts ORDER BY seq').map((row) => exportedAccount(row, nameOf)),
    orders: orders.map((row) => written(exportedOrder(store, row, nameOf, config.speed))),
    returns: returns.map((row) => exportedReturn(store, row, config.speed)),
  };
  const scenario = {
    version: 1,
    seed: /^\d{1,10}$/.test(idGenerator.seed) ? Number(idGenerator.seed) : idGenerator.seed,
    clock: {
      now: iso(now),
      ...(clock.isStopped && { frozen: true }),
      ...(config.speed !== 1 && { speed: config.speed }),
    },
    ...(faults.length > 0 && { faults }),
    ...Object.fromEntries(Object.entries(sections).filter(([, rows]) => rows.length > 0)),
    ids: idGenerator.counts,
  };
  return { scenario, leftOut: leftOut(store, { orders: orders.length, returns: returns.length }) };
}

interface NamedKey {
  readonly row: StoredRow;
  readonly userId: string;
  readonly name: string;
}

/** Keys by user number, each with a unique name. */
function keysIn(store: Store): NamedKey[] {
  const taken = new Set<string>();
  return store
    .all(
      `SELECT k.*, u.email, u.number FROM api_keys k JOIN users u ON u.id = k.user_id
       WHERE k.order_id IS NULL ORDER BY u.number, k.created_at`,
    )
    .map((row) => {
      const given = row.name === null ? '' : String(row.name);
      const isFit = /^[A-Za-z][\w.-]{0,63}$/.test(given) && !taken.has(given);
      const name = isFit ? given : `key-${Number(row.number)}`;
      taken.add(name);
      return { row, userId: String(row.user_id), name };
    });
}

function exportedKey(store: Store, row: StoredRow, name: string): object {
  const userId = String(row.user_id);
  const moved = (...kinds: string[]) =>
    store
      .all('SELECT at, cents, kind FROM ledger WHERE user_id = ? ORDER BY seq', userId)
      .filter(({ kind }) => kinds.includes(String(kind)));
  const webhook = store.get('SELECT url FROM hook_addresses WHERE user_id = ?', userId)?.url;
  const funded = moved('funding', 'withdrawal');
  return {
    name,
    id: userId,
    ...(row.email !== null && { email: row.email }),
    balance: Number(moved('opening')[0]?.cents ?? 0),
    created: iso(row.created_at),
    ...(Number(row.used_at) === lastMs ? { lasting: true } : { used: iso(row.used_at) }),
    ...(funded.length > 0 && {
      funded: funded.map(({ at, cents }) => ({ at: iso(at), amount: Number(cents) })),
    }),
    ...(row.claimed_at !== null && { claimed: { by: row.claimed_by, at: iso(row.claimed_at) } }),
    ...(webhook !== undefined && { webhook: plainAddress(String(webhook)) }),
  };
}

function exportedAccount(row: StoredRow, nameOf: ReadonlyMap<string, string>): object {
  return {
    key: nameOf.get(String(row.user_id)),
    id: row.id,
    short_id: row.short_id,
    forwarding_email: row.forwarding_email,
    email: row.email,
    ...(row.retailer !== null && { retailer: row.retailer }),
    ...(row.password !== null && { password: unsaid.password }),
    ...(row.totp_secret !== null && { totp_secret: unsaid.totp_secret }),
    ...(row.retailer_config !== null && { retailer_config: JSON.parse(String(row.retailer_config)) }),
    created: iso(row.created_at),
    ...(row.updated_at !== row.created_at && { updated: iso(row.updated_at) }),
    ...(row.forwarded_at !== null && { forwarded: iso(row.forwarded_at) }),
  };
}

/** Whether an order can be placed again. An order can be placed again only if its key and its account still exist. */
const isWhole = (
  row: StoredRow,
  nameOf: ReadonlyMap<string, string>,
  accounts: ReadonlySet<string>,
): boolean =>
  nameOf.has(String(row.user_id)) &&
  (JSON.parse(String(row.body)).retailer_credentials_id == null || accounts.has(String(row.account_id)));

function exportedOrder(
  store: Store,
  row: StoredRow,
  nameOf: ReadonlyMap<string, string>,
  defaultSpeed: number,
): object {
  const id = String(row.id);
  const order = findOrder(store, id, null);
  return {
    key: nameOf.get(String(row.user_id)),
    id,
    created: iso(row.created_at),
    ...(Number(row.speed) !== defaultSpeed && { speed: Number(row.speed) }),
    order: keyed(JSON.parse(String(row.body)), String(row.idempotency_key)),
    ...(order && { state: stateOf(order.record) }),
    events: interventionsIn(store, id).map(({ at, event, errorType }) => ({
      at: iso(at),
      event,
      ...(errorType !== null && { error_type: errorType }),
    })),
  };
}

/** A webhook URL without the parts known only to its receiver: user, password and query. */
function plainAddress(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  url.search = '';
  return url.href;
}

const plainWebhooks = (webhooks: NonNullable<OrderBody['webhooks']>): OrderBody['webhooks'] =>
  Object.fromEntries(
    Object.entries(webhooks).map(([event, given]) => [
      event,
      Array.isArray(given) ? given.map(plainAddress) : given && plainAddress(given),
    ]),
  );

/** The body of an order with its assigned idempotency key. The fields are in the order in which they are validated. */
function keyed(
  { products, shipping_address, max_price, idempotency_key: _, ...rest }: OrderBody,
  key: string,
): OrderBody {
  const { webhooks } = rest;
  return {
    products,
    shipping_address,
    max_price,
    idempotency_key: key,
    ...rest,
    ...(webhooks && { webhooks: plainWebhooks(webhooks) }),
  };
}

function exportedReturn(store: Store, row: StoredRow, defaultSpeed: number): object {
  const { record } = storedReturn(row);
  const items = findOrder(store, record.order_id, null)?.record.items.map(({ id }) => id) ?? [];
  return {
    id: record.id,
    order: record.order_id,
    created: iso(row.created_at),
    ...(Number(row.speed) !== defaultSpeed && { speed: Number(row.speed) }),
    items: record.items.map(({ order_item_id, quantity }) => ({
      item: items.indexOf(order_item_id),
      quantity,
    })),
    reason: record.reason,
    ...(record.notes != null && { notes: record.notes }),
    state: record.status,
    events: interventionsIn(store, record.id).map(({ at, event }) => ({ at: iso(at), event })),
  };
}

/**
 * In all strings, replaces the addresses of this sandbox with placeholders. Another sandbox can then fill in its own
 * addresses.
 */
function addressed({
  shopUrl,
  baseUrl,
}: Pick<SandboxConfig, 'shopUrl' | 'baseUrl'>): (value: unknown) => unknown {
  const written = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replaceAll(shopUrl, '{shop_url}').replaceAll(baseUrl, '{base_url}');
    if (Array.isArray(value)) return value.map(written);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, written(one)]));
  };
  return written;
}

function leftOut(store: Store, there: { readonly orders: number; readonly returns: number }): string[] {
  const count = (table: string): number =>
    Number(store.get(`SELECT count(*) AS count FROM ${table}`)?.count ?? 0);
  const counted = (number: number, one: string, more: string): string[] =>
    number === 0 ? [] : [`${number} ${number === 1 ? one : more}`];
  return [
    ...counted(count('batches'), 'batch; its orders are there', 'batches; their orders are there'),
    ...counted(
      count('orders') - there.orders,
      'order that was paid by challenge, or on an account that is gone',
      'orders that were paid by challenge, or on accounts that are gone',
    ),
    ...counted(count('returns') - there.returns, 'return of those', 'returns of those'),
  ];
}
