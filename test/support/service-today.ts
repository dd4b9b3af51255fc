import { createHmac } from 'node:crypto';
import { address, orderBody } from './order-body.ts';
import { json, type Peer, peer, type Received } from './peer.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

/**
 * A service that sends what its specification does not have yet, in exactly the shapes that were seen: it is written
 * from the list of these shapes, not from the program.
 */
export interface ServiceToday extends Peer {
  /** Orders that were made, by their key. */
  readonly made: ReadonlyMap<string, Json>;
  /** From now on a key's first order is not made before `pay(key)`. */
  demandPayment(payUrl: unknown): void;
  /** What a person does at the `pay_url`. */
  pay(key: string): void;
}

type Json = Record<string, unknown>;

export const orderIds = {
  rejected: '11111111-1111-4111-8111-111111111111',
  parcels: '22222222-2222-4222-8222-222222222222',
} as const;
const [tea, mug] = ['https://www.shop.example/p/tea', 'https://www.shop.example/p/mug'];
const [teaId, mugId] = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'];
const [firstParcel, secondParcel] = [
  'bbbbbbbb-0000-4000-8000-000000000001',
  'bbbbbbbb-0000-4000-8000-000000000002',
];
const time = '2026-11-20T10:00:00Z';

const item = (id: string, url: string, more: Json = {}): Json => ({
  ...{ id, url, quantity: 1, variant: null, condition_in: null, condition_not_in: null },
  ...{ status: 'ordered', cancellation_reason: null, error_type: null, created_at: time, updated_at: time },
  ...more,
});

export const orderRecord = (id: string, more: Json = {}): Json => ({
  ...{ id, status: 'order_placed', max_price: 5000, attempts: 1, items: [item(teaId, tea)] },
  shipping_address: { ...address, address_line2: null },
  ...{ po_number: null, handling_days_max: null, is_gift: false, gift_message: null },
  ...{ retailer_credentials_id: null, retailer_credentials_uuid: null, job_result: null },
  ...{ merchant_order_ids: [], tracking_numbers: [], created_by: null, user_id: 1, returns: [] },
  ...{ connect: null, payment: null, customer_notifications: null, created_at: time, updated_at: time },
  fulfillment: { gift: null, items: null, quantity: null, excluded_merchants: [], concessions: [] },
  ...more,
});

/** Text that would act on a terminal that obeyed it. */
const hostile = '\u001b[2J\u0007';

export const rejected = orderRecord(orderIds.rejected, {
  status: 'order_failed',
  items: [item(teaId, tea, { quantity: 5, status: 'failed' }), item(mugId, mug, { status: 'failed' })],
  job_result: {
    ...{ success: false, error: 'Two lines were rejected.', error_type: 'cart_empty' },
    error_details: {
      ...{ code: 'cart_empty', message: 'Two lines were rejected.', field_errors: [] },
      address_validation_reasons: [],
      url: 'https://www.shop.example/cart',
      line_rejections: [
        {
          ...{ url: tea, product_id: 'tea', requested_quantity: 5, available_quantity: 2 },
          ...{
            codes: ['quantity_limit_exceeded', 'low_stock'],
            messages: [`Only a few are left.${hostile}`],
          },
        },
        { product_id: 'mug', codes: ['out_of_stock'] },
      ],
    },
    ...{ price_components: null, estimated_delivery: null, merchant_order_ids: [] },
  },
});

const parcel = (id: string, number: string, more: Json): Json => ({
  ...{ id, carrier: 'UPS', tracking_number: number, svc_tracking_number: `S${number}` },
  svc_tracking_url: `https://track.example/${number}`,
  ...{ status: 'in_transit', estimated_delivery_date: null, delivery_proof_url: null, created_at: time },
  ...{ checkpoints: [], ...more },
});

export const inParcels = orderRecord(orderIds.parcels, {
  items: [
    item(teaId, tea, { quantity: 2, status: 'shipped', tracking_number_ids: [firstParcel] }),
    item(mugId, mug, { status: 'shipped', tracking_number_ids: [secondParcel] }),
  ],
  tracking_numbers: [
    parcel(firstParcel, '1ZA', { order_item_ids: [teaId], item_mapping: 'exact' }),
    parcel(secondParcel, '1ZB', { order_item_ids: [mugId], item_mapping: 'inferred', status: 'delivered' }),
  ],
});

const track: Json = {
  ...{ order_id: orderIds.parcels, current_status: 'order_placed', estimated_delivery_date: null },
  destination: {
    ...{ address_line1: '1 Main St', address_line2: null, city: 'Austin', state: 'TX' },
    ...{ postal_code: '78701', country: 'US' },
  },
  shipments: ['1ZA', '1ZB'].map((tracking_number) => ({
    ...{ carrier: 'UPS', tracking_number, status: 'in_transit', estimated_delivery_date: null },
    checkpoints: [],
  })),
  items: [],
};

