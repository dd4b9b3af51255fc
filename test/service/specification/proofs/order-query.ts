import { expect } from 'vitest';
import { address } from '../../../support/order-body.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { orderQuery } from '../rows/endpoints.ts';
import { ask, expectInvalid, listed, ordered, read, second } from '../scenes.ts';

export const orderQueryProofs: ProofsOf<typeof orderQuery> = {
  'GET /orders?limit': proof('50 unless told, 1 to 500, nothing else', async (it) => {
    for (let made = 0; made < 51; made += 1) await it.order('test-never', { max_price: 10 });
    expect(await listed(it, '')).toHaveLength(50);
    expect(await listed(it, 'limit=1')).toHaveLength(1);
    expect(await listed(it, 'limit=500')).toHaveLength(51);
    for (const value of ['0', '501', '1.5', 'many'])
      expectInvalid(await it.send('GET', `/orders?limit=${value}`), 'query', 'limit');
  }),
  'GET /orders?offset': proof('0 unless told, and never negative', async (it) => {
    const older = await ordered(it);
    const newer = await ordered(it);
    expect(await listed(it, '')).toEqual([newer.id, older.id]);
    expect(await listed(it, 'offset=0')).toEqual([newer.id, older.id]);
    expect(await listed(it, 'offset=1')).toEqual([older.id]);
    expectInvalid(await it.send('GET', '/orders?offset=-1'), 'query', 'offset');
  }),
  'GET /orders?order_id': proof('finds part of an id', async (it) => {
    const one = await ordered(it);
    await ordered(it);
    expect(await listed(it, `order_id=${one.id.slice(3, 20)}`)).toEqual([one.id]);
  }),
  'GET /orders?search': proof('finds part of an id and part of a tracking number', async (it) => {
    const one = await ordered(it);
    await ordered(it);
    expect(await listed(it, `search=${one.id.slice(2, 20)}`)).toEqual([one.id]);
    const number = one.tracking_numbers[0].tracking_number;
    expect(await listed(it, `search=${number.slice(2, -1)}`)).toEqual([one.id]);
  }),
  'GET /orders?merchant_order_id': proof('is exact, dashes as typed or stripped', async (it) => {
    const one = await ordered(it);
    const [number] = one.merchant_order_ids;
    expect(await listed(it, `merchant_order_id=${number}`)).toEqual([one.id]);
    expect(await listed(it, `merchant_order_id=${number.replaceAll('-', '')}`)).toEqual([one.id]);
    expect(await listed(it, `merchant_order_id=${number.slice(1)}`)).toEqual([]);
  }),
  'GET /orders?status_filter': proof('keeps orders of one status', async (it) => {
    const failed = await ordered(it, 'test-out-of-stock');
    await ordered(it);
    expect(await listed(it, 'status_filter=order_failed')).toEqual([failed.id]);
    expect(await listed(it, 'status_filter=cancelled')).toEqual([]);
  }),
  'GET /orders?tracking_status': proof('keeps orders with a tracking number of that status', async (it) => {
    const pickup = await ordered(it, 'test-pickup');
    await ordered(it);
    expect(await listed(it, 'tracking_status=available_for_pickup')).toEqual([pickup.id]);
    expect(await listed(it, 'tracking_status=in_transit')).toEqual([]);
  }),
  'GET /orders?has_tracking': proof('true: one at least; false: none', async (it) => {
    const tracked = await ordered(it);
    const failed = await ordered(it, 'test-out-of-stock');
    expect(await listed(it, 'has_tracking=true')).toEqual([tracked.id]);
    expect(await listed(it, 'has_tracking=false')).toEqual([failed.id]);
    expectInvalid(await it.send('GET', '/orders?has_tracking=perhaps'), 'query', 'has_tracking');
  }),
  'GET /orders?return_status': proof('open; closed: approved or denied; omitted: all', async (it) => {
    const denied = await ordered(it);
    await ask(it, denied, { reason: 'other' });
    it.pass(4 * second);
    const approved = await ordered(it);
    await ask(it, approved);
    it.pass(3.5 * second);
    const open = await ordered(it, 'test-success', 3 * second);
    await ask(it, open);
    expect(await listed(it, 'return_status=open')).toEqual([open.id]);
    expect(await listed(it, 'return_status=closed')).toContain(denied.id);
    expect(await listed(it, 'return_status=closed')).not.toContain(open.id);
    expect(await listed(it, '')).toHaveLength(3);
  }),
  'GET /orders?created_after': proof('is inclusive', async (it) => {
    const { id, created_at } = await ordered(it);
    expect(await listed(it, `created_after=${created_at}`)).toEqual([id]);
    const later = new Date(Date.parse(created_at) + 1).toISOString();
    expect(await listed(it, `created_after=${later}`)).toEqual([]);
    expectInvalid(await it.send('GET', '/orders?created_after=soon'), 'query', 'created_after');
  }),
  'GET /orders?created_before': proof('is exclusive', async (it) => {
    const { id, created_at } = await ordered(it);
    expect(await listed(it, `created_before=${created_at}`)).toEqual([]);
    const later = new Date(Date.parse(created_at) + 1).toISOString();
    expect(await listed(it, `created_before=${later}`)).toEqual([id]);
    expectInvalid(await it.send('GET', '/orders?created_before=soon'), 'query', 'created_before');
  }),
  'GET /orders?metadata_key': proof(
    'finds top-level keys only, and comes with metadata_value',
    async (it) => {
      const { id } = await ordered(it, 'test-success', 0, {
        metadata: { team: 'web', deep: { floor: '3' } },
      });
      expect(await listed(it, 'metadata_key=team&metadata_value=web')).toEqual([id]);
      expect(await listed(it, 'metadata_key=floor&metadata_value=3')).toEqual([]);
      expect(await listed(it, 'metadata_key=deep.floor&metadata_value=3')).toEqual([]);
      expectInvalid(await it.send('GET', '/orders?metadata_key=team'), 'query', 'metadata_value');
    },
  ),
  'GET /orders?metadata_value': proof(
    'is exact and case-sensitive, and comes with metadata_key',
    async (it) => {
      const { id } = await ordered(it, 'test-success', 0, { metadata: { team: 'web' } });
      expect(await listed(it, 'metadata_key=team&metadata_value=web')).toEqual([id]);
      for (const other of ['Web', 'we', 'webs'])
        expect(await listed(it, `metadata_key=team&metadata_value=${other}`)).toEqual([]);
      expectInvalid(await it.send('GET', '/orders?metadata_value=web'), 'query', 'metadata_key');
    },
  ),
  'GET /orders?user_email': proof('finds part of an email, any case, of the own organization', async (it) => {
    const other = await it.mint({ email: 'ada@elsewhere.example' });
    await it.order('test-success', {}, other);
    it.key = await it.mint({ email: 'Ada.Team@example.com' });
    const { id } = await ordered(it);
    expect(await listed(it, 'user_email=ADA')).toEqual([id]);
    expect(await listed(it, 'user_email=elsewhere')).toEqual([]);
  }),
  'GET /orders?shipping_name': proof('finds the recipient', async (it) => {
    const shipping_address = { ...address, first_name: 'Grace', last_name: 'Hopper' };
    const { id } = await ordered(it, 'test-success', 0, { shipping_address });
    await ordered(it);
    expect(await listed(it, 'shipping_name=hopper')).toEqual([id]);
    expect(await listed(it, 'shipping_name=nobody')).toEqual([]);
  }),
  'GET /orders?include': proof('tracking_events embeds the checkpoints, absent without it', async (it) => {
    await ordered(it, 'test-success', 60 * second);
    const parcel = async (query: string) => (await read(it, `/orders${query}`)).orders[0].tracking_numbers[0];
    expect((await parcel('')).checkpoints).toBeUndefined();
    const { checkpoints, status } = await parcel('?include=tracking_events');
    expect(checkpoints.length).toBeGreaterThan(1);
    expect(status).toBe('delivered');
    expectInvalid(await it.send('GET', '/orders?include=everything'), 'query', 'include');
  }),
};
