import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { OrderPoll } from '../../../src/orders/watch.ts';
import { caller } from '../../support/caller.ts';
import { json, type Peer, peer } from '../../support/peer.ts';

const ids = Array.from({ length: 45 }, () => randomUUID());
const recordOf = (id: string) => ({ id, status: 'pending', created_at: '2026-11-21T10:00:00.000Z' });

/** A service that caps each page at `cap` orders, regardless of the requested limit. */
const service = (cap: number, more: Record<string, unknown>): Promise<Peer> =>
  peer((response, request, socket) => {
    const { pathname, searchParams } = new URL(request.target, 'http://x');
    const offset = Number(searchParams.get('offset') ?? 0);
    const body =
      pathname === '/orders'
        ? { orders: ids.slice(offset, offset + cap).map(recordOf), ...more }
        : recordOf(pathname.replace('/orders/', ''));
    json(body)(response, request, socket);
  });

async function idsOf(rows: AsyncIterable<readonly Readonly<Record<string, unknown>>[]>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const page of rows) found.push(...page.map(({ id }) => id));
  return found;
}

describe('a look at many orders', () => {
  test.each([
    ['that says how many there are', { total: ids.length }, 3 + 3],
    ['that does not', {}, 1 + 25 + 1 + 25],
  ])('finds every one at a service of short pages %s', async (_, more, requests) => {
    const { url } = await service(20, more);
    const poll = new OrderPoll(caller(url).client, async () => true);
    expect((await idsOf(poll.begin(ids))).toSorted()).toEqual(ids.toSorted());
    expect(await idsOf(poll.round(new Set(ids)))).toEqual(ids);
    expect(poll.requests).toBe(requests);
  });

  test.each([
    ['are among the newest: one request', ids.slice(0, 20), 1],
    ['are older: one for each of those', ids.slice(18, 22), 1 + 2],
    ['are one: that one', ids.slice(0, 1), 1],
  ])('of few that %s', async (_, few, requests) => {
    const { url } = await service(20, { total: ids.length });
    const poll = new OrderPoll(caller(url).client, async () => true);
    expect((await idsOf(poll.begin(few))).toSorted()).toEqual(few.toSorted());
    expect(poll.requests).toBe(requests);
  });

  test('finds those that do not say when they were created', async () => {
    const { url } = await peer((response, request, socket) => {
      const id = new URL(request.target, 'http://x').pathname.replace('/orders/', '');
      const orders = ids.map((one) => ({ id: one, status: 'pending' }));
      json(id === '/orders' ? { orders, total: ids.length } : { id, status: 'pending' })(
        response,
        request,
        socket,
      );
    });
    const poll = new OrderPoll(caller(url).client, async () => true);
    expect(await idsOf(poll.begin(ids))).toEqual(ids);
    expect(await idsOf(poll.round(new Set(ids)))).toEqual(ids);
  });
});
