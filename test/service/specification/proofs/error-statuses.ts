import { expect } from 'vitest';
import { challengeFor, sendPaid } from '../../../support/payer.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { errorStatusRows } from '../rows/errors.ts';
import { addAccount, ask, cancel, expectInvalid, ordered } from '../scenes.ts';

export const errorStatusProofs: ProofsOf<typeof errorStatusRows> = {
  'status 201': proof('an order was created', async (it) => {
    expect((await it.order('test-success')).status).toBe(201);
  }),
  'status 204': proof('a cancel and a delete, without a body', async (it) => {
    const { status, text } = await cancel(it, (await it.order('test-slow')).body.id);
    const gone = await it.send('DELETE', `/managed-accounts/${(await addAccount(it)).body.short_id}`);
    expect([status, text, gone.status, gone.text]).toEqual([204, '', 204, '']);
  }),
  'status 400': proof('both refusals of a test product at creation', async (it) => {
    for (const slug of ['test-invalid-address', 'test-url-unreachable'])
      expect((await it.order(slug)).status).toBe(400);
  }),
  'status 402': proof('insufficient funds, and a challenge', async (it) => {
    expect((await it.order('test-insufficient-funds')).status).toBe(402);
    const unpaid = await sendPaid(it, '/agent/search', { q: 'coffee' });
    expect([unpaid.status, challengeFor(unpaid).intent]).toEqual([402, 'charge']);
  }),
  'status 409': proof('a second return of what is being returned', async (it) => {
    const placed = await ordered(it);
    expect([(await ask(it, placed)).status, (await ask(it, placed)).status]).toEqual([201, 409]);
  }),
  'status 422': proof('the validation body, in query, path and body', async (it) => {
    expectInvalid(await it.send('GET', '/orders?limit=0'), 'query', 'limit');
    expectInvalid(await it.send('GET', '/orders/1'), 'path', 'order_id');
    expectInvalid(await it.order('test-success', { max_price: -1 }), 'body', 'max_price');
  }),
};
