import { returnReasons } from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { OrderPlan, OrderRecord, Transition } from '../orders/lifecycle/index.ts';
import { boughtQuantity } from './credit.ts';
import type { ReturnBody, ReturnRecord } from './types.ts';

type Summary = Shape<'ReturnSummary'>;

/** A return as its order's record shows it. */
export function summaryOf(record: ReturnRecord): Summary {
  const { id, status, credited_amount, created_at, updated_at } = record;
  // A return is made with a current reason; names of the earlier version are read only.
  const reason = returnReasons.find((known) => known === record.reason) ?? 'other';
  return { id, status, reason, credited_amount, created_at, updated_at };
}

/** The order's record with one of its returns as it has become. */
export function withReturn(order: OrderRecord, record: ReturnRecord): OrderRecord {
  const summary = summaryOf(record);
  const isKnown = order.returns.some(({ id }) => id === record.id);
  const returns = isKnown
    ? order.returns.map((other) => (other.id === record.id ? summary : other))
    : [...order.returns, summary];
  const { updated_at: time } = record;
  const updated_at = [time, order.updated_at].toSorted().at(-1) ?? time;
  const stops = record.reason === 'forced_cancellation' && isGranted(record);
  const stopped = stops ? wholeItems(order, record.items) : [];
  const items = order.items.map((item) =>
    stopped.includes(item.id)
      ? { ...item, status: 'cancelled' as const, cancellation_reason: cancelledByReturn, updated_at: time }
      : item,
  );
  return { ...order, items, returns, updated_at };
}

const cancelledByReturn = 'Cancelled at the request of the caller.';
/** Credited, or resolved without a credit and without anything to send back. */
const isGranted = ({ status, merchant_return_id: sentBackAs }: ReturnRecord): boolean =>
  status === 'credited' || (status === 'approved' && sentBackAs === null);

/** The ids of the items of which every unit is in the return. */
function wholeItems(order: OrderRecord, lines: ReturnBody['items']): string[] {
  return order.items
    .filter((item) =>
      lines.some((line) => line.order_item_id === item.id && line.quantity === boughtQuantity(order, item)),
    )
    .map(({ id }) => id);
}

/** The order's plan without the journeys of items that a forced cancellation stops. */
export function withoutStopped(order: OrderRecord, plan: OrderPlan, lines: ReturnBody['items']): OrderPlan {
  const stopped = wholeItems(order, lines);
  const emptied = new Set(parcelsOf(plan).flatMap(([id, items]) => (isIn(items, stopped) ? [id] : [])));
  const left = plan
    .filter((change) => !emptied.has(parcelOf(change) ?? ''))
    .map((change) =>
      change.kind === 'scanned'
        ? { ...change, items: change.items.filter(({ id }) => !stopped.includes(id)) }
        : change,
    );
  const lastTracked = left.findLastIndex(({ kind }) => kind === 'tracked');
  return left.map((change, index) =>
    change.kind === 'tracked' ? { ...change, complete: index === lastTracked } : change,
  );
}

/** The items of each parcel that is still to arrive. */
function parcelsOf(plan: OrderPlan): [string, string[]][] {
  const parcels = new Map<string, string[]>();
  for (const change of plan) {
    if (change.kind !== 'scanned') continue;
    const items = change.items.map(({ id }) => id);
    const parcel = parcels.get(change.tracking_id);
    if (parcel) parcel.push(...items);
    else parcels.set(change.tracking_id, items);
  }
  return [...parcels];
}

const isIn = (items: readonly string[], stopped: readonly string[]): boolean =>
  stopped.length > 0 && items.every((id) => stopped.includes(id));

function parcelOf(change: Transition): string | undefined {
  if (change.kind === 'tracked') return change.tracking.id;
  return change.kind === 'scanned' ? change.tracking_id : undefined;
}
