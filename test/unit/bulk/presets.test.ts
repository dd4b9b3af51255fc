import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { ColumnMap } from '../../../src/bulk/csv/headings.ts';
import { readRows } from '../../../src/bulk/rows.ts';
import { mapPresets, presetLike } from '../../../src/config/maps.ts';
import { asOrders, read, type Wanted, wanted } from './dialects.ts';

const [ada, grace] = wanted as [Wanted, Wanted];

const shopify =
  'Name,Email,Financial Status,Paid at,Fulfillment Status,Fulfilled at,Accepts Marketing,Currency,Subtotal,Shipping,Taxes,Total,Discount Code,Discount Amount,Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem compare at price,Lineitem sku,Lineitem requires shipping,Lineitem taxable,Lineitem fulfillment status,Billing Name,Billing Street,Billing Address1,Billing Address2,Billing Company,Billing City,Billing Zip,Billing Province,Billing Country,Billing Phone,Shipping Name,Shipping Street,Shipping Address1,Shipping Address2,Shipping Company,Shipping City,Shipping Zip,Shipping Province,Shipping Country,Shipping Phone,Notes,Note Attributes,Cancelled at,Payment Method,Payment Reference,Refunded Amount,Vendor,Outstanding Balance,Employee,Location,Device ID,Id,Tags,Risk Level,Source,Lineitem discount,Tax 1 Name,Tax 1 Value,Phone,Receipt Number,Duties,Billing Province Name,Shipping Province Name,Payment ID'.split(
    ',',
  );
const wooItems =
  'order_id,order_number,order_date,status,shipping_total,order_total,order_currency,payment_method,customer_id,billing_first_name,billing_last_name,billing_company,billing_email,billing_phone,billing_address_1,billing_address_2,billing_postcode,billing_city,billing_state,billing_country,shipping_first_name,shipping_last_name,shipping_address_1,shipping_address_2,shipping_postcode,shipping_city,shipping_state,shipping_country,shipping_company,customer_note,item_id,item_product_id,item_name,item_sku,item_quantity,item_subtotal,item_total,refunds,order_notes'.split(
    ',',
  );
const wooTitles =
  'Order Number,Order Status,Order Date,Customer Note,First Name (Billing),Last Name (Billing),Company (Billing),Address 1&2 (Billing),City (Billing),State Code (Billing),Postcode (Billing),Country Code (Billing),Email (Billing),Phone (Billing),First Name (Shipping),Last Name (Shipping),Address 1&2 (Shipping),City (Shipping),State Code (Shipping),Postcode (Shipping),Country Code (Shipping),Payment Method Title,Order Total Amount,SKU,Item #,Item Name,Quantity (- Refund),Item Cost,Coupon Code'.split(
    ',',
  );
const amazon =
  'Order Date,Order ID,Title,Category,ASIN/ISBN,UNSPSC Code,Website,Release Date,Condition,Seller,Seller Credentials,List Price Per Unit,Purchase Price Per Unit,Quantity,Payment Instrument Type,Purchase Order Number,PO Line Number,Ordering Customer Email,Shipment Date,Shipping Address Name,Shipping Address Street 1,Shipping Address Street 2,Shipping Address City,Shipping Address State,Shipping Address Zip,Order Status,Carrier Name & Tracking Number,Item Subtotal,Item Subtotal Tax,Item Total,Buyer Name,Currency,Group Name'.split(
    ',',
  );

/** Columns a user adds to an export: what to buy, and for how much. */
const added = ['product_url', 'max_price'];
const bought = (one: Wanted) => ({ product_url: one.url, max_price: (one.cents / 100).toFixed(2) });
type Line = Readonly<Record<string, string>>;

