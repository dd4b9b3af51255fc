import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { orderBody } from '../../../support/order-body.ts';
import { challengesOf, decoded, pay, sendPaid } from '../../../support/payer.ts';
import type { TestService } from '../../../support/service.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { agentEndpoints } from '../rows/endpoints.ts';
import { expectInvalid, expectRefusal, found, read } from '../scenes.ts';

const retailer = 'harborgoods';
/** Amounts requested by a response's challenges, cents. */
export const amounts = (response: Awaited<ReturnType<typeof sendPaid>>): string[] =>
  challengesOf(response).map(({ request }) => decoded(request).amount);

/** Checks a data call: costs one cent, and once paid returns the same as its free counterpart. */
async function costsOneCent(it: TestService, target: string, body: object, sibling: string): Promise<void> {
  const unpaid = await sendPaid(it, target, body);
  expectRefusalOfPayment(unpaid);
  expect(new Set(amounts(unpaid))).toEqual(new Set(['1']));
  const { response } = await pay(it, target, body);
  expect(response.status, response.text).toBe(200);
  expect(decoded(response.headers.get('payment-receipt'))).toMatchObject({ amount: '1', currency: 'usd' });
  expect(response.body).toEqual(await read(it, sibling));
}

function expectRefusalOfPayment(response: Awaited<ReturnType<typeof sendPaid>>): void {
  expect([response.status, response.body.code]).toEqual([402, 'payment_method_required']);
}

const product = async (it: TestService) => ({ product_id: (await found(it, retailer)).product_id, retailer });

export const dataCallCost = proof('each of the four asks for one cent', async (it) => {
  const { product_id } = await product(it);
  const one = { product_id, retailer };
  const calls = [
    ['/agent/search', { q: 'coffee' }],
    ['/agent/products/search', { query: 'coffee', retailer }],
    ['/agent/products/offers', one],
    ['/agent/products/details', one],
  ] as const;
  for (const [target, body] of calls) expect(amounts(await sendPaid(it, target, body))).toContain('1');
});

export const agentEndpointProofs: ProofsOf<typeof agentEndpoints> = {
  'POST /agent/orders': proof(
    '422 before any challenge, the lenient 402 for no body, 201 when paid',
    async (it) => {
      for (const invalid of ['{"products":', '[]', '"order"', '{}']) {
        const response = await sendPaid(it, '/agent/orders', invalid);
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([422, null]);
      }
      const probed = await sendPaid(it, '/agent/orders', undefined);
      expectRefusalOfPayment(probed);
      expect(challengesOf(probed).length).toBeGreaterThan(1);
      const { response } = await pay(it, '/agent/orders', orderBody(it.product('test-success')));
      expect(response.status).toBe(201);
      expect(checkShape('OrderResponse', response.body, 'response').issues).toBeUndefined();
      const key = response.headers.get('x-api-key');
      expect((await it.send('GET', `/orders/${response.body.id}`, undefined, key)).status).toBe(200);
    },
  ),
  'POST /agent/orders?method': proof('leaves the challenge of that method alone', async (it) => {
    const body = orderBody(it.product('test-success'));
    const methods = challengesOf(await sendPaid(it, '/agent/orders', body)).map(({ method }) => method);
    expect(methods).toContain('x402');
    for (const method of methods) {
      const narrowed = await sendPaid(it, `/agent/orders?method=${method}`, body);
      expect(challengesOf(narrowed).map((challenge) => challenge.method)).toEqual([method]);
    }
    expectRefusal(await sendPaid(it, '/agent/orders?method=gold', body), 400, 'bad_request');
  }),
  'POST /agent/search': proof('one cent; limit, retailer and sort as for /search', async (it) => {
    const query = `limit=3&retailer=${retailer}&sort=price_asc`;
    await costsOneCent(it, `/agent/search?${query}`, { q: 'coffee' }, `/search?q=coffee&${query}`);
    expectInvalid(await sendPaid(it, '/agent/search?limit=0', { q: 'coffee' }), 'query', 'limit');
  }),
  'POST /agent/products/search': proof(
    'one cent; free_shipping filters the general retailer only',
    async (it) => {
      const free = '/agent/products/search?free_shipping=true';
      const sibling = '/products/search?query=coffee&retailer=harborgoods&free_shipping=true';
      await costsOneCent(it, free, { query: 'coffee', retailer }, sibling);
      const electronics = '/products/search?query=usb&retailer=voltcorner';
      await costsOneCent(it, free, { query: 'usb', retailer: 'voltcorner' }, electronics);
    },
  ),
  'POST /agent/products/offers': proof('one cent; as its sibling with a key', async (it) => {
    const body = await product(it);
    await costsOneCent(
      it,
      '/agent/products/offers',
      body,
      `/products/${body.product_id}/offers?retailer=${retailer}`,
    );
  }),
  'POST /agent/products/details': proof('one cent; as its sibling with a key', async (it) => {
    const body = await product(it);
    await costsOneCent(
      it,
      '/agent/products/details',
      body,
      `/products/${body.product_id}?retailer=${retailer}`,
    );
  }),
};
