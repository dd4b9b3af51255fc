import type { pageRows } from '../../src/sandbox/console/routes.ts';
import { orderBody, rowBody } from '../support/order-body.ts';
import { pay } from '../support/payer.ts';
import { Receiver } from '../support/receiver.ts';
import type { TestService } from '../support/service.ts';

type Row = Extract<(typeof pageRows)[number], { GET: string }>;

/** A URL for each page of a sandbox with plenty of activity; excludes images. */
type Addresses = Readonly<Record<Exclude<Row['path'], '/track/{order_id}/proof/{number}'>, string>>;

/** Creates a bit of everything. @param text used in every free-text field. */
export async function happen(service: TestService, text = 'plain'): Promise<Addresses> {
  const receiver = await Receiver.start();
  receiver.reply = ({ event }) => ({ status: event === 'request_succeeded' ? 500 : 200 });
  try {
    service.key = await service.mint({ name: text, email: 'ada@example.com' });
    await service.send('POST', '/users', { webhook_url: receiver.at('/hook?secret=1') });
    const { status, body: order } = await service.order('test-two-packages', {
      po_number: text,
      gift_message: text,
      is_gift: true,
      metadata: { team: text },
      idempotency_key: 'first',
    });
    if (status !== 201) throw new Error(JSON.stringify(order));
    const failed = (await service.order('test-out-of-stock')).body;
    await service.order('test-slow');
    const account = {
      email: 'grace@example.com',
      password: 'hunter2hunter2',
      retailer_config: { note: text },
    };
    await service.send('POST', '/managed-accounts', account);
    const paid = { ...orderBody(service.product('test-success')), idempotency_key: 'paid' };
    await pay(service, '/agent/orders', paid);
    const rows = [rowBody(service.product('test-success')), { ...rowBody(text), note: text }];
    await service.send('POST', '/orders/bulk', { filename: `${text}.csv`, rows });
    service.pass(20_000);
    const { items } = (await service.send('GET', `/orders/${order.id}`)).body;
    const units = [{ order_item_id: items[0].id, quantity: 1 }];
    await service.send('POST', '/returns', { order_id: order.id, items: units, reason: 'damaged' });
    service.pass(20_000);
    await service.send('GET', `/orders/${failed.id}`);
    await service.send('GET', `/${encodeURIComponent(text)}?${encodeURIComponent(text)}`);
    await receiver.until(3);
    const idOn = async (path: string, form: RegExp): Promise<string> =>
      form.exec((await service.send('GET', path, undefined, null, { accept: 'text/html' })).text)?.[1] ?? '';
    const delivery = await idOn('/console/deliveries', /deliveries\/([\w-]+)\/edit/);
    const user = await idOn(`/console/orders/${order.id}`, /wallets\/([\w-]+)/);
    const minted = (await service.send('POST', '/sandbox/keys', {}, null)).body;
    return {
      '/': '/',
      '/console': '/console',
      '/console/search': `/console/search?q=${encodeURIComponent(text.slice(0, 40))}`,
      '/console/wallets': '/console/wallets',
      '/console/orders': '/console/orders?status=order_failed&user=ada',
      '/console/orders/{id}': `/console/orders/${order.id}`,
      '/console/batches': '/console/batches',
      '/console/batches/{id}': `/console/batches/${await idOn('/console/batches', /id="batch-([\w-]+)"/)}?status=failed`,
      '/console/returns': '/console/returns',
      '/console/returns/{id}': `/console/returns/${await idOn('/console/returns', /id="return-([\w-]+)"/)}`,
      '/console/accounts': '/console/accounts',
      '/console/accounts/{id}': `/console/accounts/${await idOn('/console/accounts', /id="account-([\w-]+)"/)}`,
      '/console/payments': '/console/payments',
      '/console/payments/{reference}': `/console/payments/${await idOn('/console/payments', /id="payment-([\w-]+)"/)}`,
      '/console/deliveries': '/console/deliveries',
      '/console/deliveries/compare': `/console/deliveries/compare?id=${delivery}&id=${await idOn('/console/deliveries', /id="delivery-([\w-]+)"/)}`,
      '/console/requests/compare': '/console/requests/compare?number=3&number=4',
      '/console/deliveries/{id}/edit': `/console/deliveries/${delivery}/edit`,
      '/console/wallets/{id}': `/console/wallets/${user}`,
      '/console/deliveries/{id}': `/console/deliveries/${delivery}`,
      '/console/requests': '/console/requests?class=4xx',
      '/console/requests/{number}': '/console/requests/3',
      '/console/keys': '/console/keys',
      '/console/time': '/console/time?left=3600000',
      '/console/faults': '/console/faults',
      '/claim/{token}': new URL(minted.claim_url).pathname,
      '/device': '/device',
      '/shop': '/shop',
      '/shop/{slug}': '/shop/test-quantity-limit',
      '/track/{order_id}': `/track/${order.id}`,
    };
  } finally {
    await receiver.stop();
  }
}

/** Further pages: empty ones and missing ones. */
export const emptyPages = [
  '/console/orders/none',
  '/nowhere/at/all',
  '/shop/nothing',
  '/console/orders?id=none',
];
