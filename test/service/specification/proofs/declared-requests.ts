import { expect } from 'vitest';
import { challengeFor, credentialOf, sendPaid } from '../../../support/payer.ts';
import type { ServiceResponse, TestService } from '../../../support/service.ts';
import { withReceiver } from '../hooks.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { declaredRequests } from '../rows/declared.ts';
import { addAccount, bulkRow, expectInvalid, found, placedBatch, read, upload } from '../scenes.ts';

/** Pays for a request whose body is optional. */
async function paid(it: TestService, target: string, body?: unknown): Promise<ServiceResponse> {
  const authorization = credentialOf(challengeFor(await sendPaid(it, target, body)));
  return sendPaid(it, target, body, authorization);
}

const check = (it: TestService, query: string): Promise<ServiceResponse> =>
  it.send('GET', `/retailers/check?${query}`, undefined, null);

export const declaredRequestProofs: ProofsOf<typeof declaredRequests> = {
  'declared optional body': proof('each is taken; another type is a 422', async (it) => {
    for (const [path, status] of [
      ['/sandbox/keys', 201],
      ['/device/code', 200],
    ] as const) {
      for (const body of [undefined, '', {}, 'null', { name: null }])
        expect((await it.send('POST', path, body, null)).status, `${path} ${JSON.stringify(body)}`).toBe(
          status,
        );
      for (const body of ['[]', '1', '"x"', { name: 1 }])
        expect((await it.send('POST', path, body, null)).status).toBe(422);
    }
  }),
  'declared body of /agent/orders': proof('402 with a challenge, and 422 with none', async (it) => {
    const probe = await it.send('POST', '/agent/orders', undefined, null);
    expect([probe.status, probe.headers.has('www-authenticate')]).toEqual([402, true]);
    for (const body of ['{}', 'null']) {
      const refused = await it.send('POST', '/agent/orders', body, null);
      expect([refused.status, refused.headers.has('www-authenticate')]).toEqual([422, false]);
    }
  }),
  'declared terms of data calls': proof(
    'each of the four is paid and served by query alone, and by body alone',
    async (it) => {
      const { product_id } = await found(it, 'harborgoods');
      const product = { product_id, retailer: 'harborgoods', max_age: 45.5 };
      const calls: readonly (readonly [string, Record<string, unknown>])[] = [
        ['/agent/search', { q: 'coffee', limit: 2, sort: 'price_asc', max_price: 5000 }],
        [
          '/agent/products/search',
          { query: 'coffee', retailer: 'harborgoods', page: 1, free_shipping: true },
        ],
        ['/agent/products/offers', product],
        ['/agent/products/details', { ...product, async: false }],
      ];
      for (const [path, terms] of calls) {
        const query = new URLSearchParams(
          Object.entries(terms).map(([name, value]): [string, string] => [name, String(value)]),
        );
        const byQuery = await paid(it, `${path}?${query}`);
        expect([byQuery.status, byQuery.headers.has('payment-receipt')], byQuery.text).toEqual([200, true]);
        const byBody = await paid(it, path, terms);
        expect(byBody.body).toEqual(byQuery.body);
        expect((await it.send('POST', path, undefined, null)).status).toBe(402);
        expectInvalid(
          await it.send('POST', `${path}?retailer=harborgoods`, undefined, null),
          'query',
          Object.keys(terms)[0] ?? '',
        );
        // A payment for one quote is not valid for another request.
        const other = await sendPaid(it, `${path}?${query}`, undefined);
        const credential = credentialOf(challengeFor(other));
        query.set('retailer', 'stallandbarrow');
        expect((await sendPaid(it, `${path}?${query}`, undefined, credential)).status).toBe(402);
      }
    },
  ),
  'declared conditions': proof('New is taken; new, and an offer’s spelling, are not', async (it) => {
    const order = (condition: string) =>
      it.order('test-success', {
        products: [{ url: it.product('test-success'), condition_in: [condition] }],
      });
    expect((await order('UsedLikeNew')).status).toBe(201);
    for (const condition of ['new', 'usedLikeNew', 'Used - Like New'])
      expectInvalid(await order(condition), 'body', 'products', 0, 'condition_in', 0);
  }),
  'declared update of an account': proof('kept by null, taken away by emptiness', async (it) => {
    const totp = { totp_secret: 'T'.repeat(64), retailer_config: { a: 1 }, retailer: 'harborgoods' };
    const { short_id } = (await addAccount(it, totp)).body;
    const put = (body: unknown) => it.send('PUT', `/managed-accounts/${short_id}`, body);
    const nothing = { email: null, password: null, retailer: null, totp_secret: null, retailer_config: null };
    const kept = { has_totp: true, retailer: 'harborgoods', retailer_config: { a: 1 } };
    expect((await put(nothing)).body).toMatchObject(kept);
    const cleared = await put({ password: '', retailer: '', totp_secret: '', retailer_config: {} });
    expect(cleared.body).toMatchObject({ has_totp: false, retailer: null, retailer_config: null });
    expectInvalid(await put({ email: '' }), 'body', 'email');
  }),
  'declared payment': proof('the wallet pays', async (it) => {
    for (const payment of [{}, { mode: 'wallet' }]) {
      const { status, body } = await it.order('test-success', { payment });
      expect([status, body.payment]).toEqual([201, null]);
    }
    expect((await read(it, '/wallet/me')).spendable_balance).toBe(100_000 - 2 * 5_100);
  }),
  'declared cells': proof('read, and echoed as text', async (it) => {
    const cells = {
      max_price: 4000,
      quantity: 1,
      is_gift: false,
      po_number: null,
      postal_code: 78701,
      row: 2.5,
    };
    const row = { ...bulkRow(it), ...cells };
    const { rows } = (await it.send('POST', '/orders/bulk/validate', { rows: [row] })).body;
    expect(rows[0]).toMatchObject({ ok: true, errors: [], max_price: 4000, passthrough: { row: '2.5' } });
    const { id } = (await it.send('POST', '/orders/bulk', { rows: [row] })).body;
    expect((await placedBatch(it, id)).placed_count).toBe(1);
    expectInvalid(await it.send('POST', '/orders/bulk', { rows: [{ a: [] }] }), 'body', 'rows', 0, 'a');
  }),
  'declared rows': proof('the same 422', async (it) => {
    const [without, empty] = [await it.send('POST', '/orders/bulk', {}), await upload(it)];
    expect(without.status).toBe(422);
    expect(without.body).toEqual(empty.body);
  }),
  'declared limit': proof('500 is taken, 501 is not', async (it) => {
    for (const path of ['/returns', '/managed-accounts']) {
      await read(it, `${path}?limit=500`);
      expectInvalid(await it.send('GET', `${path}?limit=501`), 'query', 'limit');
    }
  }),
  'declared window_days': proof('90 is taken, 91 is not', async (it) => {
    expect((await read(it, '/usage?window_days=90')).window_days).toBe(90);
    expectInvalid(await it.send('GET', '/usage?window_days=91'), 'query', 'window_days');
  }),
  'declared country': proof('a US retailer without it, with DE, and with names', async (it) => {
    const url = 'url=https://www.trailmarket.example/1';
    expect((await check(it, url)).body).toMatchObject({ orderable: true, unsupported_reason: null });
    expect((await check(it, `${url}&country=de`)).body.unsupported_reason).toBe('unsupported_country');
    for (const [name, code] of [
      ['USA', 'US'],
      ['United%20States', 'US'],
      ['Germany', 'DE'],
    ]) {
      const refused = await check(it, `${url}&country=${name}`);
      expectInvalid(refused, 'query', 'country');
      expect(refused.body.detail[0].msg).toContain(`use ${code}`);
    }
  }),
  'declared members only': proof('at the members’ retailer', async (it) => {
    expect((await check(it, 'url=https://www.membersbarn.example/1&country=US')).body).toMatchObject({
      orderable: false,
      unsupported_reason: 'guest_checkout_not_supported',
    });
  }),
  'declared include': proof('more than without, each of them observed', async (it) => {
    const [some, all] = [await read(it, '/retailers'), await read(it, '/retailers?include=all')];
    expect(all.total).toBeGreaterThan(some.total);
    const names = some.retailers.map(({ retailer }: { retailer: string }) => retailer);
    const added = all.retailers.filter(({ retailer }: { retailer: string }) => !names.includes(retailer));
    expect(new Set(added.map(({ support }: { support: string }) => support))).toEqual(new Set(['observed']));
  }),
  'declared unknown retailer': proof('as it was written', async (it) => {
    const { status, body } = await addAccount(it, { retailer: 'somewhere' });
    expect([status, body.retailer, body.retailer_id]).toEqual([201, 'somewhere', null]);
  }),
  'declared WWW-Authenticate': proof('no key, an unknown one, an expired one, a live one', async (it) => {
    const scheme = async (path: string, authorization?: string) => {
      const { status, headers } = await it.send(
        'GET',
        path,
        undefined,
        null,
        authorization ? { authorization } : {},
      );
      return [status, headers.get('www-authenticate')?.split(' ')[0]];
    };
    const basic = (key: string) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
    const legacy = '/v1/products/1?retailer=harborgoods';
    for (const key of [undefined, 'xx_test_unknown', 'xx_live_mine']) {
      expect(await scheme('/orders', key && `Bearer ${key}`)).toEqual([401, 'Bearer']);
      expect(await scheme(legacy, key && basic(key))).toEqual([401, 'Basic']);
    }
    it.pass(8 * 24 * 3600 * 1000);
    expect(await scheme(legacy.replace('v', '%76'))).toEqual([401, 'Basic']);
    expect(await scheme('/wallet/me', `Bearer ${it.key}`)).toEqual([401, 'Bearer']);
    expect(await scheme(legacy, basic(it.key))).toEqual([401, 'Basic']);
    expect((await it.send('POST', '/sandbox/trigger', {}, null)).headers.get('www-authenticate')).toBe(
      'Bearer',
    );
  }),
  'declared X-Request-Id': proof(
    'on good ones, refusals and pages; the caller’s own comes back',
    async (it) => {
      const ids = [];
      for (const [method, path] of [
        ['GET', '/orders'],
        ['GET', '/orders/1'],
        ['GET', '/nowhere'],
        ['DELETE', '/orders'],
        ['GET', '/shop'],
        ['GET', '/orders/export'],
      ] as const)
        ids.push((await it.send(method, path)).headers.get('x-request-id'));
      expect(ids).not.toContain(null);
      expect(new Set(ids).size).toBe(ids.length);
      const own = await it.send('GET', '/orders', undefined, it.key, { 'x-request-id': 'trace-7' });
      expect(own.headers.get('x-request-id')).toBe('trace-7');
      const odd = await it.send('GET', '/orders', undefined, it.key, { 'x-request-id': '<b>' });
      expect(odd.headers.get('x-request-id')).not.toContain('<');
    },
  ),
  'declared X-Webhook-Id': proof('a delivery that comes again has the same, another event another', (it) =>
    withReceiver(it, async ({ url, hooks, responses, until }) => {
      responses.push(500, 500);
      const webhooks = { status_updated: [url, `${url}/two`] };
      await it.order('test-success', { webhooks });
      await until(() => hooks.length >= 6);
      const ids = hooks.map(({ headers, body }) => [body.status, headers['x-webhook-id']]);
      const ofStatus = (status: string) => new Set(ids.filter(([of]) => of === status).map(([, id]) => id));
      expect(ofStatus('in_progress').size).toBe(1);
      expect(ofStatus('order_placed').size).toBe(1);
      expect(ofStatus('order_placed')).not.toEqual(ofStatus('in_progress'));
    }),
  ),
};
