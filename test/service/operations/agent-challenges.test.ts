import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import {
  approval,
  challengeFor,
  challengesOf,
  credentialOf,
  decoded,
  encoded,
  pay,
  sendPaid,
} from '../../support/payer.ts';
import { type ServiceResponse, TestService } from '../../support/service.ts';
import { exchange } from '../server/socket.ts';

const problem = (name: string): string => `https://paymentauth.org/problems/${name}`;

describe('payment challenges', () => {
  let service: TestService;
  let body: ReturnType<typeof orderBody>;
  beforeEach(async () => {
    service = await TestService.start();
    body = orderBody(service.product('test-success'));
  });
  afterEach(async () => {
    expect(service.bugs).toEqual([]);
    await service.stop();
  });

  const send = (more: Record<string, unknown> = {}, authorization?: string, target = '/agent/orders') =>
    sendPaid(service, target, { ...body, ...more }, authorization);

  /** Expects a 402 with challenges that could be paid now. */
  const expectUnpaid = (response: ServiceResponse, name: string, code: string): void => {
    expect(response.status).toBe(402);
    expect(response.body).toMatchObject({ type: problem(name), status: 402, code });
    expect(challengesOf(response)).toHaveLength(4);
  };

  test('an unpaid order returns 402 with one challenge for each method', async () => {
    const response = await send();
    expect(response.status).toBe(402);
    expect(challengesOf(response).map(({ method }) => method)).toEqual([
      'sandbox',
      'stripe',
      'tempo',
      'x402',
    ]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const [first] = challengesOf(response);
    expect(first).toMatchObject({ realm: new URL(service.baseUrl).host, intent: 'charge' });
    expect(Date.parse(first?.expires ?? '')).toBe(Date.parse('2026-03-01T12:05:00Z'));
    expect(first?.digest).toBe(
      `sha-256=:${createHash('sha256').update(JSON.stringify(body)).digest('base64')}:`,
    );
  });

  test('each challenge stands in a header line of its own', async () => {
    const request = `POST /agent/orders HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`;
    const lines = (await exchange(service.baseUrl, request)).split('\r\n');
    expect(lines.filter((line) => /^www-authenticate: Payment id="/i.test(line))).toHaveLength(4);
  });

  test('every challenge of an order asks for max_price and 100 cents, in canonical JSON', async () => {
    for (const { request } of challengesOf(await send({ max_price: 4200 }))) {
      const requested = decoded(request);
      expect(requested).toMatchObject({ amount: '4300', currency: 'usd' });
      expect(requested.recipient).toEqual(expect.any(String));
      expect(Object.keys(requested)).toEqual(Object.keys(requested).toSorted());
      expect(request).not.toMatch(/[=+/]/);
    }
  });

  test('the body of a 402 is a problem and the error body in one', async () => {
    const response = await send();
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.body).toEqual({
      type: problem('payment-required'),
      title: 'Payment Required',
      status: 402,
      detail: expect.any(String),
      challengeId: challengesOf(response)[0]?.id,
      code: 'payment_method_required',
      message: response.body.detail,
      details: { methods: ['sandbox', 'stripe', 'tempo', 'x402'], amount: '5100', currency: 'usd' },
    });
  });

  test('method narrows the challenge to one; an unknown one is refused with the list of methods', async () => {
    expect(
      challengesOf(await send({}, undefined, '/agent/orders?method=x402')).map(({ method }) => method),
    ).toEqual(['x402']);
    const { status, body: refused } = await send({}, undefined, '/agent/orders?method=gold');
    expect(status).toBe(400);
    expect(refused).toMatchObject({
      code: 'bad_request',
      details: { methods: ['sandbox', 'stripe', 'tempo', 'x402'] },
    });
  });

  test('only the configured methods are advertised and taken', async () => {
    const paid = credentialOf(challengeFor(await send(), 'stripe'), { spt: 'spt_1' });
    expect((await send({}, paid)).status).toBe(201);
    const other = await TestService.start({ config: { paymentMethods: ['stripe'] } });
    const response = await sendPaid(other, '/agent/orders', orderBody(other.product('test-success')));
    expect(challengesOf(response).map(({ method }) => method)).toEqual(['stripe']);
    await other.stop();
  });

  test.each([
    '/agent/orders',
    '/agent/search',
    '/agent/products/search',
    '/agent/products/offers',
    '/agent/products/details',
  ])('a probe of %s, with no body, gets the lenient 402', async (target) => {
    const response = await service.send('POST', target, undefined, null);
    expectUnpaid(response, 'payment-required', 'payment_method_required');
    expect(challengesOf(response).every(({ digest }) => digest === undefined)).toBe(true);
  });

  test('a probe that is paid is told what is missing, and of no other challenge', async () => {
    for (const path of ['/agent/orders', '/agent/search', '/agent/products/details']) {
      const probe = await service.send('POST', path, undefined, null);
      expect(probe.status).toBe(402);
      const authorization = credentialOf(challengeFor(probe));
      const paid = await service.send('POST', path, undefined, null, { authorization });
      expect([paid.status, paid.headers.get('www-authenticate')], paid.text).toEqual([422, null]);
    }
  });

  test('the challenge of a probe pays no order', async () => {
    const probed = challengeFor(await service.send('POST', '/agent/orders', undefined, null));
    expectUnpaid(await send({}, credentialOf(probed)), 'verification-failed', 'payment_failed');
  });

  test.each([
    ['malformed JSON', '{"products":'],
    ['an array', '[]'],
    ['a text', '"order"'],
    ['an empty object', '{}'],
    ['a field there is none of', JSON.stringify({ ...orderBody('https://a.example/x'), colour: 'red' })],
  ])('a body that is %s is refused with 422 before any challenge', async (_, raw) => {
    const response = await sendPaid(service, '/agent/orders', raw);
    expect(response.status).toBe(422);
    expect(response.body.detail.length).toBeGreaterThan(0);
    expect(response.headers.get('www-authenticate')).toBeNull();
  });

  test('an invalid body is refused with 422 before a credential is honored', async () => {
    const paid = credentialOf(challengeFor(await send()));
    expect((await sendPaid(service, '/agent/orders', { ...body, max_price: -1 }, paid)).status).toBe(422);
    expect((await send({}, paid)).status).toBe(201);
  });

  test('another scheme of authorization is no payment', async () => {
    expectUnpaid(await send({}, `Bearer ${service.key}`), 'payment-required', 'payment_method_required');
  });

  test.each([
    'Payment',
    'Payment !!',
    'Payment e30',
    `Payment ${encoded({ challenge: { id: 1 }, payload: {} })}`,
  ])('the credential "%s" is malformed', async (authorization) => {
    expectUnpaid(await send({}, authorization), 'malformed-credential', 'invalid_payment_method');
  });

  test.each(['id', 'realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'])(
    'a challenge whose %s was changed is refused',
    async (name) => {
      const challenge = challengeFor(await send());
      const changed = { ...challenge, [name]: `${challenge[name]}x` };
      expectUnpaid(await send({}, credentialOf(changed)), 'invalid-challenge', 'invalid_payment_method');
      const { [name]: _, ...without } = challenge;
      expect((await send({}, credentialOf(without))).status).toBe(402);
    },
  );

  test('a challenge whose amount was lowered is refused', async () => {
    const challenge = challengeFor(await send());
    const request = encoded({ ...decoded(challenge.request), amount: '1' });
    const response = await send({}, credentialOf({ ...challenge, request }));
    expectUnpaid(response, 'invalid-challenge', 'invalid_payment_method');
  });

  test('a challenge pays the body that it was issued for, and no other', async () => {
    const paid = credentialOf(challengeFor(await send()));
    expectUnpaid(await send({ max_price: 9000 }, paid), 'verification-failed', 'payment_failed');
    expectUnpaid(await send({ po_number: 'other' }, paid), 'verification-failed', 'payment_failed');
    expect((await send({}, paid)).status).toBe(201);
  });

  test('a challenge pays the endpoint that it was issued for, and no other of the same price and body', async () => {
    const product = { product_id: 'B000000000', retailer: 'nowhere' };
    const { body: found } = await service.send('GET', '/retailers?limit=1');
    const requested = { ...product, retailer: found.retailers[0].retailer };
    const offered = challengeFor(await sendPaid(service, '/agent/products/offers', requested));
    const response = await sendPaid(service, '/agent/products/details', requested, credentialOf(offered));
    expectUnpaid(response, 'invalid-challenge', 'invalid_payment_method');
  });

  test('a challenge can be paid for five minutes', async () => {
    const paid = credentialOf(challengeFor(await send()));
    service.pass(5 * 60_000);
    const late = await send({}, paid);
    expectUnpaid(late, 'payment-expired', 'payment_failed');
    service.pass(5 * 60_000 - 1);
    expect((await send({}, credentialOf(challengeFor(late)))).status).toBe(201);
  });

  test('who asks the same at the same time gets a challenge of their own', async () => {
    const requested = await Promise.all([send(), send()]);
    const paid = await Promise.all(
      requested.map((challenged) => send({}, credentialOf(challengeFor(challenged)))),
    );
    expect(paid.map(({ status }) => status)).toEqual([201, 201]);
    expect(paid[0]?.body.id).not.toBe(paid[1]?.body.id);
  });

  test('a payment can be declined, which is refused and leaves the challenge payable', async () => {
    const challenge = challengeFor(await send());
    const declined = await send({}, credentialOf(challenge, { type: 'sandbox', authorization: 'decline' }));
    expectUnpaid(declined, 'verification-failed', 'payment_failed');
    expect((await send({}, credentialOf(challenge))).status).toBe(201);
  });

  test.each([
    ['sandbox', { type: 'sandbox' }, approval],
    ['stripe', { token: 'x' }, { spt: 'spt_test' }],
    ['tempo', { type: 'hash', hash: '0x12' }, { type: 'transaction', signature: '0xab' }],
    ['x402', { signature: '0xab' }, { signature: '0xab', authorization: { from: '0x1' } }],
  ])(
    '%s takes a proof of its own form only, and its receipt says that it was simulated',
    async (method, bad, good) => {
      const refused = await pay(service, '/agent/orders', body, method, bad);
      expectUnpaid(refused.response, 'invalid-payload', 'invalid_payment_method');
      const { response } = await pay(service, '/agent/orders', body, method, good);
      expect(response.status).toBe(201);
      expect(decoded(response.headers.get('payment-receipt'))).toMatchObject({ method, simulated: true });
    },
  );

  test('a challenge that another store issued is refused', async () => {
    const other = await TestService.start();
    const paid = credentialOf(challengeFor(await send()));
    const response = await sendPaid(other, '/agent/orders', body, paid);
    expect(response.body).toMatchObject({ type: problem('invalid-challenge') });
    await other.stop();
  });

  test('the opaque part is taken decoded too, as clients of an older draft repeat it', async () => {
    const challenge = challengeFor(await send());
    const echoed = { ...challenge, opaque: decoded(challenge.opaque) };
    expect((await send({}, credentialOf(echoed))).status).toBe(201);
  });
});
