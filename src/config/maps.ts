import { plainHeading } from '../api/bulk-columns.ts';
import type { ColumnMap, Stored, StoredReading, StoredReference } from './stored.ts';

/** A heading map with its settings: the preset that it extends, where it reads references, and how it reads cells. */
export interface SavedMap {
  readonly map: ColumnMap;
  readonly preset: string | undefined;
  readonly reference: StoredReference | undefined;
  readonly reading: StoredReading;
}

/** The map saved under a name; undefined if none. Pure. */
export function mapIn(
  { maps, map_presets: presets, map_references: references, map_readings: readings }: Stored,
  name: string,
): SavedMap | undefined {
  const map = Object.hasOwn(maps, name) ? maps[name] : undefined;
  return (
    map && {
      map,
      preset: Object.hasOwn(presets, name) ? presets[name] : undefined,
      reference: Object.hasOwn(references, name) ? references[name] : undefined,
      reading: (Object.hasOwn(readings, name) ? readings[name] : undefined) ?? {},
    }
  );
}

/** Saves a map. An earlier map of the same name is replaced. Pure. */
export function withMap(stored: Stored, name: string, { map, preset, reference, reading }: SavedMap): Stored {
  const { [name]: _preset, ...presets } = stored.map_presets;
  const { [name]: _reference, ...references } = stored.map_references;
  const { [name]: _reading, ...readings } = stored.map_readings;
  return {
    ...stored,
    maps: { ...stored.maps, [name]: map },
    map_presets: { ...presets, ...(preset !== undefined && { [name]: preset }) },
    map_references: { ...references, ...(reference && { [name]: reference }) },
    map_readings: { ...readings, ...(Object.keys(reading).length > 0 && { [name]: reading }) },
  };
}

/**
 * Meaning of the headings in the export of another program. Order keys derive from these meanings. If a meaning
 * changed, uploading the same file again would place its orders twice.
 */
export interface MapPreset {
  readonly name: string;
  readonly description: string;
  /**
   * Headings that can stand for each column. The first of them that the file has is used. For phone numbers, if its
   * cell is empty, the next of these headings is used.
   */
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /**
   * Headings that together identify one line of one order: first those of the order number, then those of the line. Of
   * each, the first heading that the file has is used. Different shops use the same order numbers, so these references
   * are unique only within a namespace.
   */
  readonly reference: readonly (readonly string[])[];
  /**
   * For each heading, the values that mark an order as cancelled, returned or unpaid. The values are in lower case, and
   * a single space stands for each `-` and `_`. An empty list matches any text.
   */
  readonly calledOff: Readonly<Record<string, readonly string[]>>;
  /**
   * Values that mark an order, or one of its lines, as already sent by the shop itself. They have the same form as in
   * `calledOff`.
   */
  readonly fulfilled?: Readonly<Record<string, readonly string[]>>;
}

/** The column whose value says which lines belong to the same order. */
export const orderColumn = 'metadata.order';

/**
 * WooCommerce states of an order that is unpaid, cancelled or refunded. Each state is listed both as WooCommerce
 * exports it and as it stores it.
 */
const unfilledStates = [
  ...['cancelled', 'refunded', 'failed', 'trash'],
  ...['pending', 'pending payment', 'checkout draft', 'draft', 'auto draft'],
].flatMap((state) => [state, `wc ${state}`]);