const fileOf = (headings: readonly string[], lines: readonly Line[]): Buffer => {
  const cell = (text: string): string => (/[,"\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = [headings, ...lines.map((line) => headings.map((heading) => line[heading] ?? ''))];
  for (const line of lines) for (const heading in line) expect(headings).toContain(heading);
  return Buffer.from(`${rows.map((cells) => cells.map(cell).join(',')).join('\r\n')}\r\n`);
};

const through = (name: string, bytes: Buffer, map: ColumnMap = {}) =>
  read(bytes, { map, preset: mapPresets.get(name), size: 50 });

const inShopify = (one: Wanted, number: string): Line => ({
  Name: number,
  Email: 'buyer@shop.example',
  Currency: 'USD',
  Total: '99.00',
  'Lineitem quantity': '2',
  'Lineitem price': '49.50',
  'Billing Name': 'Somebody Else',
  'Billing Address1': '9 Elsewhere',
  'Billing Zip': "'10001",
  'Billing Phone': '2125550100',
  'Shipping Name': `${one.first} ${one.last}`,
  'Shipping Street': one.street,
  'Shipping Address1': one.street,
  'Shipping City': one.city,
  'Shipping Zip': `'${one.zip}`,
  'Shipping Province': one.state,
  'Shipping Country': 'US',
  'Shipping Phone': one.phone,
  Phone: '3105550100',
  ...bought(one),
});
const inWoo = (one: Wanted, number: string): Line => ({
  order_id: `9${number}`,
  order_number: number,
  order_currency: 'USD',
  billing_first_name: 'Somebody',
  billing_last_name: 'Else',
  billing_phone: one.phone,
  shipping_first_name: one.first,
  shipping_last_name: one.last,
  shipping_address_1: one.street,
  shipping_postcode: one.zip,
  shipping_city: one.city,
  shipping_state: one.state,
  shipping_country: 'US',
  item_quantity: '2',
  ...bought(one),
});
const inWooTitles = (one: Wanted, number: string): Line => ({
  'Order Number': number,
  'First Name (Billing)': 'Somebody',
  'Phone (Billing)': one.phone,
  'First Name (Shipping)': one.first,
  'Last Name (Shipping)': one.last,
  'Address 1&2 (Shipping)': one.street,
  'City (Shipping)': one.city,
  'State Code (Shipping)': one.state,
  'Postcode (Shipping)': one.zip,
  'Country Code (Shipping)': 'US',
  'Quantity (- Refund)': '2',
  'Item Cost': '49.50',
  ...bought(one),
});
const inAmazon = (one: Wanted, number: string): Line => ({
  'Order ID': number,
  Quantity: '2',
  'Purchase Price Per Unit': '$49.50',
  'Shipping Address Name': `${one.first} ${one.last}`,
  'Shipping Address Street 1': one.street,
  'Shipping Address City': one.city,
  'Shipping Address State': one.state,
  'Shipping Address Zip': `="${one.zip}"`,
  'Buyer Name': 'Somebody Else',
  Currency: 'USD',
  phone_number: one.phone,
  ...bought(one),
});

const asOrder = (one: Wanted, number: string) => ({
  ...asOrders([one])[0],
  products: [{ url: one.url, quantity: 2 }],
  metadata: { order: number },
});

describe('an export of a shop is read as the orders that it holds', () => {
  test.each<[string, string, readonly string[], (one: Wanted, number: string) => Line, readonly string[]]>([
    ['Shopify', 'shopify', shopify, inShopify, []],
    ['WooCommerce, a row for each item', 'woocommerce', wooItems, inWoo, []],
    ['WooCommerce, titles of its own', 'woocommerce', wooTitles, inWooTitles, []],
    ['Amazon Business', 'amazon-business', amazon, inAmazon, ['phone_number']],
  ])('%s', async (_, name, headings, line, more) => {
    const bytes = fileOf([...headings, ...added, ...more], [line(ada, '1001'), line(grace, '1002')]);
    expect((await through(name, bytes)).orders).toEqual([asOrder(ada, '1001'), asOrder(grace, '1002')]);
    expect(presetLike(headings)?.name).toBe(name);
    const whole = line(ada, '1001');
    const asExported = Object.fromEntries(headings.map((heading) => [heading, whole[heading] ?? '']));
    await expect(through(name, fileOf(headings, [asExported]))).rejects.toThrow(
      `no column for ${['product_url', 'max_price', ...more].join(', ')}`,
    );
  });

  test('headings of an address are not those of a shop, which numbers its orders', () => {
    const address = ['Name', 'Street', 'City', 'State', 'Zip', 'Country', 'Phone'].map(
      (one) => `Ship To ${one}`,
    );
    expect(presetLike(['Item URL', 'Limit USD', ...address])).toBeUndefined();
    expect(presetLike(['Order Number', ...address])?.name).toBe('ebay');
  });

  test('columns that are not there are no error, those that are needed are', async () => {
    const few = ['Name', 'Shipping Name', 'Shipping Address1', 'Shipping City', 'Lineitem quantity'];
    const line = { Name: '#1', 'Shipping Name': 'Ada Byron' };
    await expect(through('shopify', fileOf(few, [line]))).rejects.toThrow(
      'the headings of orders.csv: no column for product_url, max_price, postal_code, phone_number',
    );
  });

  test('an export that does not say how many is refused, and no quantity is guessed', async () => {
    const headings = [...wooItems.filter((heading) => heading !== 'item_quantity'), ...added];
    const { item_quantity: _, ...line } = inWoo(ada, '1') as Record<string, string>;
    await expect(through('woocommerce', fileOf(headings, [line]))).rejects.toThrow('no column for quantity');
  });

  test('a map goes before the preset, and a column of its own name beside it is refused', async () => {
    const line = { ...inShopify(ada, '#1'), Notes: 'Ida Noddack' };
    const mapped = await through('shopify', fileOf([...shopify, ...added], [line]), { Notes: 'name' });
    expect(mapped.orders).toMatchObject([
      { shipping_address: { first_name: 'Ida', last_name: 'Noddack', city: ada.city } },
    ]);
    const twice = fileOf([...shopify, ...added, 'quantity'], [{ ...line, quantity: '1' }]);
    await expect(through('shopify', twice)).rejects.toThrow(
      '"Lineitem quantity" and "quantity" both mean quantity',
    );
    expect((await through('shopify', twice, { quantity: 'quantity' })).orders).toMatchObject([
      { products: [{ quantity: 1 }] },
    ]);
  });

  test('what is ordered in another currency is refused', async () => {
    const line = { ...inWoo(ada, '1'), order_currency: 'EUR' };
    await expect(through('woocommerce', fileOf([...wooItems, ...added], [line]))).rejects.toThrow(
      'order_currency EUR is not USD',
    );
  });
});

describe('an order with several lines', () => {
  const next = (number: string, more: Line = {}): Line => ({
    Name: number,
    'Lineitem quantity': '1',
    ...bought(grace),
    ...more,
  });
  const shop = (...lines: Line[]) => through('shopify', fileOf([...shopify, ...added], lines));

  test('has its address on the first: the others have the same, and it is told', async () => {
    const { orders, numbers, told } = await shop(inShopify(ada, '#1'), next('#1'), inShopify(grace, '#2'));
    expect(numbers).toEqual([2, 3, 4]);
    expect(orders[1]).toEqual({
      ...asOrder(ada, '#1'),
      products: [{ url: grace.url, quantity: 1 }],
      max_price: grace.cents,
    });
    expect(told).toContain('1 row continues an order and has its address: row 3');
  });

  test('never has the address of another order', async () => {
    await expect(shop(inShopify(ada, '#1'), next('#2'))).rejects.toThrow('address_line1  is missing');
    await expect(shop(inShopify(ada, '#1'), next(''))).rejects.toThrow('address_line1  is missing');
    await expect(shop(inShopify(ada, '#1'), inShopify(grace, '#2'), next('#1'))).rejects.toThrow(
      'address_line1  is missing',
    );
    await expect(shop(inShopify(ada, '#1'), next('#1', { 'Shipping City': 'Reno' }))).rejects.toThrow(
      'address_line1  is missing',
    );
  });

  test('has lines that buy nothing left out', async () => {
    const { numbers, told } = await shop(inShopify(ada, '#1'), { Name: '#1', 'Lineitem quantity': '1' });
    expect(numbers).toEqual([2]);
    expect(told).toContain('1 row without product, price and address is left out: row 3');
  });
});

describe("a customer's order that was called off buys nothing", () => {
  test.each<[string, string, Line, readonly string[]]>([
    ['shopify', 'Cancelled at', { 'Cancelled at': '2026-11-20 10:00:00 -0500' }, shopify],
    ['shopify', 'Financial Status', { 'Financial Status': 'refunded' }, shopify],
    ['shopify', 'Financial Status', { 'Financial Status': 'partially_refunded' }, shopify],
    ['shopify', 'Financial Status', { 'Financial Status': 'Pending' }, shopify],
    ['woocommerce', 'status', { status: 'wc-cancelled' }, wooItems],
    ['woocommerce', 'status', { status: 'wc-pending' }, wooItems],
    ['woocommerce', 'status', { status: 'checkout-draft' }, wooItems],
    ['woocommerce', 'Order Status', { 'Order Status': 'Pending payment' }, wooTitles],
    ['woocommerce', 'Order Status', { 'Order Status': 'Trash' }, wooTitles],
    ['woocommerce', 'Order Status', { 'Order Status': 'Refunded' }, wooTitles],
    ['amazon-business', 'Order Status', { 'Order Status': 'Cancelled' }, [...amazon, 'phone_number']],
  ])('%s: %s', async (name, column, state, headings) => {
    const lines = { shopify: inShopify, woocommerce: headings === wooItems ? inWoo : inWooTitles };
    const line = name === 'amazon-business' ? inAmazon : lines[name as keyof typeof lines];
    const bytes = fileOf([...headings, ...added], [{ ...line(ada, '1'), ...state }]);
    const refused = `${column} ${Object.values(state)[0]} says that the customer's order was called off`;
    await expect(through(name, bytes)).rejects.toThrow(refused);
  });

  test('nor do its other lines; what the shop has sent already neither, and what is paid is no reason', async () => {
    const next = { Name: '#1', 'Lineitem quantity': '1', ...bought(grace) };
    const refusedRows = async (state: Line): Promise<number[]> => {
      const bytes = fileOf([...shopify, ...added], [{ ...inShopify(ada, '#1'), ...state }, next]);
      const options = { name: 'shop.csv', map: {}, preset: mapPresets.get('shopify') };
      const rows: number[] = [];
      for await (const part of readRows(Readable.from([bytes]), options))
        rows.push(...part.filter(({ issues }) => issues.length > 0).map(({ number }) => number));
      return rows;
    };
    expect(await refusedRows({ 'Financial Status': 'voided' })).toEqual([2, 3]);
    expect(await refusedRows({ 'Fulfillment Status': 'fulfilled' })).toEqual([2, 3]);
    expect(await refusedRows({ 'Financial Status': 'paid', 'Fulfillment Status': 'unfulfilled' })).toEqual(
      [],
    );
  });
});

test('a phone number that is empty is that of the customer, and it is told', async () => {
  const line = { ...inShopify(ada, '#1'), 'Shipping Phone': '' };
  const { orders, told } = await through('shopify', fileOf([...shopify, ...added], [line]));
  expect(orders).toMatchObject([{ shipping_address: { phone_number: '3105550100' } }]);
  expect(told).toContain('phone_number is that of "Phone" in 1 row');
  const next = { Name: '#1', 'Lineitem quantity': '1', ...bought(grace) };
  const both = await through('shopify', fileOf([...shopify, ...added], [line, next]));
  expect(both.orders[1]).toMatchObject({ shipping_address: { phone_number: '3105550100' } });
  const none = { ...line, Phone: '' };
  const billing = await through('shopify', fileOf([...shopify, ...added], [none]));
  expect(billing.orders).toMatchObject([{ shipping_address: { phone_number: '2125550100' } }]);
});

test('a heading that a map names goes before one that means the same by itself', async () => {
  const headings = 'product_url,max_price,Name,Ship To,address,city,zip,phone,First Name';
  const row = 'https://x.example/1,5.00,#1001,Ada Byron,1 Main St,Austin,78701,5125550100,Buyer';
  const { orders } = await read(Buffer.from(`${headings}\n${row}\n`), { map: { 'Ship To': 'name' } });
  expect(orders).toMatchObject([{ shipping_address: { first_name: 'Ada', last_name: 'Byron' } }]);
});
