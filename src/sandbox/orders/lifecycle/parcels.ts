import type { Purchase } from './payment.ts';
import type { Draw, Schedule, Stage } from './schedule.ts';
import type {
  ItemChange,
  ItemStatus,
  LifecycleConfig,
  OrderPlan,
  OrderRecord,
  Scan,
  TrackingStatus,
  Transition,
  UntimedCheckpoint,
} from './types.ts';

export type Ending = Extract<TrackingStatus, 'delivered' | 'available_for_pickup' | 'undeliverable'>;

/** How a parcel's journey can end. Each ending has the carrier's message and the resulting item status. */
export const endings: Readonly<Record<Ending, { message: string; item: ItemStatus }>> = {
  delivered: { message: 'Delivered: left at the front door', item: 'delivered' },
  available_for_pickup: { message: 'Ready for pickup at the parcel shop', item: 'available_for_pickup' },
  undeliverable: { message: 'Could not be delivered: on its way back to the sender', item: 'shipped' },
};

interface Parcel {
  readonly key: string;
  readonly itemIds: readonly string[];
  readonly ending: Ending;
  /** Items count as shipped once their first parcel ships, and as delivered once their last parcel is delivered. */
  readonly first: boolean;
  readonly last: boolean;
}

const carriers = ['Northline Parcel', 'Swiftpost', 'Bluevan Express'] as const;
/** Number of days from the placing of an order to its estimated delivery: 2 to 5. */
const transitDays = { min: 2, spread: 4 };

/** The delivery date that carrier and retailer estimate, as a calendar date at the destination. */
export function estimatedDelivery(record: OrderRecord, placedAt: number, draw: Draw): string {
  const days = transitDays.min + Math.floor(draw.fraction('transit days') * transitDays.spread);
  return localDate(record.shipping_address, placedAt, days);
}

/**
 * The journeys of an order's parcels. There is one parcel, or sometimes two, for each combination of retailer and
 * ending. Retailers beyond `maxSenders` share parcels.
 */
export function journeys(
  record: OrderRecord,
  purchases: readonly Purchase[],
  tools: { draw: Draw; schedule: Schedule; config: LifecycleConfig },
): Transition[] {
  const parcels = parcelsOf(purchases);
  return parcels.flatMap((parcel, index) => {
    const lag = parcels.length === 1 ? 0 : index / (parcels.length - 1);
    return journey(record, parcel, { ...tools, lag, complete: index === parcels.length - 1 });
  });
}

/**
 * Maximum number of separate senders. Goods of all further retailers ship together. The maximum limits the processing
 * time, because every parcel adds scans, and every scan changes the whole record.
 */
const maxSenders = 10;