/** Shopify states of an order that is unpaid, or that was refunded at least in part. */
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
    fulfilled: { 'Lineitem fulfillment status': ['fulfilled'], 'Fulfillment Status': ['fulfilled'] },
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
    fulfilled: { status: ['completed', 'wc completed'], 'Order Status': ['completed', 'wc completed'] },
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
  {
    name: 'amazon-seller',
    description: "a seller's order report from Amazon; give each line its product_url and price",
    columns: {
      [orderColumn]: ['order-id', 'amazon-order-id'],
      quantity: ['quantity-to-ship', 'quantity-purchased', 'quantity'],
      name: ['recipient-name'],
      address_line1: ['ship-address-1'],
      address_line2: ['ship-address-2'],
      city: ['ship-city'],
      state: ['ship-state'],
      postal_code: ['ship-postal-code'],
      country: ['ship-country'],
      phone_number: ['ship-phone-number', 'buyer-phone-number'],
    },
    reference: [['order-id', 'amazon-order-id'], ['order-item-id']],
    calledOff: { 'order-status': ['cancelled', 'canceled', 'pending'] },
    fulfilled: { 'order-status': ['shipped', 'shipped delivered to buyer'] },
  },
  {
    name: 'etsy',
    description: 'order items sold on Etsy; give each its product_url, price and phone_number',
    columns: {
      [orderColumn]: ['Order ID'],
      quantity: ['Quantity'],
      name: ['Ship Name'],
      address_line1: ['Ship Address1'],
      address_line2: ['Ship Address2'],
      city: ['Ship City'],
      state: ['Ship State'],
      postal_code: ['Ship Zipcode'],
      country: ['Ship Country'],
    },
    reference: [['Order ID'], ['Transaction ID']],
    calledOff: {},
    fulfilled: { 'Date Shipped': [] },
  },
  {
    name: 'ebay',
    description: 'an orders report from eBay; give each line its product_url and price',
    columns: {
      [orderColumn]: ['Order Number', 'Sales Record Number'],
      quantity: ['Quantity'],
      name: ['Ship To Name'],
      address_line1: ['Ship To Address 1'],
      address_line2: ['Ship To Address 2'],
      city: ['Ship To City'],
      state: ['Ship To State'],
      postal_code: ['Ship To Zip'],
      country: ['Ship To Country'],
      phone_number: ['Ship To Phone'],
    },
    reference: [
      ['Order Number', 'Sales Record Number'],
      ['Transaction ID', 'Item Number'],
    ],
    calledOff: {},
    fulfilled: { 'Shipped On Date': [] },
  },
  {
    name: 'square',
    description: 'orders exported from Square Online; give each item its product_url and price',
    columns: {
      [orderColumn]: ['Order', 'Order Name'],
      quantity: ['Item Quantity'],
      name: ['Recipient Name'],
      address_line1: ['Recipient Address'],
      address_line2: ['Recipient Address 2'],
      city: ['Recipient City'],
      state: ['Recipient Region'],
      postal_code: ['Recipient Postal Code'],
      country: ['Recipient Country'],
      phone_number: ['Recipient Phone'],
    },
    reference: [['Order', 'Order Name'], ['Item SKU']],
    calledOff: { 'Order Status': ['cancelled', 'canceled', 'refunded'] },
    fulfilled: { 'Fulfillment Status': ['fulfilled', 'completed', 'shipped'] },
  },
  {
    name: 'bigcommerce',
    description:
      'orders exported from BigCommerce, a line for each product; give each its product_url and price',
    columns: {
      [orderColumn]: ['Order ID'],
      quantity: ['Product Qty'],
      name: ['Shipping Name'],
      first_name: ['Shipping First Name'],
      last_name: ['Shipping Last Name'],
      address_line1: ['Shipping Street 1'],
      address_line2: ['Shipping Street 2'],
      city: ['Shipping Suburb', 'Shipping City'],
      state: ['Shipping State Abbreviation', 'Shipping State'],
      postal_code: ['Shipping Zip'],
      country: ['Shipping Country'],
      phone_number: ['Shipping Phone', 'Billing Phone', 'Customer Phone'],
    },
    reference: [['Order ID'], ['Order Product ID', 'Product ID', 'Product SKU']],
    calledOff: {
      'Order Status': [
        ...['cancelled', 'refunded', 'partially refunded', 'declined', 'disputed'],
        ...['pending', 'awaiting payment', 'incomplete'],
      ],
    },
    fulfilled: { 'Date Shipped': [], 'Order Status': ['shipped', 'completed'] },
  },
  {
    name: 'magento',
    description: 'order items exported from Magento or Adobe Commerce; give each its product_url and price',
    columns: {
      [orderColumn]: ['increment_id', 'order_id', 'Order #'],
      quantity: ['qty_ordered', 'Qty Ordered'],
      name: ['shipping_name', 'Ship-to Name'],
      first_name: ['shipping_firstname'],
      last_name: ['shipping_lastname'],
      address_line1: ['shipping_street', 'shipping_street1'],
      address_line2: ['shipping_street2'],
      city: ['shipping_city'],
      state: ['shipping_region_code', 'shipping_region'],
      postal_code: ['shipping_postcode'],
      country: ['shipping_country_id', 'shipping_country'],
      phone_number: ['shipping_telephone', 'billing_telephone'],
    },
    reference: [['increment_id', 'order_id', 'Order #'], ['item_id']],
    calledOff: {
      status: ['canceled', 'cancelled', 'closed', 'holded', 'pending', 'pending payment', 'fraud'],
    },
    fulfilled: { status: ['complete'] },
  },
];

/** Built-in maps by name. A saved map of the same name takes precedence. */
export const mapPresets: ReadonlyMap<string, MapPreset> = new Map(
  presets.map((preset) => [preset.name, preset]),
);

/** A file counts as an export of a preset's program only if it has at least this many of the preset's headings. */
const minAlike = 5;

/**
 * Finds the preset whose program exports headings like these. Undefined if there is none. An export names its orders,
 * while headings of an address alone, such as `Ship To City`, may be anybody's.
 */
export function presetLike(headings: readonly string[]): MapPreset | undefined {
  const there = new Set(headings.map(plainHeading));
  const has = (names: readonly string[]): boolean => names.some((name) => there.has(plainHeading(name)));
  const alike = ({ columns, reference: [order = []] }: MapPreset): number =>
    has(order) ? Object.values(columns).filter(has).length : 0;
  const best = presets.reduce((one, other) => (alike(other) > alike(one) ? other : one));
  return alike(best) >= minAlike ? best : undefined;
}
