import { describe, expect, test } from 'vitest';
import { caller, failureOf, keyedOrder, order, orderId } from '../../support/caller.ts';
import { json, peer, text } from '../../support/peer.ts';

type Respond = ReturnType<typeof json>;

/** Places an order whose only attempt gets this response; returns its error. */
async function endOf(response: Respond) {
  const service = await peer(response);
  return failureOf(caller(service.url, { retries: 0 }).client.call('order.create', { body: keyedOrder }));
}

const inDoubt = { category: 'in_doubt', exitCode: 10, facts: { outcome: 'unknown' } };
const body = (code: string) => ({ code, message: 'no', details: {} });
const html = { 'content-type': 'text/html' };

describe('what proves that nothing was ordered', () => {
  test.each<[string, Respond]>([
    ['a code of the operation', json(body('out_of_stock'), 400)],
    ['a code of the wallet', json(body('insufficient_funds'), 402)],
    ['a code about the key', json(body('token_expired'), 401)],
    ['forbidden, by the service itself', json(body('forbidden'), 403)],
    ['the same in the wrapping of a gateway', json({ error: body('out_of_stock') }, 400)],
    ['the validation body', json({ detail: [{ loc: ['body', 'max_price'], msg: 'no', type: 'x' }] }, 422)],
  ])('%s', async (_, response) => {
    expect((await endOf(response)).facts.outcome).toBe('rejected');
  });

  test('a challenge to pay, where the operation is paid by challenge', async () => {
    const request = Buffer.from(JSON.stringify({ amount: '5100', currency: 'usd' })).toString('base64url');
    const challenge = `Payment id="c1", realm="r", method="sandbox", intent="charge", request="${request}"`;
    const service = await peer(json({ title: 'Payment Required' }, 402, { 'www-authenticate': challenge }));
    const { client } = caller(service.url);
    const paid = { payment: 'Payment eyJ9' };
    const error = await failureOf(client.call('agent.order.create', { body: keyedOrder }, paid));
    expect(error).toMatchObject({ name: 'PaymentRequiredError', facts: { outcome: 'rejected' } });
  });
});

describe('what proves nothing, so that an order stays in doubt', () => {
  test.each<[string, Respond]>([
    ['a 401 without a body', text('', 401)],
    ['a 403 without a body', text('', 403)],
    ["a gateway's page for 403", text('<html>denied</html>', 403, html)],
    ['a 404 that is a page', text('<!doctype html><h1>Not found</h1>', 404, html)],
    ['a 404 of a router', json({ detail: 'Not Found' }, 404)],
    ['a 408', text('', 408)],
    ['a 409 without a code', json({ message: 'conflict' }, 409)],
    ['a 413 of a proxy', text('Request Entity Too Large', 413)],
    ['a 400 of a gateway', json({ message: 'Bad request' }, 400)],
    ['a 422 that names no field', json({ detail: 'no' }, 422)],
    ['a code that belongs to another operation', json(body('order_not_cancellable'), 400)],
    ['a code that nobody knows', json(body('blocked_by_waf'), 403)],
    ['a code without a message', json({ code: 'out_of_stock' }, 400)],
    ['a listed code with the status of a failure', json(body('out_of_stock'), 502)],
    ['a rate limit', json(body('rate_limit_exceeded'), 429)],
    ['a 304', text('', 304)],
    ['a 402 challenge, where a key pays', json({}, 402, { 'www-authenticate': 'Payment id="c1"' })],
  ])('%s', async (_, response) => {
    expect(await endOf(response)).toMatchObject(inDoubt);
  });

  test.each([null, '', ' ', true, 1, [], {}, [orderId], 'no', `${orderId} `, '../orders'])(
    'a 201 with the id %j',
    async (id) => {
      const error = await endOf(json({ ...order, id }, 201));
      expect(error).toMatchObject(inDoubt);
      expect(error.message).toContain('its id is not an id');
    },
  );

  test('a batch, a return and a retry without an id', async () => {
    const service = await peer(json({ id: null, request_id: {}, status: 'open' }, 201));
    const { client } = caller(service.url, { legacyBaseUrl: service.url, legacyToken: 'client-token' });
    const returned = {
      order_id: orderId,
      items: [{ order_item_id: orderId, quantity: 1 }],
      reason: 'damaged' as const,
    };
    const calls = [
      client.call('bulk.create', { body: { rows: [] } }),
      client.call('return.create', { body: returned }),
      client.call('legacy.retry', { path: { request_id: orderId } }),
    ];
    for (const call of calls) expect(await failureOf(call)).toMatchObject(inDoubt);
  });

  test('a write that moves no money is refused as before', async () => {
    const service = await peer(text('', 403));
    const error = await failureOf(
      caller(service.url).client.call('order.cancel', { path: { order_id: orderId } }),
    );
    expect(error).toMatchObject({ category: 'authentication', facts: { outcome: 'rejected' } });
  });
});
