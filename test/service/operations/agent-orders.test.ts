import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkShape } from '../../../src/api/schemas/check.ts';
import { makeFolder } from '../../support/folder.ts';
import { orderBody } from '../../support/order-body.ts';
import { challengeFor, credentialOf, decoded, pay, sendPaid } from '../../support/payer.ts';
import { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

describe('orders that are paid by challenge', () => {
  let service: TestService;
  startedForEach((started) => {
    service = started;
  });

  const bodyOf = (slug = 'test-success', more: Record<string, unknown> = {}) => ({
    ...orderBody(service.product(slug)),
    idempotency_key: 'k1',
    ...more,
  });
  const order = (slug?: string, more?: Record<string, unknown>) =>
    pay(service, '/agent/orders', bodyOf(slug, more));
  const send = (body: unknown, authorization?: string) =>
    sendPaid(service, '/agent/orders', body, authorization);

  test('a paid order returns 201 with the order record of the contract’s shape', async () => {
    const { response } = await order();
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({ status: 'pending', max_price: 5000, created_by: null });
    expect(checkShape('OrderResponse', response.body, 'response').issues).toBeUndefined();
  });

  test('Payment-Receipt names the method, the payment and its time', async () => {
    const { response, authorization } = await order();
    const { challenge } = decoded(authorization.slice('Payment '.length));
    expect(response.headers.get('cache-control')).toBe('private');
    expect(decoded(response.headers.get('payment-receipt'))).toEqual({
      method: 'sandbox',
      reference: expect.stringMatching(/^pay_\w{24}$/),
      status: 'success',
      timestamp: '2026-03-01T12:00:00.000Z',
      challengeId: challenge.id,
      amount: '5100',
      currency: 'usd',
      simulated: true,
    });
  });

  test('X-Api-Key reads the order and its timeline, and nothing else', async () => {
    const { response } = await order();
    const key = response.headers.get('x-api-key') ?? '';
    const { id } = response.body;
    service.pass(3000);
    expect((await service.send('GET', `/orders/${id}`, undefined, key)).body.status).toBe('order_placed');
    expect((await service.send('GET', `/orders/${id}/timeline`, undefined, key)).body.order_id).toBe(id);
    const other = (await order('test-success', { idempotency_key: 'k2' })).response.body.id;
    expect((await service.send('GET', `/orders/${other}`, undefined, key)).status).toBe(404);
    expect((await service.send('GET', `/orders/${other}/timeline`, undefined, key)).status).toBe(404);
    for (const [method, target, body] of [
      ['GET', '/orders'],
      ['GET', '/wallet/me'],
      ['GET', '/usage'],
      ['POST', `/orders/${id}/cancel`],
      ['POST', '/orders', bodyOf()],
    ] as const) {
      const refused = await service.send(method, target, body, key);
      expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    }
  });

  test.each([
    ['test-success', ['3001']],
    ['test-out-of-stock', ['5100']],
    ['test-cancelled-by-retailer', ['3001', '2099']],
  ])('what goes back of %s stands in the receipt and in the record', async (slug, amounts) => {
    const { response } = await order(slug);
    const read = () =>
      service.send('GET', `/orders/${response.body.id}`, undefined, response.headers.get('x-api-key'));
    const receipt = async () => decoded((await read()).headers.get('payment-receipt'));
    expect(await receipt()).toEqual(decoded(response.headers.get('payment-receipt')));
    service.pass(20_000);
    const { refunds, reference } = await receipt();
    expect(refunds.map(({ amount, currency }: Record<string, string>) => [amount, currency])).toEqual(
      amounts.map((amount) => [amount, 'usd']),
    );
    const { body } = await read();
    expect(body.job_result.refunds).toEqual(refunds);
    expect(reference).toBe(decoded(response.headers.get('payment-receipt')).reference);
    expect(checkShape('OrderResponse', body, 'response').issues).toBeUndefined();
  });

  test('the order is nobody else’s: another key finds it in no list', async () => {
    const { id } = (await order()).response.body;
    expect((await service.send('GET', `/orders/${id}`)).status).toBe(404);
    expect((await service.send('GET', '/orders')).body.total).toBe(0);
    expect((await service.send('GET', '/wallet/me')).body.balance).toBe(100_000);
  });

  test.each([
    ['test-invalid-address', 400, 'invalid_shipping_address'],
    ['test-url-unreachable', 400, 'url_unreachable'],
    ['test-insufficient-funds', 402, 'insufficient_funds'],
  ])('%s is refused before a challenge is issued', async (slug, status, code) => {
    const refused = await send(bodyOf(slug));
    expect(refused.status).toBe(status);
    expect(refused.body.code).toBe(code);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });

  test('what no payment buys is refused before a challenge is issued', async () => {
    const nowhere = await send({ ...bodyOf(), products: [{ url: 'https://giftcards.example/1' }] });
    expect(nowhere.body.code).toBe('unsupported_retailer');
    const card = await send(bodyOf('test-success', { payment: { mode: 'card' } }));
    expect([card.status, card.body.code]).toEqual([400, 'bad_request']);
    const account = await send(bodyOf('test-success', { retailer_credentials_id: 'acc_1' }));
    expect([account.status, account.body.code]).toEqual([400, 'bad_request']);
    const huge = await send(bodyOf('test-success', { max_price: Number.MAX_SAFE_INTEGER }));
    expect(huge.body.detail[0].loc).toEqual(['body', 'max_price']);
  });

  test('a paid request that is repeated names its order and gives receipt and key again', async () => {
    const { response, authorization } = await order();
    service.pass(3_600_000);
    const again = await send(bodyOf(), authorization);
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      code: 'already_exists',
      details: { resource: 'order', identifier: response.body.id },
    });
    for (const name of ['payment-receipt', 'x-api-key'])
      expect(again.headers.get(name)).toBe(response.headers.get(name));
    const key = again.headers.get('x-api-key');
    expect((await service.send('GET', `/orders/${response.body.id}`, undefined, key)).status).toBe(200);
  });

  test('a paid request without an idempotency_key is found again in the same way', async () => {
    const body = orderBody(service.product('test-success'));
    const { response, authorization } = await pay(service, '/agent/orders', body);
    const again = await send(body, authorization);
    expect([again.status, again.body.details.identifier]).toEqual([409, response.body.id]);
  });

  test('a used credential with another body is refused, and tells nothing of the order', async () => {
    const { authorization } = await order();
    const other = await send(bodyOf('test-success', { idempotency_key: 'k2' }), authorization);
    expect(other.status).toBe(402);
    expect(other.body).toMatchObject({
      type: 'https://paymentauth.org/problems/invalid-challenge',
      code: 'invalid_payment_method',
    });
    expect(other.headers.get('x-api-key')).toBeNull();
    expect(other.headers.get('www-authenticate')).toContain('Payment id=');
  });

  test('a used challenge with another proof is refused no less, and its tampered copy too', async () => {
    const { response, authorization } = await order();
    const { challenge } = decoded(authorization.slice('Payment '.length));
    const other = await send(bodyOf(), credentialOf({ ...challenge, id: 'x' }));
    expect([other.status, other.headers.get('x-api-key')]).toEqual([402, null]);
    expect(response.status).toBe(201);
  });

  test('an idempotency_key that made an order is refused before anything is paid', async () => {
    const { response } = await order();
    const same = await send(bodyOf());
    expect(same.status).toBe(409);
    expect(same.body.details).toEqual({ resource: 'order', identifier: response.body.id });
    expect(same.headers.get('x-api-key')).toBeNull();
    const other = await send(bodyOf('test-success', { max_price: 1 }));
    expect([other.status, other.body.details]).toEqual([409, { resource: 'order' }]);
  });

  test('twenty sends of one credential at once make one order', async () => {
    const authorization = credentialOf(challengeFor(await send(bodyOf())));
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(bodyOf(), authorization)));
    const made = responses.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const { status, body } of responses.filter((response) => !made.includes(response)))
      expect([status, body.details.identifier]).toEqual([409, made[0]?.body.id]);
  });

  test('two payments for one idempotency_key at once make one order, and the other is not taken', async () => {
    const unpaid = await Promise.all([send(bodyOf()), send(bodyOf())]);
    const responses = await Promise.all(
      unpaid.map((challenged) => send(bodyOf(), credentialOf(challengeFor(challenged)))),
    );
    expect(responses.map((response) => response.status).toSorted()).toEqual([201, 409]);
  });

  test('a second process of the store honors its challenges, and finds its orders by their credential', async () => {
    const folder = makeFolder();
    const file = join(folder.path, 'sandbox.db');
    const [first, second] = [await TestService.start({ file }), await TestService.start({ file })];
    const body = orderBody(first.product('test-success'));
    const authorization = credentialOf(challengeFor(await sendPaid(first, '/agent/orders', body)));
    const made = await sendPaid(second, '/agent/orders', body, authorization);
    expect(made.status).toBe(201);
    const again = await sendPaid(first, '/agent/orders', body, authorization);
    expect(again.headers.get('x-api-key')).toBe(made.headers.get('x-api-key'));
    await Promise.all([first.stop(), second.stop()]);
    folder.remove();
  });
});
