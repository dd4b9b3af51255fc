import { jsonIn } from '../api/json.ts';
import { canonicalJson, sha256 } from '../format/canonical.ts';
import type { ReservedByIntent, ReservedOrder } from './audit-entry.ts';
import { isSignedBy, recordOfRow } from './audit-record.ts';
import { paidAccount, type Signer } from './journal-record.ts';
import type { Mac } from './mac.ts';
import type { Reservation } from './reservation-row.ts';
import type { OrderId } from './summed-limit.ts';

/** Kinds of audit entries that reserve money, or that say how much of the reserved money was not spent. */
export const reservingKinds = ['intent', 'refused', 'responded', 'counted'] as const;

/** Pure. */
export function reservedBy(reservations: readonly Reservation[]): ReservedByIntent | undefined {
  const [first] = reservations;
  if (!first) return undefined;
  const orders = reservations.map((one): ReservedOrder => {
    const { key, cents, at, approval } = one;
    const order = [orderHash(key), cents, at, termsHash(one)] as const;
    return approval === undefined ? order : [...order, approval];
  });
  return { rehearsal: first.isRehearsal, orders };
}

export const orderHash = (key: string): string => sha256(`order ${key}`).slice(0, 16);

/** Hash of the terms that must not change while money is reserved. */
const termsHash = ({ at, feeCents, isRehearsal, approval, facts }: Reservation): string =>
  sha256(canonicalJson([at, feeCents, isRehearsal, approval ?? null, { ...facts }])).slice(0, 16);

/** The least amount, according to the audit chain, by which an order counts towards limits. */
interface Floor {
  readonly service: string;
  readonly account: string;
  readonly intent: string;
  readonly rehearsal: boolean;
  readonly reserved: ReservedOrder;
  /** Number of the newest entry that reserves the order's money. */
  readonly number: number;
  readonly cents: number;
  /** Whether only an entry signed with the verifying key may lower the amount. */
  readonly isOwn: boolean;
}

type Row = Readonly<Record<string, unknown>>;

/**
 * Corrects reservations by the audit chain. Whoever can write to a shared journal can delete reservations or lower
 * their amounts. But the entries that this machine knows cannot be removed from the chain, and only the holder of a key
 * can sign that less was spent. Pure.
 * @param found are the reservations since a time.
 * @param rows are the chain's entries of `reservingKinds` since then, in chain order.
 * @param signers verify the entries of their own accounts. Entries of other accounts count without verification.
 * @param only holds the ids (`reservedId`) of the orders whose rows are complete; undefined for all orders.
 */
export function correctedReservations(
  found: readonly Reservation[],
  rows: readonly Row[],
  signers: readonly Signer[],
  since: number,
  only?: ReadonlySet<string>,
): Reservation[] {
  const floors = floorsOf(rows, signers);
  if (only) for (const id of floors.keys()) if (!only.has(id)) floors.delete(id);
  const corrected = found.map((one) => {
    const id = idOf(one.baseUrl, one.account, orderHash(one.key));
    const floor = floors.get(id);
    floors.delete(id);
    return floor ? correctedBy(floor, one) : one;
  });
  const missing = [...floors.values()].filter(({ cents, reserved: [, , at] }) => cents > 0 && at >= since);
  return [...corrected, ...missing.map((floor) => correctedBy(floor, undefined))];
}

function correctedBy(floor: Floor, found: Reservation | undefined): Reservation {
  const { service: baseUrl, account, intent, rehearsal: isRehearsal, cents } = floor;
  const [order, , at, terms, approval] = floor.reserved;
  const hasTerms = found && termsHash(found) === terms;
  if (hasTerms && found.counted >= cents) return found;
  const counted = Math.max(found?.counted ?? 0, cents);
  if (hasTerms) return { ...found, state: 'held', counted, isAltered: true };
  return {
    ...{
      key: found?.key ?? (orderHash(intent) === order ? intent : order),
      baseUrl,
      account,
      intents: found?.intents ?? [intent],
    },
    ...{ state: 'held', at, cents: counted, counted, feeCents: 0, isRehearsal, approval },
    ...{ orderId: found?.orderId, pid: 0, started: '', override: undefined, isAltered: true },
    facts: { retailers: [], metadata: [], products: [], recipient: '' },
  };
}

/** Id of a reservation, as in `only`. */
export const reservedId = ({ baseUrl, account, key }: OrderId): string =>
  idOf(baseUrl, account, orderHash(key));

/** Id of the intent that an entry is about. */
export const intentId = ({ service, key }: Row): string => JSON.stringify([service, key]);

/** The orders that an entry of `reservingKinds` names. Each has its id and the hash of its key. */
export function ordersIn(
  row: Row,
): { readonly id: string; readonly order: string; readonly account: string }[] {
  const { detail, account } = entryOf(row);
  const orders: unknown = row.kind === 'counted' ? detail.orders : Object(detail.reserved).orders;
  if (!Array.isArray(orders) || account === undefined) return [];
  return orders.flatMap((one: unknown) => {
    const [order]: readonly unknown[] = Array.isArray(one) ? one : [];
    return typeof order === 'string'
      ? [{ id: idOf(String(row.service), account, order), order, account }]
      : [];
  });
}

