import { expect } from 'vitest';
import { operations } from '../../../../src/api/operations/index.ts';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { withReceiver } from '../hooks.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { otherEndpoints } from '../rows/endpoints.ts';
import type { deviceStates, keyStates } from '../rows/states.ts';
import { expectInvalid, expectRefusal, fire, nobody, ordered, read, second } from '../scenes.ts';
import { poll, startDevice } from './device.ts';

export const otherEndpointProofs: ProofsOf<typeof otherEndpoints> = {
  'GET /track/{order_id}': proof('shows parcels without a key, and no name', async (it) => {
    const { id } = await ordered(it);
    const { status, body, text } = await it.send('GET', `/track/${id}`, undefined, null);
    expect([status, body.shipments[0].status]).toEqual([200, 'delivered']);
    expect(text).not.toMatch(/Ada|Byron/);
    expect(checkShape('PublicTrackingResponse', body, 'response').issues).toBeUndefined();
    expectRefusal(await it.send('GET', `/track/${nobody}`, undefined, null), 404, 'not_found');
  }),
  'GET /usage': proof('counts the calls of the key', async (it) => {
    for (const word of ['coffee', 'tea']) await read(it, `/search?q=${word}`);
    const usage = await read(it, '/usage');
    expect(usage.metrics.search.total).toBe(2);
    expect(usage.recent[0].query).toBe('tea');
    expect(checkShape('UserUsageResponse', usage, 'response').issues).toBeUndefined();
  }),
  'GET /wallet/me': proof('what can be spent, and the fee of an order', async (it) => {
    const before = await read(it, '/wallet/me');
    expect(checkShape('Wallet', before, 'response').issues).toBeUndefined();
    await it.order('test-success');
    const { spendable_balance } = await read(it, '/wallet/me');
    expect(spendable_balance).toBe(before.spendable_balance - 5000 - before.order_fee_cents);
  }),
  'POST /sandbox/keys': proof('mints for anybody, with a body or an empty one', async (it) => {
    for (const sent of [undefined, '{}', { email: 'a@example.com', name: 'Ada' }]) {
      const { status, body } = await it.send('POST', '/sandbox/keys', sent, null);
      expect([status, body.api_key.split('_')[1]]).toEqual([201, 'test']);
      expect(body.claim_url).toContain(it.baseUrl);
      expect(checkShape('SandboxKey', body, 'response').issues).toBeUndefined();
      expect((await it.send('GET', '/wallet/me', undefined, body.api_key)).status).toBe(200);
    }
  }),
  'GET /sandbox/status': proof('tells whether it has been claimed', async (it) => {
    expect((await read(it, '/sandbox/status')).claimed).toBe(false);
    await fire(it, 'key-claimed');
    expect((await read(it, '/sandbox/status')).claimed).toBe(true);
    expect((await it.send('GET', '/sandbox/status', undefined, null)).status).toBe(401);
  }),
  'POST /users': proof('hooks reach the address of this user and of no other', async (it) => {
    await withReceiver(it, async ({ url, hooks, until }) => {
      const { status, body } = await it.send('POST', '/users', { webhook_url: url });
      expect([status, body.webhook_url]).toEqual([200, url]);
      const other = await it.mint();
      await it.order('test-success', {}, other);
      const { id } = (await it.order('test-success')).body;
      await until(() => hooks.length >= 3);
      expect(new Set(hooks.map((hook) => hook.body.id))).toEqual(new Set([id]));
    });
    expectInvalid(await it.send('POST', '/users', {}), 'body', 'webhook_url');
  }),
  'POST /device/code': proof('returns both codes and the interval', async (it) => {
    const started = await startDevice(it);
    expect(started).toMatchObject({
      device_code: expect.any(String),
      user_code: expect.any(String),
      interval: 5,
    });
    expect(checkShape('DeviceCode', started, 'response').issues).toBeUndefined();
  }),
  'POST /device/token': proof('a refusal while it waits, the key once it is approved', async (it) => {
    const { device_code, user_code } = await startDevice(it);
    expectRefusal(await poll(it, device_code), 400, 'authorization_pending');
    await fire(it, 'device-approve', user_code);
    it.pass(5 * second);
    const { status, body } = await poll(it, device_code);
    expect(status).toBe(200);
    expect(checkShape('DeviceToken', body, 'response').issues).toBeUndefined();
    expect((await it.send('GET', '/wallet/me', undefined, body.api_key)).status).toBe(200);
  }),
  'GET /openapi.json': proof('describes every operation', async (it) => {
    const { status, body } = await it.send('GET', '/openapi.json', undefined, null);
    expect([status, body.openapi]).toEqual([200, '3.1.0']);
    for (const [name, { path, method }] of Object.entries(operations))
      expect(body.paths[path][method.toLowerCase()].operationId).toBe(name);
  }),
};

export const deviceStateProofs: ProofsOf<typeof deviceStates> = {
  'device authorization_pending': proof('keep waiting, five seconds', async (it) => {
    const waiting = await poll(it, (await startDevice(it)).device_code);
    expectRefusal(waiting, 400, 'authorization_pending');
    expect(waiting.body.details.interval).toBe(5);
  }),
  'device slow_down': proof('polled too fast: keep waiting, longer', async (it) => {
    const { device_code } = await startDevice(it);
    await poll(it, device_code);
    const fast = await poll(it, device_code);
    expectRefusal(fast, 400, 'slow_down');
    expect(fast.body.details.interval).toBeGreaterThanOrEqual(5);
  }),
  'device access_denied': proof('a person denied: stop', async (it) => {
    const { device_code, user_code } = await startDevice(it);
    await fire(it, 'device-deny', user_code);
    expectRefusal(await poll(it, device_code), 400, 'access_denied');
  }),
  'device expired_token': proof('nobody decided in time: stop', async (it) => {
    const { device_code, expires_in } = await startDevice(it);
    it.pass(expires_in * second);
    expectRefusal(await poll(it, device_code), 400, 'expired_token');
  }),
};

export const keyStateProofs: ProofsOf<typeof keyStates> = {
  'sandbox key -> claimed': proof('by the page at claim_url; the key keeps working', async (it) => {
    const { api_key, claim_url } = (await it.send('POST', '/sandbox/keys', undefined, null)).body;
    const page = claim_url.slice(it.baseUrl.length);
    expect((await it.send('GET', page, undefined, null)).status).toBe(200);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status } = await it.send('POST', page, 'email=ada%40example.com', null, form);
    expect(status).toBeLessThan(400);
    expect((await it.send('GET', '/sandbox/status', undefined, api_key)).body).toMatchObject({
      claimed: true,
      claimed_by_email: 'ada@example.com',
    });
    expect((await it.order('test-success', {}, api_key)).status).toBe(201);
  }),
};