function parcelsOf(purchases: readonly Purchase[]): Parcel[] {
  const groups = new Map<string, Purchase[]>();
  const retailers = new Set<string>();
  for (const purchase of purchases) {
    const { facts, test } = purchase.line;
    if (retailers.size < maxSenders) retailers.add(facts.retailer);
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
  readonly lag: number;
  readonly complete: boolean;
}

function journey(record: OrderRecord, parcel: Parcel, tools: JourneyTools): Transition[] {
  const { draw, schedule, config, lag, complete } = tools;
  const address = record.shipping_address;
  const from = origin(address, draw, parcel.key);
  const tracking_id = draw.uuid(`parcel ${parcel.key}`);
  const estimated_delivery_date = estimatedDelivery(record, schedule('settled'), draw);
  const scan = (
    stage: Stage,
    checkpoint: Scan['checkpoint'],
    items: readonly ItemChange[] = [],
  ): Transition => ({
    at: schedule(stage, lag),
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
      at: schedule('tracked', lag),
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

type Address = OrderRecord['shipping_address'];
type Location = Pick<UntimedCheckpoint, 'city' | 'state' | 'zip' | 'country' | 'location'>;
/** City, state, postal code. */
type Hub = readonly [string, string, string];
type Hubs = readonly [Hub, ...Hub[]];

/** Sorting centres by country, indexed by the first digit of the postal codes they serve. */
const hubsOf: Readonly<Record<string, Hubs>> = {
  US: [
    ['Boston', 'MA', '02108'],
    ['Philadelphia', 'PA', '19104'],
    ['Charlotte', 'NC', '28202'],
    ['Atlanta', 'GA', '30303'],
    ['Columbus', 'OH', '43215'],
    ['Minneapolis', 'MN', '55401'],
    ['Chicago', 'IL', '60601'],
    ['Dallas', 'TX', '75201'],
    ['Denver', 'CO', '80202'],
    ['Los Angeles', 'CA', '90012'],
  ],
  DE: [
    ['Leipzig', 'SN', '04109'],
    ['Berlin', 'BE', '10115'],
    ['Hamburg', 'HH', '20095'],
    ['Hannover', 'NI', '30159'],
    ['Dortmund', 'NW', '44135'],
    ['Köln', 'NW', '50667'],
    ['Frankfurt am Main', 'HE', '60311'],
    ['Stuttgart', 'BW', '70173'],
    ['München', 'BY', '80331'],
    ['Nürnberg', 'BY', '90402'],
  ],
  IT: [
    ['Roma', 'RM', '00118'],
    ['Torino', 'TO', '10121'],
    ['Milano', 'MI', '20121'],
    ['Venezia', 'VE', '30121'],
    ['Bologna', 'BO', '40121'],
    ['Firenze', 'FI', '50121'],
    ['Ancona', 'AN', '60121'],
    ['Bari', 'BA', '70121'],
    ['Napoli', 'NA', '80121'],
    ['Palermo', 'PA', '90121'],
  ],
};
/** Standard time per US postal zone, as hours from UTC. Germany and Italy share one time zone. */
const usHours = [-5, -5, -5, -5, -5, -6, -6, -6, -7, -8] as const;
const europeHours = 1;

const dayMs = 24 * 3_600_000;

export function destination(address: Address): Location {
  return locationIn(address.city, address.state, address.postal_code, address.country);
}

/** The sorting centre serving an address; in countries without centres, the address's own city. */
function nearestHub(address: Address): Location {
  const hub = hubsOf[address.country]?.[zoneOf(address)];
  return hub ? locationIn(...hub, address.country) : destination(address);
}

/** The retailer's shipping location: a random centre in the destination country. */
function origin(address: Address, draw: Draw, parcel: string): Location {
  const hubs = hubsOf[address.country];
  return hubs ? locationIn(...draw.pick(`origin ${parcel}`, hubs), address.country) : destination(address);
}

/** The calendar date at the destination, `days` after `at` (ms). */
function localDate(address: Address, at: number, days: number): string {
  const hours = address.country === 'US' ? (usHours[zoneOf(address)] ?? 0) : europeHours;
  return new Date(at + days * dayMs + hours * 3_600_000).toISOString().slice(0, 10);
}

function zoneOf(address: Address): number {
  const digit = Number.parseInt(address.postal_code.charAt(0), 10);
  return Number.isNaN(digit) ? 0 : digit;
}

function locationIn(city: string, state: string | null, zip: string, country: string): Location {
  const region = [state, zip].filter(Boolean).join(' ');
  return { city, state, zip, country, location: [city, region, country].filter(Boolean).join(', ') };
}

/** The plan with all transitions moved earlier by `earlier` ms. */
export function moved(record: OrderRecord, plan: OrderPlan, earlier: number): OrderPlan {
  return retimed(record, plan, ({ at }) => at - earlier);
}

/**
 * The plan with new transition times (ms). Estimated delivery dates shift with the placing day, and stay unchanged once
 * the order is placed.
 */
export function retimed(
  record: OrderRecord,
  plan: OrderPlan,
  timeOf: (change: Transition, index: number) => number,
): OrderPlan {
  const rescheduled = plan.map((change, index) => ({ ...change, at: timeOf(change, index) }));
  const [was, is] = [plan, rescheduled].map((changes) => placingDay(record, changes));
  if (was === undefined || is === undefined || was === is) return rescheduled;
  const shift = Date.parse(is) - Date.parse(was);
  return rescheduled.map((change) => redated(change, shift));
}

function placingDay({ shipping_address }: OrderRecord, plan: OrderPlan): string | undefined {
  const placed = plan.find(({ kind }) => kind === 'placed');
  return placed && localDate(shipping_address, placed.at, 0);
}

function redated(change: Transition, shift: number): Transition {
  const later = (date: string): string => new Date(Date.parse(date) + shift).toISOString().slice(0, 10);
  const { kind } = change;
  if (kind === 'scanned' && change.estimated_delivery_date !== null)
    return { ...change, estimated_delivery_date: later(change.estimated_delivery_date) };
  if (kind !== 'placed') return change;
  const { job_result } = change;
  const { estimated_delivery: estimated } = job_result;
  return estimated == null
    ? change
    : { ...change, job_result: { ...job_result, estimated_delivery: later(estimated) } };
}
