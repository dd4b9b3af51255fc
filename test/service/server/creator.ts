/** Runs as a separate process: places orders in a store until killed, printing a line with the id of each. */
import { openSandbox } from '../../../src/sandbox/open.ts';
import { address } from '../../support/order-body.ts';

const [file = '', key = '', now = ''] = process.argv.slice(2);
const { handle } = await openSandbox({
  file,
  baseUrl: 'http://127.0.0.1:4848',
  now: () => Number(now),
  report: (error) => process.stdout.write(`bug ${error}\n`),
});
const body = new TextEncoder().encode(
  JSON.stringify({
    products: [{ url: 'http://127.0.0.1:4848/shop/test-slow' }],
    shipping_address: address,
    max_price: 0,
    metadata: { from: String(process.pid) },
  }),
);
for (;;) {
  const response = await handle({
    method: 'POST',
    target: '/orders',
    headers: { authorization: `Bearer ${key}` },
    body,
    remoteAddress: '',
  });
  process.stdout.write(`${response.status} ${JSON.parse(String(response.body)).id}\n`);
}
