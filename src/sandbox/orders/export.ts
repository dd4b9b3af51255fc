import { eachPlainField } from '../../api/order-fields.ts';
import { csvLine } from '../server/csv.ts';
import type { OrderRecord } from './lifecycle/index.ts';

type Cell = (order: OrderRecord) => string | number | boolean | null | undefined;

const joined = (values: readonly (string | number)[]): string => values.join('|');

/** The columns of the export, in their order; several values of one cell are separated by `|`. */
const columns: Readonly<Record<string, Cell>> = {
  id: (order) => order.id,
  status: (order) => order.status,
  created_at: (order) => order.created_at,
  updated_at: (order) => order.updated_at,
  product_urls: (order) => joined(order.items.map(({ url }) => url)),
  quantities: (order) => joined(order.items.map(({ quantity }) => quantity)),
  max_price: (order) => order.max_price,
  // A quote is not a total: only a placed order has one.
  total: ({ status, job_result: result }) =>
    status === 'order_placed' ? result?.price_components?.total : null,
  currency: (order) => order.job_result?.price_components?.currency,
  recipient: ({ shipping_address: to }) => `${to.first_name} ${to.last_name}`,
  address_line1: (order) => order.shipping_address.address_line1,
  address_line2: (order) => order.shipping_address.address_line2,
  city: (order) => order.shipping_address.city,
  state: (order) => order.shipping_address.state,
  postal_code: (order) => order.shipping_address.postal_code,
  country: (order) => order.shipping_address.country,
  tracking_numbers: (order) => joined(order.tracking_numbers.map(({ tracking_number: number }) => number)),
  tracking_statuses: (order) => joined(order.tracking_numbers.map(({ status }) => status)),
  merchant_order_ids: (order) => joined(order.merchant_order_ids),
  ...Object.fromEntries(eachPlainField.map(([name]) => [name, (order: OrderRecord) => order[name]])),
  error_type: (order) => order.job_result?.error_type,
  metadata: ({ metadata = {} }) => (Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : ''),
};

/** Orders as CSV (RFC 4180), the header first. */
export async function* csvOf(pages: AsyncIterable<readonly OrderRecord[]>): AsyncGenerator<string> {
  yield csvLine(Object.keys(columns));
  for await (const orders of pages) {
    yield orders.map((order) => csvLine(Object.values(columns).map((cell) => cell(order)))).join('');
  }
}
