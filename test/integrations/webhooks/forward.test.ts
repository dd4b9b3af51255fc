import { createServer } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { type ForwardTarget, forward, nextAttempt } from '../../../src/integrations/webhooks/forward.ts';
import { json, peer } from '../../support/peer.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { order } from '../../support/webhook-order.ts';
import { HandClock } from './hand-clock.ts';

const delivery = { event: 'status_updated', body: JSON.stringify(order('pending')) };
const signal = new AbortController().signal;
const target = (url: string, more: Partial<ForwardTarget> = {}): ForwardTarget => ({
  url,
  allowPrivate: false,
  retries: 3,
  clock: new HandClock(true),
  version: '1.2.3',
  random: () => 1,
  ...more,
});

test('an event is sent on with its name and body', async () => {
  const there = await peer(json({}));
  const outcome = await forward(delivery, target(`${there.url}/hooks?a=1`), signal);
  expect(outcome).toMatchObject({ delivered: true, status: 200, attempts: 1, message: null });
  expect(there.received).toMatchObject([
    {
      method: 'POST',
      target: '/hooks?a=1',
      body: delivery.body,
      headers: {
        'content-type': 'application/json',
        'x-webhook-event': 'status_updated',
        'user-agent': 'errand/1.2.3',
      },
    },
  ]);
});

test('what may pass is tried again, not sooner than the server asks, until it is taken', async () => {
  const there = await peer(
    json({}, 503, { 'retry-after': '2' }),
    json({}, 429),
    (_, __, socket) => void socket.destroy(),
    json({}),
  );
  const clock = new HandClock(true);
  const outcome = await forward(delivery, target(there.url, { clock }), signal);
  expect(outcome).toMatchObject({ delivered: true, attempts: 4 });
  expect(clock.waits).toEqual([2000, 500, 1000]);
});

test('it ends after so many tries, and says what the last one met', async () => {
  const there = await peer(json({}, 500));
  const outcome = await forward(delivery, target(there.url, { retries: 2 }), signal);
  expect(outcome).toMatchObject({ delivered: false, status: 500, attempts: 3, message: 'returned 500' });
});

test('a refusal is not argued with', async () => {
  const there = await peer(json({}, 400));
  expect(await forward(delivery, target(there.url), signal)).toMatchObject({ delivered: false, attempts: 1 });
});

test('a redirect is not followed', async () => {
  const elsewhere = await peer(json({}));
  const there = await peer(json({}, 307, { location: elsewhere.url }));
  const outcome = await forward(delivery, target(there.url), signal);
  expect(outcome).toMatchObject({ delivered: false, status: 307, attempts: 1 });
  expect(outcome.message).toContain('redirects are not followed');
  expect(elsewhere.received).toEqual([]);
});

test('nothing listens: told in words after the retries', async () => {
  const outcome = await forward(delivery, target('http://127.0.0.1:9/', { retries: 1 }), signal);
  expect(outcome).toMatchObject({
    delivered: false,
    status: null,
    attempts: 2,
    message: 'the connection was refused',
  });
});

test('a certificate that nobody vouches for is refused, once', async () => {
  let requests = 0;
  const server = createServer(selfSigned, (_, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const outcome = await forward(delivery, target(`https://localhost:${port}/`), signal);
  expect(outcome).toMatchObject({ delivered: false, status: null, attempts: 1 });
  expect(outcome.message).toContain('self-signed certificate');
  expect(requests).toBe(0);
});

test('localhost is reached by its name', async () => {
  const there = await peer(json({}));
  const outcome = await forward(delivery, target(there.url.replace('127.0.0.1', 'localhost')), signal);
  expect(outcome.delivered).toBe(true);
});

test('a password in the address goes along as Basic, and a name cannot add a header', async () => {
  const there = await peer(json({}));
  await forward(
    { ...delivery, event: 'odd\r\nX-Evil: 1\u2028é' },
    target(there.url.replace('http://', 'http://me:pass@')),
    signal,
  );
  const headers = there.received[0]?.headers ?? {};
  expect(headers.authorization).toBe(`Basic ${Buffer.from('me:pass').toString('base64')}`);
  expect(headers['x-evil']).toBeUndefined();
  expect(headers['x-webhook-event']).toBe('odd??X-Evil: 1??');
});

test('an endless response is not read to its end', async () => {
  const there = await peer((response) => {
    const more = (): void => {
      if (!response.destroyed) response.write('x'.repeat(16_384), () => setImmediate(more));
    };
    response.on('error', () => {});
    response.writeHead(200);
    more();
  });
  expect(await forward(delivery, target(there.url), signal)).toMatchObject({ delivered: true });
});

test('an interruption ends it at once, even between two tries', async () => {
  const there = await peer(json({}, 503));
  const interruption = new AbortController();
  const clock = new HandClock();
  const ended = forward(delivery, target(there.url, { clock }), interruption.signal);
  await expect.poll(() => clock.waits).toHaveLength(1);
  interruption.abort(new Error('interrupted'));
  await expect(ended).rejects.toThrow('interrupted');
  expect(there.received).toHaveLength(1);
});

test.each([
  [{ status: 204, retryAfter: undefined }, 1, 'delivered'],
  [{ status: 404, retryAfter: undefined }, 1, 'failed'],
  [{ status: 408, retryAfter: undefined }, 1, 250],
  [{ status: 502, retryAfter: undefined }, 4, 2_000],
  [{ status: 502, retryAfter: undefined }, 9, 8_000],
  [{ status: 503, retryAfter: '999999' }, 1, 30_000],
  [{ status: 503, retryAfter: 'soon' }, 1, 250],
  [{ status: 503, retryAfter: undefined }, 11, 'failed'],
  [{ failure: 'reset', isPermanent: false }, 2, 500],
  [{ failure: 'forbidden', isPermanent: true }, 1, 'failed'],
] as const)('%j at try %i: %s', (attempt, attempts, next) => {
  expect(nextAttempt(attempt, attempts, 10, () => 1)).toBe(next);
});
