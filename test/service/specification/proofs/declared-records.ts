import { expect } from 'vitest';
import { offerConditions, productConditions, returnStatuses } from '../../../../src/api/enums.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { declaredRecords } from '../rows/declared.ts';
import { addAccount, ask, expectRefusal, found, ordered, read, second } from '../scenes.ts';

const strict = { gift: null, items: null, quantity: null, excluded_merchants: [], concessions: [] };

export const declaredRecordProofs: ProofsOf<typeof declaredRecords> = {
  'declared fulfillment': proof('from creation to delivery, on reads and lists', async (it) => {
    const { body: made } = await it.order('test-success');
    expect(made.fulfillment).toEqual(strict);
    it.pass(12 * second);
    expect((await read(it, `/orders/${made.id}`)).fulfillment).toEqual(strict);
    expect((await read(it, '/orders')).orders[0].fulfillment).toEqual(strict);
    const relaxed = { quantity: 'best_effort', excluded_merchants: ['x'] };
    const { body } = await it.order('test-quantity-limit', { fulfillment: relaxed });
    expect(body.fulfillment).toEqual({ ...strict, ...relaxed });
  }),
  'declared metadata': proof('none, null and {} come back as {}', async (it) => {
    for (const metadata of [undefined, null, {}])
      expect((await it.order('test-success', { metadata })).body.metadata).toEqual({});
    const own = { team: 'office', count: 7, tags: ['a', null] };
    expect((await it.order('test-success', { metadata: own })).body.metadata).toEqual(own);
  }),
  'declared user_id': proof('the same number in both; another user has another', async (it) => {
    const { user_id: user } = (await it.order('test-success')).body;
    expect(user).toEqual(expect.any(Number));
    expect((await read(it, '/wallet/me')).user_id).toBe(user);
    const other = await it.mint();
    expect((await it.send('GET', '/wallet/me', undefined, other)).body.user_id).not.toBe(user);
  }),
  'declared retailer_id': proof('a number at a known retailer, null for default credentials', async (it) => {
    expect((await addAccount(it, { retailer: 'membersbarn' })).body.retailer_id).toEqual(expect.any(Number));
    expect((await addAccount(it)).body.retailer_id).toBeNull();
  }),
  'declared merchant_order_ids': proof('the same numbers in both', async (it) => {
    const { job_result, merchant_order_ids: own } = await ordered(it);
    expect(own).toEqual([expect.any(String)]);
    expect(job_result.merchant_order_ids).toEqual([expect.objectContaining({ merchant_order_id: own[0] })]);
  }),
  'declared expected': proof('the amount that max_price lacks, as text', async (it) => {
    const { job_result } = await ordered(it, 'test-price-exceeded');
    expect(job_result.error_details.field_errors[0].expected).toMatch(/^\d+$/);
  }),
  'declared detail': proof('of every milestone of four orders', async (it) => {
    for (const slug of ['test-success', 'test-out-of-stock', 'test-pickup', 'test-cancelled-by-retailer']) {
      const { id } = await ordered(it, slug, 20 * second);
      const { milestones } = await read(it, `/orders/${id}/timeline`);
      expect(milestones.length).toBeGreaterThan(1);
      for (const { detail } of milestones)
        expect(detail === null || (typeof detail === 'object' && !Array.isArray(detail))).toBe(true);
      expect(milestones.some(({ detail }: { detail: unknown }) => detail !== null)).toBe(true);
    }
  }),
  'declared next': proof('what to do', async (it) => {
    expect((await it.send('POST', '/device/code', {}, null)).body.next).toEqual(expect.any(String));
  }),
  'declared orders_placed': proof(
    'true where orders are placed, false where nothing is known',
    async (it) => {
      const evidence = async (url: string) => (await read(it, `/retailers/check?url=${url}`)).evidence;
      expect((await evidence('https://www.harborgoods.example')).orders_placed).toBe(true);
      expect((await evidence('https://nowhere.example')).orders_placed).toBe(false);
    },
  ),
  'declared support_detail': proof('whatever the response', async (it) => {
    for (const url of [
      'https://www.harborgoods.example/1',
      'https://www.trailmarket.example/1&country=DE',
      'https://www.membersbarn.example/1',
      'https://giftcards.example/1',
      'https://nowhere.example/1',
    ]) {
      const { support_detail, how_to_order } = await read(it, `/retailers/check?url=${url}`);
      expect([support_detail, how_to_order]).toEqual([
        expect.stringMatching(/\w/),
        expect.stringMatching(/\w/),
      ]);
    }
  }),
  'declared condition of an offer': proof('several of them at the marketplace', async (it) => {
    const seen = new Set<string>();
    const { results } = await read(it, '/products/search?query=lamp&retailer=stallandbarrow');
    for (const { product_id } of results) {
      const { offers } = await read(it, `/products/${product_id}/offers?retailer=stallandbarrow`);
      for (const { condition } of offers) seen.add(condition);
    }
    const known: string[] = Object.values(offerConditions);
    expect([...seen].filter((condition) => !known.includes(condition))).toEqual([]);
    expect([...seen].some((condition) => condition.startsWith('Used - '))).toBe(true);
    expect(Object.keys(offerConditions)).toEqual([...productConditions]);
  }),
  'declared offers': proof('one each, and a refusal', async (it) => {
    for (const [retailer, query] of [
      ['voltcorner', 'headphones'],
      ['loomandkiln', 'mug'],
    ] as const) {
      const { product_id } = await found(it, retailer, query);
      expect((await read(it, `/products/${product_id}/offers?retailer=${retailer}`)).offers).toHaveLength(1);
    }
    const { product_id } = await found(it, 'morningroast.example');
    const refused = await it.send('GET', `/products/${product_id}/offers?retailer=morningroast.example`);
    expectRefusal(refused, 400, 'bad_request');
  }),
  'declared return status': proof(
    'over the life of five returns, and of the summaries on their orders',
    async (it) => {
      const sent = new Set<string>();
      for (const reason of ['damaged', 'not_delivered', 'forced_cancellation', 'other', 'wrong_size']) {
        const more = reason === 'wrong_size' ? { payment: { mode: 'card' } } : {};
        const order = await ordered(it, 'test-success', 3 * second, more);
        const { id } = (await ask(it, order, { reason })).body;
        for (let ms = 0; ms < 9_000; ms += 250) {
          sent.add((await read(it, `/returns/${id}`)).status);
          sent.add((await read(it, `/orders/${order.id}`)).returns[0].status);
          it.pass(250);
        }
      }
      expect([...sent].toSorted()).toEqual(['approved', 'credited', 'denied', 'open']);
      for (const status of returnStatuses) await read(it, `/returns?status=${status}`);
    },
  ),
  'declared label_urls': proof('empty where there are none', async (it) => {
    const { body } = await ask(it, await ordered(it));
    expect(body.label_urls).toEqual([]);
    it.pass(3.5 * second);
    expect((await read(it, `/returns/${body.id}`)).label_urls).toEqual([expect.any(String)]);
  }),
  'declared excluded_by_price': proof('null, and a count with either clamp', async (it) => {
    const excluded = async (more: string) => (await read(it, `/search?q=coffee${more}`)).excluded_by_price;
    expect(await excluded('')).toBeNull();
    expect(await excluded('&max_price=1')).toBeGreaterThan(0);
    expect(await excluded('&min_price=0')).toBe(0);
  }),
  'declared hint': proof('by the words, by the price, and where there is no word', async (it) => {
    const hint = async (query: string) => (await read(it, `/search?${query}`)).hint;
    expect(await hint('q=zzyzx')).toContain('try others');
    expect(await hint('q=coffee&max_price=1')).toContain('max_price');
    expect(await hint('q=zzyzx&retailer=harborgoods')).toContain('without retailer');
    expect(await hint('q=!')).toContain('letters or digits');
    expect(await hint('q=coffee')).toBeNull();
  }),
  'declared delivery_proof_url': proof('an image once delivered, nothing before', async (it) => {
    const order = await ordered(it, 'test-success', 6 * second);
    const [{ svc_tracking_number: number }] = order.tracking_numbers;
    const early = await it.send('GET', `/track/${order.id}/proof/${number}`, undefined, null);
    expectRefusal(early, 404, 'not_found');
    it.pass(10 * second);
    const [{ delivery_proof_url: url }] = (await read(it, `/orders/${order.id}`)).tracking_numbers;
    const picture = await it.send('GET', url.replace(it.baseUrl, ''), undefined, null);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(picture.text).toContain('Delivered');
  }),
};
