import { plainHeading } from '../api/bulk-columns.ts';
import type { ColumnMap, Stored, StoredReference } from './stored.ts';

/** A heading map, the preset it extends, and where it reads references. */
export interface SavedMap {
  readonly map: ColumnMap;
  readonly preset: string | undefined;
  readonly reference: StoredReference | undefined;
}

/** The map saved under a name; undefined if none. Pure. */
export function mapIn(
  { maps, map_presets: presets, map_references: references }: Stored,
  name: string,
): SavedMap | undefined {
  const map = Object.hasOwn(maps, name) ? maps[name] : undefined;
  return (
    map && {
      map,
      preset: Object.hasOwn(presets, name) ? presets[name] : undefined,
      reference: Object.hasOwn(references, name) ? references[name] : undefined,
    }
  );
}

/** Saves a map, replacing an earlier one of that name. Pure. */
export function withMap(stored: Stored, name: string, { map, preset, reference }: SavedMap): Stored {
  const { [name]: _preset, ...presets } = stored.map_presets;
  const { [name]: _reference, ...references } = stored.map_references;
  return {
    ...stored,
    maps: { ...stored.maps, [name]: map },
    map_presets: { ...presets, ...(preset !== undefined && { [name]: preset }) },
    map_references: { ...references, ...(reference && { [name]: reference }) },
  };
}

/**
 * Meaning of the headings in another program's export. Order keys derive from these meanings. If a meaning changed, a
 * file uploaded again would place its orders twice.
 */
export interface MapPreset {
  readonly name: string;
  readonly description: string;
  /**
   * Headings that each column may have. The first of these headings found in the file is used. For phone numbers, a
   * later heading is used if the earlier ones are empty.
   */
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /**
   * Headings that together name one line of one order: the order's number, then the line. The first heading found in
   * the file counts for each. Shops number alike, so these are references only within a namespace.
   */
  readonly reference: readonly (readonly string[])[];
  /**
   * Values that mark an order as cancelled, returned or unpaid, by heading. They are in lower case, with each `-` and
   * `_` replaced by a single space. An empty list matches any text.
   */
  readonly calledOff: Readonly<Record<string, readonly string[]>>;
}

/** Column that groups lines into orders. */
export const orderColumn = 'metadata.order';

/** WooCommerce states of unpaid, cancelled or refunded orders. Each state is listed both as exported and as stored. */
const unfilledStates = [
  ...['cancelled', 'refunded', 'failed', 'trash'],
  ...['pending', 'pending payment', 'checkout draft', 'draft', 'auto draft'],
].flatMap((state) => [state, `wc ${state}`]);

/** Shopify states of unpaid or at least partly refunded orders. */
const unpaidStates = ['refunded', 'partially refunded', 'voided', 'pending', 'expired'];

const presets: readonly MapPreset[] = [
  {
    name: 'shopify',
    description: 'orders exported from Shopify; give each line its product_url and its price',
    columns: {
      [orderColumn]: ['Name'],
      quantity: ['Lineitem quantity'],
      name: ['Shipping Name'],
      address_line1: ['Shipping Address1'],
      address_line2: ['Shipping Address2'],
      city: ['Shipping City'],
      state: ['Shipping Province'],
      postal_code: ['Shipping Zip'],
      country: ['Shipping Country'],
      phone_number: ['Shipping Phone', 'Phone', 'Billing Phone'],
    },
    reference: [['Name'], ['Lineitem name']],
    calledOff: { 'Cancelled at': [], 'Financial Status': unpaidStates },
  },
  {
    name: 'woocommerce',
    description:
      'orders exported from WooCommerce, a line for each item; give each its product_url and price',
    columns: {
      [orderColumn]: ['order_number', 'order_id'],
      quantity: ['item_quantity', 'Quantity', 'Quantity (- Refund)'],
      name: ['shipping_full_name', 'Full Name (Shipping)'],
      first_name: ['shipping_first_name', 'First Name (Shipping)'],
      last_name: ['shipping_last_name', 'Last Name (Shipping)'],
      address_line1: ['shipping_address_1', 'Address 1 (Shipping)', 'Address 1&2 (Shipping)'],
      address_line2: ['shipping_address_2', 'Address 2 (Shipping)'],
      city: ['shipping_city', 'City (Shipping)'],
      state: ['shipping_state_code', 'shipping_state', 'State Code (Shipping)', 'State Name (Shipping)'],
      postal_code: ['shipping_postcode', 'Postcode (Shipping)'],
      country: ['shipping_country', 'Country Code (Shipping)', 'Country Name (Shipping)'],
      phone_number: ['shipping_phone', 'Phone (Shipping)', 'billing_phone', 'Phone (Billing)'],
    },
    reference: [
      ['order_number', 'order_id'],
      ['item_id', 'Item #'],
    ],
    calledOff: { status: unfilledStates, 'Order Status': unfilledStates },
  },
  {
    name: 'amazon-business',
    description: 'items exported from Amazon Business; give each its product_url, price and phone_number',
    columns: {
      [orderColumn]: ['Order ID'],
      quantity: ['Item Quantity', 'Quantity'],
      name: ['Shipping Address Name'],
      address_line1: ['Shipping Address Street 1'],
      address_line2: ['Shipping Address Street 2'],
      city: ['Shipping Address City'],
      state: ['Shipping Address State'],
      postal_code: ['Shipping Address Zip'],
      po_number: ['PO Number', 'Purchase Order Number'],
    },
    reference: [['Order ID'], ['ASIN/ISBN']],
    calledOff: { 'Order Status': ['cancelled', 'canceled'] },
  },
];

/** Built-in maps by name. A saved map of the same name takes precedence. */
export const mapPresets: ReadonlyMap<string, MapPreset> = new Map(
  presets.map((preset) => [preset.name, preset]),
);

/** Minimum number of a preset's headings that a file must have to count as an export of the preset's program. */
const minAlike = 5;

/** The preset whose export has headings like these; undefined if there is none. */
export function presetLike(headings: readonly string[]): MapPreset | undefined {
  const there = new Set(headings.map(plainHeading));
  const alike = ({ columns }: MapPreset): number =>
    Object.values(columns).filter((names) => names.some((name) => there.has(plainHeading(name)))).length;
  const best = presets.reduce((one, other) => (alike(other) > alike(one) ? other : one));
  return alike(best) >= minAlike ? best : undefined;
}
