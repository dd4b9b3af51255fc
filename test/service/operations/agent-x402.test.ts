import { afterEach, beforeEach, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { type ServiceResponse, TestService } from '../../support/service.ts';

const nowS = Date.parse('2026-03-01T12:00:00Z') / 1000;

let service: TestService;
let order: Record<string, unknown>;

beforeEach(async () => {
  service = await TestService.start({ config: { paymentSchemes: ['x402'] } });
  order = { ...orderBody(service.product('test-success')), idempotency_key: 'k1' };
});
afterEach(async () => {
  expect(service.bugs).toEqual([]);
  await service.stop();
});

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const decoded = (response: ServiceResponse, name: string) => {
  const header = response.headers.get(name);
  return header === null ? undefined : JSON.parse(Buffer.from(header, 'base64').toString());
};
const send = (payment?: unknown, body: unknown = order, target = '/agent/orders'): Promise<ServiceResponse> =>
  service.send(
    'POST',
    target,
    body,
    null,
    payment === undefined ? {} : { 'payment-signature': encoded(payment) },
  );

/** A payment of what a response offers. */
function paymentOf(response: ServiceResponse, change: Record<string, unknown> = {}, nonce = 'a') {
  const [accepted] = decoded(response, 'payment-required').accepts;
  const authorization = {
    ...{ from: `0x${'1'.repeat(40)}`, to: accepted.payTo, value: accepted.amount },
    ...{ validAfter: String(nowS - 60), validBefore: String(nowS + 300), nonce: `0x${nonce.repeat(64)}` },
    ...change,
  };
  return { x402Version: 2, accepted, payload: { signature: '0xab', authorization } };
}

test('an unpaid order is offered by PAYMENT-REQUIRED alone, and the payment is told by PAYMENT-RESPONSE', async () => {
  const unpaid = await send();
  expect([unpaid.status, unpaid.headers.get('www-authenticate')]).toEqual([402, null]);
  expect(decoded(unpaid, 'payment-required')).toMatchObject({
    x402Version: 2,
    resource: { url: `${service.baseUrl}/agent/orders` },
    accepts: [
      { scheme: 'exact', network: 'eip155:84532', amount: '51000000', maxTimeoutSeconds: 300, extra: {} },
    ],
  });
  const paid = await send(paymentOf(unpaid));
  expect(paid.status, paid.text).toBe(201);
  expect(decoded(paid, 'payment-response')).toEqual({
    ...{ success: true, network: 'eip155:84532', payer: `0x${'1'.repeat(40)}` },
    transaction: expect.stringMatching(/^pay_/),
  });
  const key = paid.headers.get('x-api-key');
  expect((await service.send('GET', `/orders/${paid.body.id}`, undefined, key)).status).toBe(200);
});

test('the same payment again names its order, with the same receipt and key, and buys no other', async () => {
  const payment = paymentOf(await send());
  const paid = await send(payment);
  const again = await send(payment);
  expect([again.status, again.body.details.identifier]).toEqual([409, paid.body.id]);
  for (const name of ['payment-response', 'x-api-key'])
    expect(again.headers.get(name)).toBe(paid.headers.get(name));
  const other = await send(payment, { ...order, idempotency_key: 'k2' });
  expect([other.status, other.body.code]).toEqual([402, 'invalid_payment_method']);
});

test.each<[string, (unpaid: ServiceResponse) => unknown, string]>([
  ['is not JSON', () => 'x', 'invalid_payment_method'],
  ['has another version', (unpaid) => ({ ...paymentOf(unpaid), x402Version: 1 }), 'invalid_payment_method'],
  ['has no nonce', (unpaid) => paymentOf(unpaid, { nonce: undefined }), 'invalid_payment_method'],
  ['pays less', (unpaid) => paymentOf(unpaid, { value: '50999999' }), 'invalid_payment_method'],
  [
    'pays somebody else',
    (unpaid) => paymentOf(unpaid, { to: `0x${'2'.repeat(40)}` }),
    'invalid_payment_method',
  ],
  [
    'accepts another requirement',
    (unpaid) => {
      const payment = paymentOf(unpaid);
      return { ...payment, accepted: { ...payment.accepted, amount: '1' } };
    },
    'payment_failed',
  ],
  ['has expired', (unpaid) => paymentOf(unpaid, { validBefore: String(nowS) }), 'payment_failed'],
  ['is not valid yet', (unpaid) => paymentOf(unpaid, { validAfter: String(nowS + 60) }), 'payment_failed'],
])('a payment that %s is refused, with another offer', async (_, payment, code) => {
  const refused = await send(payment(await send()));
  expect([refused.status, refused.body.code]).toEqual([402, code]);
  expect(decoded(refused, 'payment-required').accepts).toHaveLength(1);
});

test('a read is paid for in the same way, and a payment of one buys no other', async () => {
  const search = (payment?: unknown) => send(payment, { q: 'tea' }, '/agent/search');
  const payment = paymentOf(await search());
  const found = await search(payment);
  expect(found.status, found.text).toBe(200);
  expect((await search(payment)).status).toBe(402);
});
