import { describe, expect, test } from 'vitest';
import { PaymentRequiredError } from '../../../src/http/errors.ts';
import { caller, failureOf, keyedOrder, order } from '../../support/caller.ts';
import { json, peer, reset, text } from '../../support/peer.ts';

const request = Buffer.from('{"amount":"5100","currency":"usd"}').toString('base64url');
const challenge = (method: string) =>
  `Payment id="c-${method}", realm="r", method="${method}", intent="charge", request="${request}"`;
const challenged = json({ title: 'Payment Required', status: 402, detail: 'pay first' }, 402, {
  'www-authenticate': `${challenge('sandbox')}, ${challenge('stripe')}`,
});
const search = { query: { q: 'tea' } };
const payment = 'Payment abcdefghijklmnopqrstuvwxyz';

describe('a call that is paid by challenge', () => {
  test('returns 402 with what would pay for it, and needs no key', async () => {
    const service = await peer(challenged);
    const { client } = caller(service.url, { apiKey: null });
    const error = await failureOf(client.call('agent.search', search));
    expect(error).toBeInstanceOf(PaymentRequiredError);
    expect(error).toMatchObject({
      category: 'payment',
      message: 'pay first',
      facts: { status: 402, outcome: 'rejected' },
    });
    const challenges = error instanceof PaymentRequiredError ? error.challenges : [];
    expect(challenges.map(({ method, amount }) => [method, amount])).toEqual([
      ['sandbox', '5100'],
      ['stripe', '5100'],
    ]);
  });

  test('carries no key of an account', async () => {
    const service = await peer(json({ status: 'completed', results: [] }));
    await caller(service.url).client.call('agent.search', search);
    expect(service.received[0]?.headers.authorization).toBeUndefined();
  });

  test('costs nothing until it is paid, so a lost response is asked for again', async () => {
    const service = await peer(reset, text('gone', 502), challenged);
    const error = await failureOf(
      caller(service.url).client.call('agent.order.create', { body: keyedOrder }),
    );
    expect(error.category).toBe('payment');
    expect(service.received).toHaveLength(3);
  });

  test('once paid is sent once where it is a read: without a response it is in doubt', async () => {
    const service = await peer(reset, json({ status: 'completed', results: [] }));
    const error = await failureOf(caller(service.url).client.call('agent.search', search, { payment }));
    expect(error.category).toBe('in_doubt');
    expect(service.received).toHaveLength(1);
    expect(service.received[0]?.headers.authorization).toBe(payment);
  });

  test('once paid is sent again with the same payment where it is an order with its key', async () => {
    const service = await peer(reset, json(order, 201, { 'x-api-key': 'xx_test_0123456789' }));
    const { client } = caller(service.url);
    const { headers } = await client.call('agent.order.create', { body: keyedOrder }, { payment });
    expect(headers['x-api-key']).toBe('xx_test_0123456789');
    expect(service.received.map((one) => one.headers.authorization)).toEqual([payment, payment]);
    expect(service.received[0]?.body).toBe(service.received[1]?.body);
  });

  test('refused after a response was lost is in doubt: the first one may have been taken', async () => {
    const service = await peer(reset, challenged);
    const { client } = caller(service.url);
    const error = await failureOf(client.call('agent.order.create', { body: keyedOrder }, { payment }));
    expect(error.category).toBe('in_doubt');
  });

  test('402 without a challenge that can be read is a plain refusal', async () => {
    const refused = json({ code: 'insufficient_funds', message: 'too little', details: {} }, 402, {
      'www-authenticate': 'Payment id="x"',
    });
    const service = await peer(refused);
    const error = await failureOf(caller(service.url).client.call('agent.search', search));
    expect(error).not.toBeInstanceOf(PaymentRequiredError);
    expect(error).toMatchObject({ category: 'payment', facts: { code: 'insufficient_funds' } });
  });
});