/** An entry of the chain. Its detail is parsed only once. */
interface Entry {
  readonly row: Row;
  readonly detail: Row;
  readonly account: string | undefined;
}

function entryOf(row: Row): Entry {
  const detail: Row = Object(jsonIn(row.detail));
  return { row, detail, account: typeof detail.account === 'string' ? detail.account : undefined };
}

/** The least amount by which each order counts, by the order's service, account and key hash. */
function floorsOf(rows: readonly Row[], signers: readonly Signer[]): Map<string, Floor> {
  const intents = new Map<string, Entry[]>();
  const counted: Entry[] = [];
  for (const row of rows) {
    const entry = entryOf(row);
    if (row.kind === 'counted') {
      counted.push(entry);
      continue;
    }
    const id = intentId(row);
    const known = intents.get(id);
    if (known) known.push(entry);
    else intents.set(id, [entry]);
  }
  const floors = new Map<string, Floor>();
  for (const entries of intents.values())
    for (const account of new Set(
      entries.flatMap((one) => (one.row.kind === 'intent' ? (one.account ?? []) : [])),
    ))
      for (const floor of floorsOfIntent(
        entries.filter((one) => (one.account ?? account) === account),
        account,
        signers,
      )) {
        const id = idOf(floor.service, account, floor.reserved[0]);
        const other = floors.get(id);
        const newest = other && other.number > floor.number ? other : floor;
        floors.set(id, { ...newest, cents: Math.max(floor.cents, other?.cents ?? 0) });
      }
  for (const entry of counted) lower(floors, entry, signers);
  return floors;
}

/**
 * @param entries all have the same key and the same account. If the key in use has signed an intent among them, entries
 * that this key has not signed are ignored.
 */
function floorsOfIntent(entries: readonly Entry[], account: string, signers: readonly Signer[]): Floor[] {
  const mac = macOf(signers, account);
  const isPlain = entries.every(({ row: { kind } }, at) => kind === (at === 0 ? 'intent' : 'responded'));
  // A forged entry can only make a limit count more, unless the entry lowers or replaces another one. Verify only in
  // that case.
  const isVerified = mac !== undefined && (!isPlain || account === paidAccount);
  const signed = isVerified ? entries.filter(({ row }) => isSignedBy(recordOfRow(row), mac)) : [];
  const hasSigned = signed.some(({ row }) => row.kind === 'intent');
  // Each machine that pays by challenge has its own key, so the entries may be those of another machine.
  const isOwn = mac !== undefined && (hasSigned || account !== paidAccount);
  let last: Floor[] = [];
  let isRefused = false;
  for (const entry of hasSigned ? signed : entries) {
    isRefused = entry.row.kind === 'refused';
    if (entry.row.kind === 'intent') last = reservedIn(entry, isOwn);
  }
  return isRefused ? [] : last;
}

function reservedIn({ row: { number, service, key }, detail }: Entry, isOwn: boolean): Floor[] {
  const { orders, rehearsal } = Object(detail.reserved);
  if (!Array.isArray(orders)) return [];
  return orders.filter(isReservedOrder).map((one) => ({
    ...{
      service: String(service),
      account: String(detail.account),
      intent: String(key),
      rehearsal: rehearsal === true,
    },
    ...{ reserved: one, number: Number(number), cents: one[1], isOwn },
  }));
}

/** Applies a `counted` entry, which says what orders cost according to the service. */
function lower(floors: Map<string, Floor>, { row, detail }: Entry, signers: readonly Signer[]): void {
  const { account, orders } = detail;
  if (!Array.isArray(orders)) return;
  const mac = macOf(signers, account);
  let isProven: boolean | undefined;
  for (const one of orders) {
    const [order, cents]: readonly unknown[] = Array.isArray(one) ? one : [];
    const id = idOf(String(row.service), String(account), String(order));
    const floor = floors.get(id);
    if (!floor || floor.number > Number(row.number) || !isAmount(cents)) continue;
    isProven ??= mac !== undefined && isSignedBy(recordOfRow(row), mac);
    if (isProven || !floor.isOwn) floors.set(id, { ...floor, cents });
  }
}

const macOf = (signers: readonly Signer[], account: unknown): Mac | undefined =>
  signers.find((one) => one.account === account)?.mac;

const isReservedOrder = (value: unknown): value is ReservedOrder =>
  Array.isArray(value) &&
  typeof value[0] === 'string' &&
  isAmount(value[1]) &&
  typeof value[2] === 'number' &&
  typeof value[3] === 'string';

const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const idOf = (service: string, account: string, order: string): string =>
  JSON.stringify([service, account, order]);
