import { describe, expect, test } from 'vitest';
import type { Client } from '../../../src/http/client.ts';
import { type PageOptions, pages } from '../../../src/http/paging.ts';
import { caller, failureOf } from '../../support/caller.ts';
import { json, type Peer, peer } from '../../support/peer.ts';

interface ListOptions {
  readonly count: number;
  /** Omit the total from responses. */
  readonly silent?: boolean;
  /** Maximum page size, regardless of the requested limit. */
  readonly cap?: number;
  /** Create an order before each response after the first. */
  readonly growing?: boolean;
}

/** A service with a list of orders, newest first. */
const listOf = ({ count, silent, cap = 500, growing }: ListOptions): Promise<Peer> => {
  let made = 0;
  return peer((response, { target }, socket) => {
    const { searchParams } = new URL(target, 'http://x');
    const limit = Math.min(Number(searchParams.get('limit') ?? 50), cap);
    const offset = Number(searchParams.get('offset') ?? 0);
    const all = Array.from({ length: count + made }, (_, index) => ({
      id: `order-${count + made - index}`,
      status: 'pending',
    }));
    if (growing) made += 1;
    const orders = all.slice(offset, offset + limit);
    json({ orders, ...(!silent && { total: all.length }), limit, offset })(
      response,
      { target } as never,
      socket,
    );
  });
};

async function read(client: Client, options: PageOptions, query: Record<string, number> = {}) {
  const ids: unknown[] = [];
  let total: number | undefined;
  let number = 0;
  for await (const page of pages(client, 'order.list', { query }, options)) {
    number += 1;
    total = page.total;
    ids.push(...page.rows.map(({ id }) => id));
  }
  return { ids, total, number };
}

describe('a list', () => {
  test('is one page as it was asked for', async () => {
    const service = await listOf({ count: 120 });
    const { ids, total, number } = await read(
      caller(service.url).client,
      { all: false },
      { limit: 20, offset: 40 },
    );
    expect([ids.length, ids[0], total, number]).toEqual([20, 'order-80', 120, 1]);
    expect(service.received).toHaveLength(1);
  });

  test.each([
    ['with a total', { count: 1234 }, 3],
    ['without a total', { count: 1234, silent: true }, 3],
    ['that ends with a full page', { count: 1000 }, 2],
    ['that ends with a full page, without a total', { count: 1000, silent: true }, 3],
    ['of a service that gives fewer than asked for', { count: 250, cap: 100 }, 3],
    ['that is empty', { count: 0 }, 1],
  ])('%s is read to its end in order', async (_, options, requests) => {
    const service = await listOf(options);
    const { ids } = await read(caller(service.url).client, { all: true });
    expect(ids).toEqual(
      Array.from({ length: options.count }, (__, index) => `order-${options.count - index}`),
    );
    expect(service.received).toHaveLength(requests);
  });

  test('is read from an offset, in pages of the limit', async () => {
    const service = await listOf({ count: 100 });
    const { ids } = await read(caller(service.url).client, { all: true }, { limit: 30, offset: 50 });
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([50, 'order-50', 'order-1']);
    expect(service.received.map(({ target }) => target)).toEqual([
      '/orders?limit=30&offset=50',
      '/orders?limit=30&offset=80',
    ]);
  });

  test('that grows meanwhile gives no row twice', async () => {
    const service = await listOf({ count: 100, growing: true });
    const { ids } = await read(caller(service.url).client, { all: true, pageSize: 30 });
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain('order-1');
  });

  test('of a service that gives the same page for ever ends with an error', async () => {
    const orders = [{ id: 'a' }, { id: 'b' }];
    const service = await peer(json({ orders, total: 99 }));
    const error = await failureOf(read(caller(service.url).client, { all: true, pageSize: 2 }));
    expect(error).toMatchObject({ category: 'unavailable' });
    expect(error.message).toContain('same page again');
    expect(service.received).toHaveLength(4);
  });

  test('that grows by a whole page meanwhile is read to its end', async () => {
    let made = 0;
    const service = await peer((response, request, socket) => {
      const offset = Number(new URL(request.target, 'http://x').searchParams.get('offset') ?? 0);
      const orders = Array.from({ length: 5 + made }, (_, index) => ({ id: `order-${5 + made - index}` }));
      json({ orders: orders.slice(offset, offset + 1), total: orders.length })(response, request, socket);
      made = 1;
    });
    const { ids } = await read(caller(service.url).client, { all: true, pageSize: 1 });
    expect(ids).toEqual(['order-5', 'order-4', 'order-3', 'order-2', 'order-1']);
  });

  test('whose endpoint has no pages is one page', async () => {
    const service = await peer(json({ status: 'completed', query: 'x', results: [{ id: 'sku' }] }));
    const { client } = caller(service.url);
    const seen: unknown[] = [];
    for await (const { rows } of pages(client, 'search', { query: { q: 'x' } }, { all: true }))
      seen.push(...rows);
    expect(seen).toEqual([{ id: 'sku' }]);
  });
});

describe('the next page', () => {
  const settled = () => new Promise((resolve) => setTimeout(resolve, 40));

  test('loads while the reader works, and one more, and no others', async () => {
    const service = await listOf({ count: 1000 });
    const reading = pages(caller(service.url).client, 'order.list', {}, { all: true, pageSize: 10 });
    await reading.next();
    await expect.poll(() => service.received.length).toBe(3);
    await settled();
    expect(service.received).toHaveLength(3);
    await reading.return(undefined);
  });

  test('is given up when the reader stops', async () => {
    let closed = false;
    const service = await peer(
      json({ orders: [{ id: 'a' }], total: 9 }),
      (response) => void response.on('close', () => (closed = true)),
    );
    for await (const page of pages(
      caller(service.url).client,
      'order.list',
      {},
      { all: true, pageSize: 1 },
    )) {
      expect(page.rows).toHaveLength(1);
      await expect.poll(() => service.received.length).toBeGreaterThan(1);
      break;
    }
    await expect.poll(() => closed).toBe(true);
  });

  test('that fails is told when its turn comes', async () => {
    const service = await peer(json({ orders: [{ id: 'a' }], total: 9 }), json({}, 404));
    const reading = pages(caller(service.url).client, 'order.list', {}, { all: true, pageSize: 1 });
    expect((await reading.next()).value.rows).toEqual([{ id: 'a' }]);
    await settled();
    expect((await failureOf(reading.next())).category).toBe('not_found');
  });
});
