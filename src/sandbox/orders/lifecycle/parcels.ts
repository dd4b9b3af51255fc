import type { Draw } from './draw.ts';
import { destination, localDate, nearestHub, origin } from './places.ts';
import type { Purchase } from './price.ts';
import type { Schedule, Stage } from './schedule.ts';
import type {
  ItemChange,
  ItemStatus,
  LifecycleConfig,
  OrderRecord,
  Scan,
  TrackingStatus,
  Transition,
} from './types.ts';

export type Ending = Extract<TrackingStatus, 'delivered' | 'available_for_pickup' | 'undeliverable'>;

/** How a parcel's journey can end: what the carrier says, and what becomes of the items in it. */
export const endings: Readonly<Record<Ending, { message: string; item: ItemStatus }>> = {
  delivered: { message: 'Delivered: left at the front door', item: 'delivered' },
  available_for_pickup: { message: 'Ready for pickup at the parcel shop', item: 'available_for_pickup' },
  undeliverable: { message: 'Could not be delivered: on its way back to the sender', item: 'shipped' },
};

interface Parcel {
  readonly key: string;
  readonly itemIds: readonly string[];
  readonly ending: Ending;
  /** Items count as shipped with their first parcel and as arrived with their last. */
  readonly first: boolean;
  readonly last: boolean;
}

const carriers = ['Northline Parcel', 'Swiftpost', 'Bluevan Express'] as const;
/** Days from placing to the carrier's estimate: at least 2, at most 5. */
const transitDays = { min: 2, spread: 4 };

/** The estimate of carrier and retailer, a calendar date at the destination. */
export function estimatedDelivery(record: OrderRecord, placedAt: number, draw: Draw): string {
  const days = transitDays.min + Math.floor(draw.fraction('transit days') * transitDays.spread);
  return localDate(record.shipping_address, placedAt, days);
}

/** The journeys of all parcels of an order: one parcel for each of the first retailers and kind of ending, sometimes two. */
export function journeys(
  record: OrderRecord,
  purchases: readonly Purchase[],
  tools: { draw: Draw; schedule: Schedule; config: LifecycleConfig },
): Transition[] {
  const parcels = parcelsOf(purchases);
  return parcels.flatMap((parcel, index) => {
    const share = parcels.length === 1 ? 0 : index / (parcels.length - 1);
    return journey(record, parcel, { ...tools, share, complete: index === parcels.length - 1 });
  });
}

/** Each scan of a parcel is a change of the whole record, so what more retailers send travels together. */
const mostSenders = 10;

function parcelsOf(purchases: readonly Purchase[]): Parcel[] {
  const groups = new Map<string, Purchase[]>();
  const retailers = new Set<string>();
  for (const purchase of purchases) {
    const { facts, test } = purchase.line;
    if (retailers.size < mostSenders) retailers.add(facts.retailer);
    const sender = retailers.has(facts.retailer) ? facts.retailer : 'several retailers';
    const key = `${sender} ${test?.ending ?? 'delivered'} ${test?.parcels ?? 1}`;
    const group = groups.get(key);
    if (group) group.push(purchase);
    else groups.set(key, [purchase]);
  }
  return [...groups].flatMap(([key, group]) => {
    const test = group[0]?.line.test;
    const count = test?.parcels ?? 1;
    return Array.from({ length: count }, (_, number) => ({
      key: `${key} ${number}`,
      itemIds: group.map(({ line }) => line.item.id),
      ending: test?.ending ?? 'delivered',
      first: number === 0,
      last: number === count - 1,
    }));
  });
}

interface JourneyTools {
  readonly draw: Draw;
  readonly schedule: Schedule;
  readonly config: LifecycleConfig;
  readonly share: number;
  readonly complete: boolean;
}

function journey(record: OrderRecord, parcel: Parcel, tools: JourneyTools): Transition[] {
  const { draw, schedule, config, share, complete } = tools;
  const address = record.shipping_address;
  const from = origin(address, draw, parcel.key);
  const tracking_id = draw.uuid(`parcel ${parcel.key}`);
  const estimated_delivery_date = estimatedDelivery(record, schedule('settled'), draw);
  const scan = (
    stage: Stage,
    checkpoint: Scan['checkpoint'],
    items: readonly ItemChange[] = [],
  ): Transition => ({
    at: schedule(stage, share),
    kind: 'scanned',
    tracking_id,
    checkpoint,
    estimated_delivery_date,
    items,
  });
  const changed = (status: ItemStatus, when: boolean) =>
    when ? parcel.itemIds.map((id) => ({ id, status })) : [];
  const { message, item } = endings[parcel.ending];
  const moving = 'in_transit' as const;
  return [
    {
      at: schedule('tracked', share),
      kind: 'tracked',
      tracking: trackingNumber(record, tracking_id, parcel.key, draw, config),
      checkpoint: { ...from, status: 'pending', message: 'Label made; waiting for the parcel' },
      complete,
    },
    scan(
      'accepted',
      { ...from, status: moving, message: 'Accepted by the carrier' },
      changed('shipped', parcel.first),
    ),
    scan('hub', { ...nearestHub(address), status: moving, message: 'Arrived at the sorting centre' }),
    scan('outForDelivery', { ...destination(address), status: moving, message: 'Out for delivery' }),
    scan('ended', { ...destination(address), status: parcel.ending, message }, changed(item, parcel.last)),
  ];
}

function trackingNumber(
  record: OrderRecord,
  id: string,
  parcel: string,
  draw: Draw,
  config: LifecycleConfig,
): Extract<Transition, { kind: 'tracked' }>['tracking'] {
  const country = record.shipping_address.country;
  return {
    id,
    carrier: draw.pick(`carrier ${parcel}`, carriers),
    tracking_number: `SX${draw.digits(`tracking ${parcel}`, 9)}${country}`,
    svc_tracking_number: `${config.prefix.toUpperCase()}${draw.digits(`service tracking ${parcel}`, 12)}`,
    svc_tracking_url: `${config.trackingUrlBase}/${record.id}`,
    status: 'pending',
    estimated_delivery_date: null,
    delivery_proof_url: null,
  };
}
