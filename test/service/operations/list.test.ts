import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { address } from '../../support/order-body.ts';
import { TestService } from '../../support/service.ts';

interface Listed {
  id: string;
  status: string;
  created_at: string;
  tracking_numbers: { tracking_number: string; checkpoints?: unknown[] }[];
  merchant_order_ids: string[];
}

describe('GET /orders', () => {
  let service: TestService;
  let delivered: Listed;
  let pending: Listed;
  let failed: Listed;

  beforeAll(async () => {
    service = await TestService.start();
    service.key = await service.mint({ email: 'Ada.Team@example.com' });
    const first = await service.order('test-success', { metadata: { team: 'web', level: 3 } });
    const second = await service.order('test-out-of-stock', {
      shipping_address: { ...address, first_name: 'Grace', last_name: 'Hopper' },
    });
    service.pass(3_600_000);
    const third = await service.order('test-slow', { metadata: { team: 'Web' } });
    pending = third.body;
    delivered = (await service.send('GET', `/orders/${first.body.id}`)).body;
    failed = (await service.send('GET', `/orders/${second.body.id}`)).body;
  });
  afterAll(() => service.stop());

  const ids = async (query: string): Promise<string[]> => {
    const { status, text, body } = await service.send('GET', `/orders?${query}`);
    expect(status, text).toBe(200);
    expect(body.total).toBe(body.orders.length);
    return body.orders.map(({ id }: Listed) => id);
  };

  test('lists newest first, with total, limit and offset', async () => {
    const { body } = await service.send('GET', '/orders');
    expect(body.orders.map(({ id }: Listed) => id)[0]).toBe(pending.id);
    expect(body).toMatchObject({ total: 3, limit: 50, offset: 0 });
  });

  test('a filtered list is newest first, too', async () => {
    // Every random (version 4) UUID contains it.
    expect(await ids('order_id=-4')).toEqual([pending.id, failed.id, delivered.id]);
  });

  test('order_id: part of an id', async () => {
    expect(await ids(`order_id=${failed.id.slice(3, 20)}`)).toEqual([failed.id]);
    expect(await ids('order_id=zzz')).toEqual([]);
  });

  test('search: part of an id or of a tracking number', async () => {
    const number = delivered.tracking_numbers[0]?.tracking_number ?? '';
    expect(await ids(`search=${number.slice(2, 8).toLowerCase()}`)).toEqual([delivered.id]);
    expect(await ids(`search=${failed.id.slice(0, 13)}`)).toEqual([failed.id]);
  });

  test.each(['true', 'True', 'TRUE', '1'])(
    'has_tracking=%s: a client in any language writes true its own way',
    async (text) => {
      expect(await ids(`has_tracking=${text}`)).toEqual([delivered.id]);
    },
  );

  test('merchant_order_id: exact, dashes as typed or stripped', async () => {
    const [number = ''] = delivered.merchant_order_ids;
    expect(await ids(`merchant_order_id=${number}`)).toEqual([delivered.id]);
    expect(await ids(`merchant_order_id=${number.replaceAll('-', '')}`)).toEqual([delivered.id]);
    expect(await ids(`merchant_order_id=${number.slice(1)}`)).toEqual([]);
  });

  test('status_filter', async () => {
    expect(await ids('status_filter=pending')).toEqual([pending.id]);
    expect(await ids('status_filter=order_failed')).toEqual([failed.id]);
    expect(await ids('status_filter=cancelled')).toEqual([]);
  });

  test('tracking_status and has_tracking', async () => {
    expect(await ids('tracking_status=delivered')).toEqual([delivered.id]);
    expect(await ids('tracking_status=in_transit')).toEqual([]);
    expect(await ids('has_tracking=true')).toEqual([delivered.id]);
    expect((await ids('has_tracking=false')).toSorted()).toEqual([failed.id, pending.id].toSorted());
  });

  test('return_status: nothing was returned', async () => {
    expect(await ids('return_status=open')).toEqual([]);
    expect(await ids('return_status=closed')).toEqual([]);
  });

  test('created_after is inclusive, created_before exclusive', async () => {
    const at = encodeURIComponent(pending.created_at);
    expect(await ids(`created_after=${at}`)).toEqual([pending.id]);
    expect((await ids(`created_before=${at}`)).toSorted()).toEqual([delivered.id, failed.id].toSorted());
    expect(await ids('created_after=2027-01-01')).toEqual([]);
  });

  test('metadata: top-level key, exact and case-sensitive value', async () => {
    expect(await ids('metadata_key=team&metadata_value=web')).toEqual([delivered.id]);
    expect(await ids('metadata_key=team&metadata_value=Web')).toEqual([pending.id]);
    expect(await ids('metadata_key=level&metadata_value=3')).toEqual([delivered.id]);
    expect(await ids('metadata_key=team&metadata_value=we')).toEqual([]);
  });

  test('user_email: part of a teammate’s email, any case', async () => {
    expect(await ids('user_email=ADA.team')).toHaveLength(3);
    expect(await ids('user_email=grace')).toEqual([]);
  });

  test('shipping_name: part of the recipient’s name, any case', async () => {
    expect(await ids('shipping_name=hopper')).toEqual([failed.id]);
    expect(await ids('shipping_name=grace%20h')).toEqual([failed.id]);
  });

  test('filters combine', async () => {
    expect(await ids('status_filter=order_failed&shipping_name=hopper')).toEqual([failed.id]);
    expect(await ids('status_filter=pending&shipping_name=hopper')).toEqual([]);
  });

  test('include=tracking_events embeds the checkpoints; without it they are left out', async () => {
    const plain = (await service.send('GET', '/orders?has_tracking=true')).body.orders[0];
    expect(plain.tracking_numbers[0].checkpoints).toBeUndefined();
    const whole = (await service.send('GET', '/orders?has_tracking=true&include=tracking_events')).body
      .orders[0];
    expect(whole.tracking_numbers[0].checkpoints.length).toBeGreaterThan(1);
  });

  test.each(['merchant_order_id=', 'search=', 'order_id=', 'shipping_name=', 'user_email='])(
    '%s narrows nothing',
    async (query) => {
      const { total } = (await service.send('GET', '/orders')).body;
      expect((await service.send('GET', `/orders?${query}`)).body.total).toBe(total);
      const { text } = await service.send('GET', `/orders/export?${query}`);
      expect(text.trim().split('\r\n')).toHaveLength(total + 1);
    },
  );

  test.each([
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['offset=-1', 'offset'],
    ['status_filter=lost', 'status_filter'],
    ['tracking_status=lost', 'tracking_status'],
    ['has_tracking=perhaps', 'has_tracking'],
    ['return_status=all', 'return_status'],
    ['created_after=2026-02-30', 'created_after'],
    ['created_before=soon', 'created_before'],
    ['metadata_key=team', 'metadata_value'],
    ['metadata_value=web', 'metadata_key'],
    [`metadata_key=${'k'.repeat(201)}&metadata_value=v`, 'metadata_key'],
    [`metadata_key=k&metadata_value=${'v'.repeat(501)}`, 'metadata_value'],
    [`merchant_order_id=${'m'.repeat(201)}`, 'merchant_order_id'],
    [`user_email=${'e'.repeat(321)}`, 'user_email'],
    ['include=everything', 'include'],
  ])('%s is a 422 that names %s', async (query, parameter) => {
    const { status, body } = await service.send('GET', `/orders?${query}`);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))).toContain(`query.${parameter}`);
  });

  test.each(['limit=1', 'limit=500', 'offset=0', 'offset=100000'])(
    '%s is within its bounds',
    async (query) => {
      expect((await service.send('GET', `/orders?${query}`)).status).toBe(200);
    },
  );

  test('paging gives each order exactly once', async () => {
    const key = await service.mint();
    for (let order = 0; order < 25; order += 1) {
      await service.order('test-never', { max_price: 10 }, key);
      if (order % 3 === 0) service.pass(1);
    }
    const seen: string[] = [];
    for (let offset = 0; offset < 25; offset += 10) {
      const { body } = await service.send('GET', `/orders?limit=10&offset=${offset}`, undefined, key);
      seen.push(...body.orders.map(({ id }: Listed) => id));
      expect(body.total).toBe(25);
    }
    expect(new Set(seen).size).toBe(25);
  });

  test('export gives the filtered set as CSV, and takes no limit', async () => {
    const { status, headers, text } = await service.send('GET', '/orders/export?shipping_name=hopper');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/csv');
    const [header, ...lines] = text.trim().split('\r\n');
    expect(header?.split(',')).toContain('status');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(failed.id);
  });
});
