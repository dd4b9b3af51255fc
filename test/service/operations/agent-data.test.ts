import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { challengeFor, challengesOf, credentialOf, decoded, pay, sendPaid } from '../../support/payer.ts';
import { TestService } from '../../support/service.ts';

let service: TestService;
let product: { product_id: string; retailer: string };
beforeAll(async () => {
  service = await TestService.start();
  const { body } = await service.send('GET', '/products/search?query=coffee&retailer=harborgoods');
  product = { product_id: body.results[0].product_id, retailer: 'harborgoods' };
});
afterAll(async () => {
  await service.stop();
  expect(service.bugs).toEqual([]);
});

const free = (target: string) => service.send('GET', target);
const paidCall = async (target: string, body: unknown) => (await pay(service, target, body)).response;

describe('agent data calls', () => {
  test.each([
    ['/agent/search', () => ({ q: 'coffee' })],
    ['/agent/products/search', () => ({ query: 'coffee', retailer: 'harborgoods' })],
    ['/agent/products/offers', () => product],
    ['/agent/products/details', () => product],
  ])('%s costs one cent, by each method, and gives a receipt', async (target, body) => {
    const requested = await sendPaid(service, target, body());
    expect(requested.status).toBe(402);
    expect(challengesOf(requested).map(({ request }) => decoded(request).amount)).toEqual([
      '1',
      '1',
      '1',
      '1',
    ]);
    const response = await sendPaid(service, target, body(), credentialOf(challengeFor(requested)));
    expect(response.status).toBe(200);
    expect(response.body.status).toBe('completed');
    expect(decoded(response.headers.get('payment-receipt'))).toMatchObject({
      status: 'success',
      amount: '1',
    });
    expect(response.headers.get('x-api-key')).toBeNull();
  });

  test('/agent/search responds as /search does, with limit, retailer and sort in the query', async () => {
    const query = 'limit=3&retailer=harborgoods&sort=price_asc';
    const { body } = await paidCall(`/agent/search?${query}`, {
      q: 'coffee',
      min_price: 500,
      max_price: 2500,
    });
    expect(body).toEqual((await free(`/search?q=coffee&min_price=500&max_price=2500&${query}`)).body);
    expect(body.results.length).toBeGreaterThan(0);
  });

  test('a term of another type in the body is said once, where it stands', async () => {
    const { status, body } = await service.send('POST', '/agent/search', { q: 1 }, null);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }: { loc: unknown }) => loc)).toEqual([['body', 'q']]);
  });

  test('/agent/search finds URLs that can be passed straight to /agent/orders', async () => {
    const { body } = await paidCall('/agent/search?limit=1', { q: 'coffee' });
    const response = await paidCall('/agent/orders', {
      ...orderBody(body.results[0].url),
      max_price: 900_000,
    });
    expect(response.status).toBe(201);
    expect(response.body.items[0].url).toBe(body.results[0].url);
  });

  test('/agent/products/search responds as /products/search does, page and free_shipping included', async () => {
    const requested = { query: 'coffee', retailer: 'harborgoods', page: 2 };
    expect((await paidCall('/agent/products/search', requested)).body).toEqual(
      (await free('/products/search?query=coffee&retailer=harborgoods&page=2')).body,
    );
    const wanted = (await free('/products/search?query=coffee&retailer=harborgoods&free_shipping=true')).body;
    const { page: _, ...first } = requested;
    expect((await paidCall('/agent/products/search', { ...first, free_shipping: true })).body).toEqual(
      wanted,
    );
    expect((await paidCall('/agent/products/search?free_shipping=true', first)).body).toEqual(wanted);
  });

  test('/agent/products/details and offers respond as their accounts’ siblings do', async () => {
    const { product_id, retailer } = product;
    const details = await free(`/products/${product_id}?retailer=${retailer}`);
    expect((await paidCall('/agent/products/details', product)).body).toEqual(details.body);
    const offers = await free(`/products/${product_id}/offers?retailer=${retailer}`);
    expect((await paidCall('/agent/products/offers', product)).body).toEqual(offers.body);
  });

  test.each([
    ['/agent/products/search', { query: 'coffee', retailer: 'nowhere' }, 'unsupported_retailer'],
    ['/agent/products/details', { product_id: 'x', retailer: 'nowhere' }, 'unsupported_retailer'],
    ['/agent/products/offers', { product_id: 'x', retailer: 'morningroast.example' }, 'bad_request'],
    [
      '/agent/products/details',
      { product_id: 'x', retailer: 'morningroast.example', async: true },
      'bad_request',
    ],
  ])('%s of %j is refused as %s before it is paid', async (target, body, code) => {
    const refused = await sendPaid(service, target, body);
    expect([refused.status, refused.body.code]).toEqual([400, code]);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });

  test.each([
    ['/agent/search', {}],
    ['/agent/search', { q: '' }],
    ['/agent/search', { q: 'coffee', limit: '3' }],
    ['/agent/search', { q: 'coffee', colour: 'red' }],
    ['/agent/search', { q: 'coffee', limit: 101 }],
    ['/agent/search?limit=0', { q: 'coffee' }],
    ['/agent/search?retailer=nowhere', { q: 'coffee' }],
    ['/agent/products/search', { query: 'coffee' }],
    ['/agent/products/offers', { product_id: 'x' }],
    ['/agent/products/details', { product_id: 'x', retailer: 'harborgoods', max_age: 60, newer_than: 1 }],
    ['/agent/products/details', { product_id: 'x', retailer: 'harborgoods', max_age: 30 }],
  ])('%s with %j is a 422 before any challenge', async (target, body) => {
    const refused = await sendPaid(service, target, body);
    expect(refused.status).toBe(422);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });

  test('a credential pays one data call: its replay is refused, the same body or not', async () => {
    const { authorization, response } = await pay(service, '/agent/search', { q: 'coffee' });
    expect(response.status).toBe(200);
    for (const body of [{ q: 'coffee' }, { q: 'tea' }]) {
      const again = await sendPaid(service, '/agent/search', body, authorization);
      expect(again.status).toBe(402);
      expect(again.body).toMatchObject({ code: 'invalid_payment_method', title: 'Invalid Challenge' });
      expect(again.headers.get('payment-receipt')).toBeNull();
    }
  });

  test('of ten calls at once with one credential one is served', async () => {
    const requested = await sendPaid(service, '/agent/products/details', product);
    const authorization = credentialOf(challengeFor(requested));
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => sendPaid(service, '/agent/products/details', product, authorization)),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(402)]);
  });

  test('the cent of a data call pays no order', async () => {
    const authorization = credentialOf(
      challengeFor(await sendPaid(service, '/agent/search', { q: 'coffee' })),
    );
    const order = orderBody(service.product('test-success'));
    const response = await sendPaid(service, '/agent/orders', order, authorization);
    expect([response.status, response.body.code]).toEqual([402, 'invalid_payment_method']);
  });
});