const result = (product_id: string, more: Json): Json => ({
  ...{ product_id, title: `Product ${product_id}`, image: null, brand: null, price: 1000 },
  ...{ currency_code: 'USD', stars: 4, num_reviews: 3, num_offers_estimate: 1, ship_price: 0 },
  ...{ available: true, url: `https://www.shop.example/p/${product_id}`, variant_id: null, ...more },
});

/** Every further field of a search result, and results without them. */
export const searchResults = [
  result('A1', {
    ...{ addon: true, available_instore: true, available_online: false, buyapi_hint: true },
    ...{ first_party_seller: true, freight_shipping: true, fresh: false, mpn: 'M-1', num_sales: 7 },
    ...{ pantry: false, preorder: true, prime: true, product_details: ['Blue'], upc: '012345678905' },
  }),
  result('A2', { buyapi_hint: false }),
  result('A3', {}),
];

export async function serviceToday(): Promise<ServiceToday> {
  const made = new Map<string, Json>();
  const paid = new Set<string>();
  let payUrl: unknown;
  let demands = false;
  const create = (body: string): [unknown, number] => {
    const order: Json = JSON.parse(body);
    const key = String(order.idempotency_key);
    const before = made.get(key);
    if (before)
      return [error('already_exists', 'There is one.', { resource: 'order', identifier: before.id }), 409];
    if (demands && !paid.has(key))
      return [error('payment_required', 'Pay for this order first.', { pay_url: payUrl }), 402];
    const id = `33333333-3333-4333-8333-${String(made.size + 1).padStart(12, '0')}`;
    const [line] = Object(order.products);
    const { max_price, metadata } = order;
    const created_at = new Date().toISOString();
    made.set(
      key,
      orderRecord(id, { created_at, max_price, metadata, status: 'pending', items: [item(teaId, line.url)] }),
    );
    return [made.get(key), 201];
  };
  const respond = ({ method, target, body }: Received): [unknown, number?, Record<string, string>?] => {
    const { pathname } = new URL(target, 'http://x');
    if (method === 'POST' && pathname === '/orders') return create(body);
    if (pathname.startsWith('/agent/'))
      return [{ error: 'Payment required' }, 402, { 'PAYMENT-REQUIRED': x402 }];
    if (pathname === '/products/search')
      return [{ status: 'completed', results: searchResults, next_page: null }];
    if (pathname === `/track/${orderIds.parcels}`) return [track];
    const orders = [rejected, inParcels, ...made.values()];
    const found = orders.find(({ id }) => pathname === `/orders/${id}`);
    if (found) return [found];
    if (pathname === '/orders') return [{ orders, total: orders.length, limit: 50, offset: 0 }];
    if (pathname === '/wallet/me')
      return [{ id: '1', balance: 100_000, spendable_balance: 100_000, order_fee_cents: 100 }];
    if (pathname === '/users')
      return [{ id: '1', webhook_url: JSON.parse(body).webhook_url, webhook_secret: secret }];
    return [error('not_found', 'There is none.', {}), 404];
  };
  const there = await peer((response, request, socket) =>
    json(...respond(request))(response, request, socket),
  );
  return {
    ...there,
    made,
    demandPayment(url) {
      demands = true;
      payUrl = url;
    },
    pay: (key) => void paid.add(key),
  };
}

const error = (code: string, message: string, details: Json): Json => ({ code, message, details });

const x402 = Buffer.from(
  JSON.stringify({
    ...{ x402Version: 2, error: 'PAYMENT-SIGNATURE header is required', resource: { url: '/agent/orders' } },
    accepts: [
      {
        ...{ scheme: 'exact', network: 'eip155:84532', amount: '5100000', maxTimeoutSeconds: 60 },
        ...{ asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', payTo: `0x${'1'.repeat(40)}`, extra: {} },
      },
    ],
  }),
).toString('base64');

/** What registering an address answers as `webhook_secret`. */
export const secret = 'whsec_0123456789abcdef0123456789abcdef';

/** The headers and the raw body of an event in an envelope. @param event also the header `X-Webhook-Event`. */
export function signedEvent(event: string, more: Json = {}, key = secret) {
  const body = JSON.stringify({
    ...{ event, order_id: orderIds.parcels, status: 'order_placed', timestamp: time, data: {} },
    ...more,
  });
  const headers = {
    'content-type': 'application/json',
    'x-webhook-event': event,
    'x-webhook-signature': createHmac('sha256', key).update(body).digest('hex'),
  };
  return { headers, body };
}

/** An order of one product at this service. */
export const todaysOrder = orderBody(tea);

/** A workspace with a key of the service. */
export const workspaceAt = ({ url }: ServiceToday): Workspace =>
  makeWorkspace({ ERRAND_API_KEY: 'xx_test_0123456789abcdef0123', ERRAND_BASE_URL: url });
