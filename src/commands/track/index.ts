import { objectsIn, own, textIn } from '../../api/json.ts';
import { orderState, type ShownState } from '../../api/order-state.ts';
import type { Unchecked } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { defineRootCommand } from '../../cli/define.ts';
import type { Column, Row, TitleOf } from '../../format/result.ts';
import { parcelContents } from '../../orders/columns.ts';
import { parcelsWithContents } from '../../orders/screen.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { checkUuid } from '../../run/ids.ts';
import { isOnScreen } from '../../run/on-screen.ts';

export const command = defineRootCommand({
  description: 'Needs no key: whoever knows the id of an order can follow it.',
  arguments: [{ name: 'order', names: 'orders', description: 'id of the order', required: true }],
  examples: [
    { command: 'errand track $ORDER', note: 'where the parcel is' },
    { command: "errand track $ORDER -o json --query 'shipments[].status'", note: 'the state of each parcel' },
  ],
  output: { record: 'order.track' },
  operations: ['order.track', 'order.get'],
  needsKey: false,
  related: ['order timeline', 'order watch'],
  async run(context, { order }) {
    const client = await context.client();
    const path = { order_id: checkUuid('order id', order) };
    const { body } = await client.call('order.track', { path });
    const columns = context.output.format === 'table' ? trackColumns : flatColumns;
    const showsOrder = isOnScreen(context) && stateOfTracked(body).mood !== 'bad';
    const ordered = showsOrder ? await ownOrder(context, path) : undefined;
    return { kind: 'record', record: body, columns, screen: trackScreen(ordered), id: 'order_id' };
  },
});

/**
 * Reads the order to learn what public tracking does not show: the concessions, so that a partial purchase does not
 * look complete, and which items each parcel holds. This works only if the order belongs to the current key.
 */
async function ownOrder(context: Context, path: { readonly order_id: string }): Promise<unknown> {
  if (context.settings.apiKey === undefined || context.previewsRequests) return undefined;
  try {
    const client = await context.client();
    return (await client.call('order.get', { path })).body;
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return undefined;
  }
}

const orderFacts: readonly Column<Shape<'PublicTrackingResponse'>>[] = [
  { name: 'order', path: 'order_id', kind: 'id', weight: 9 },
  { name: 'status', path: 'current_status', kind: 'status', weight: 10 },
  { name: 'expected', path: 'estimated_delivery_date', kind: 'date', weight: 8 },
  { name: 'city', path: 'destination.city', weight: 5 },
  { name: 'country', path: 'destination.country', weight: 4 },
];

const parcels: Column<Shape<'PublicTrackingResponse'>> = {
  name: 'parcels',
  path: 'shipments',
  columns: [
    { name: 'carrier', path: 'carrier', weight: 7 },
    { name: 'tracking number', path: 'tracking_number', weight: 8 },
    { name: 'state', path: 'status', kind: 'status', weight: 9 },
    { name: 'last seen', path: 'checkpoints.0.message', weight: 6 },
    { name: 'at', path: 'checkpoints.0.checkpoint_time', kind: 'time', weight: 6 },
  ],
};

/**
 * Columns for a TTY: first the order's overall state, then its parcels.
 * @param ordered is the order, if it can be read. Public tracking alone does not reveal that less was bought than
 * requested.
 */
export const trackScreen = (ordered: unknown): readonly Column<Shape<'PublicTrackingResponse'>>[] => [
  ...orderFacts.filter(({ name }) => name !== 'status').slice(0, 1),
  {
    name: 'state',
    path: 'state',
    kind: 'status',
    value: (tracked) => stateOfTracked(tracked, own(ordered, 'fulfillment')).text,
    mood: (tracked) => stateOfTracked(tracked, own(ordered, 'fulfillment')).mood,
  },
  ...orderFacts.filter(({ name }) => name !== 'status').slice(1),
  ...parcelsWithContents<Shape<'PublicTrackingResponse'>>(
    'shipments',
    [
      { name: 'state', path: 'status', kind: 'status', weight: 9 },
      { name: 'carrier', path: 'carrier', weight: 7 },
      { name: 'tracking number', path: 'tracking_number', kind: 'id', weight: 8 },
      { name: 'last seen', path: 'checkpoints.0.message', weight: 6, isProse: true, wraps: true },
      { name: 'at', path: 'checkpoints.0.checkpoint_time', kind: 'time', weight: 5 },
    ],
    (tracked, titleOf) => shipmentsOf(tracked, ordered, titleOf),
  ),
];

/**
 * The parcels from public tracking. The contents of each come from the order's parcel with the same tracking number.
 */
function shipmentsOf(tracked: unknown, ordered: unknown, titleOf?: TitleOf): Row[] {
  const known = objectsIn(ordered, 'tracking_numbers');
  return objectsIn(tracked, 'shipments').map((parcel) => {
    const number = textIn(parcel, 'tracking_number');
    const same = known.find((one) => number !== undefined && textIn(one, 'tracking_number') === number);
    return { ...parcel, contents: parcelContents(ordered, same, titleOf) };
  });
}

const stateOfTracked = (
  { current_status: status, items, shipments: parcels }: Unchecked<Shape<'PublicTrackingResponse'>>,
  fulfillment?: unknown,
): ShownState => orderState({ status, items, parcels, fulfillment });

/** Columns for a flat row of a table. They describe only the first parcel, but the last column lists all parcels. */
const flatColumns: readonly Column<Shape<'PublicTrackingResponse'>>[] = [
  ...orderFacts,
  { name: 'carrier', path: 'shipments.0.carrier', weight: 7 },
  { name: 'tracking number', path: 'shipments.0.tracking_number', weight: 7 },
  { name: 'shipment', path: 'shipments.0.status', kind: 'status', weight: 8 },
  { name: 'last seen', path: 'shipments.0.checkpoints.0.message', weight: 6 },
  { name: 'at', path: 'shipments.0.checkpoints.0.checkpoint_time', kind: 'time', weight: 6 },
  { name: 'parcels', path: 'shipments', weight: 1 },
];

/** Columns for a piped table. They include all parcels, not only the first one. */
const trackColumns: readonly Column<Shape<'PublicTrackingResponse'>>[] = [...orderFacts, parcels];
