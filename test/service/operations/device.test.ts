import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const start = async (body?: unknown) => (await service.send('POST', '/device/code', body, null)).body;
const poll = (device_code: string) => service.send('POST', '/device/token', { device_code }, null);
const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  service.send('POST', path, new URLSearchParams(fields).toString(), null, {
    'content-type': 'application/x-www-form-urlencoded',
    ...headers,
  });

test('POST /device/code returns both codes, where to enter one, and the interval', async () => {
  const started = await start({ name: 'laptop' });
  expect(started).toMatchObject({ expires_in: 900, interval: 5 });
  expect(started.user_code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
  expect(started.verification_uri_complete).toContain(started.user_code);
  expect(
    (await service.send('GET', new URL(started.verification_uri).pathname, undefined, null)).status,
  ).toBe(200);
  expect((await start()).user_code).not.toBe(started.user_code);
});

test('a form is polled with too, as RFC 8628 has it', async () => {
  const { device_code } = await start();
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  const waiting = await form('/device/token', { device_code, grant_type, client_id: 'me' });
  expect([waiting.status, waiting.body.code]).toEqual([400, 'authorization_pending']);
  const inJson = { device_code, grant_type, client_id: 'me' };
  expect((await service.send('POST', '/device/token', inJson, null)).body.code).toBe('slow_down');
  const other = { device_code, grant_type: 'password' };
  expect((await service.send('POST', '/device/token', other, null)).status).toBe(422);
  expect((await form('/device/token', other)).status).toBe(422);
  const without = await form('/device/token', { grant_type });
  expect(without.status).toBe(422);
  expect(without.body.detail[0].loc).toEqual(['body', 'device_code']);
});

test('authorization_pending until a person approves; then the key, once', async () => {
  const { device_code: code, user_code: typed } = await start({ name: 'laptop' });
  const waiting = await poll(code);
  expect([waiting.status, waiting.body.code, waiting.body.details.interval]).toEqual([
    400,
    'authorization_pending',
    5,
  ]);
  const response = await form('/device', {
    user_code: typed.toLowerCase().replace('-', ''),
    decision: 'approve',
    email: 'a@b.c',
  });
  expect(response.text).toContain('Approved');
  service.pass(5000);
  const { status, body } = await poll(code);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    name: 'laptop',
    is_active: true,
    is_test: true,
    wallet_balance_cents: 100_000,
  });
  expect(body.key).toBe(body.api_key);
  expect((await service.send('GET', '/wallet/me', undefined, body.api_key)).body.balance).toBe(100_000);
  service.pass(5000);
  expect((await poll(code)).body.code).toBe('expired_token');
});

test('a poll after the machine was set back is not too fast', async () => {
  const { device_code } = await start();
  expect((await poll(device_code)).body.code).toBe('authorization_pending');
  service.pass(-60_000);
  expect((await poll(device_code)).body.code).toBe('authorization_pending');
});

test('slow_down when polled too fast, with an interval that grows', async () => {
  const { device_code: code } = await start();
  await poll(code);
  service.pass(4999);
  const fast = await poll(code);
  expect([fast.status, fast.body.code, fast.body.details.interval]).toEqual([400, 'slow_down', 10]);
  service.pass(9000);
  expect((await poll(code)).body.details.interval).toBe(15);
  service.pass(15_000);
  expect((await poll(code)).body.code).toBe('authorization_pending');
});

test('access_denied after a person denied', async () => {
  const { device_code: code, user_code: typed } = await start();
  await form('/device', { user_code: typed, decision: 'deny' });
  const denied = await poll(code);
  expect([denied.status, denied.body.code]).toEqual([400, 'access_denied']);
});

test('expired_token after its time, and for a code that never was', async () => {
  const { device_code: code, user_code: typed } = await start();
  service.pass(900_000);
  expect((await poll(code)).body.code).toBe('expired_token');
  expect((await form('/device', { user_code: typed, decision: 'approve', email: 'a@b.c' })).status).toBe(400);
  expect((await poll('nothing')).body.code).toBe('expired_token');
});

test('a device is approved and denied by a trigger too', async () => {
  const [one, two] = [await start(), await start()];
  const fire = (event: string, id: string) => service.send('POST', '/sandbox/trigger', { event, id });
  expect((await fire('device-approve', one.user_code)).status).toBe(200);
  expect((await fire('device-deny', two.user_code)).status).toBe(200);
  expect((await poll(one.device_code)).status).toBe(200);
  expect((await poll(two.device_code)).body.code).toBe('access_denied');
  expect((await fire('device-approve', 'BBBB-BBBB')).status).toBe(404);
});

test('no other site approves in a person’s name, and no text of a code becomes markup', async () => {
  const { user_code: typed, device_code: code } = await start();
  const fields = { user_code: typed, decision: 'approve', email: 'a@b.c' };
  expect((await form('/device', fields, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await poll(code)).body.code).toBe('authorization_pending');
  const shown = await service.send(
    'GET',
    `/device?user_code=${encodeURIComponent('"><script>x')}`,
    undefined,
    null,
  );
  expect(shown.text).not.toContain('<script>');
});

test('a code is approved without an email too, but not by a form that decides nothing', async () => {
  const { user_code: typed, device_code: code } = await start();
  expect((await form('/device', { user_code: typed })).status).toBe(400);
  expect((await form('/device', { user_code: typed, decision: 'approve', email: 'nobody' })).status).toBe(
    400,
  );
  expect((await poll(code)).body.code).toBe('authorization_pending');
  expect((await form('/device', { user_code: typed, decision: 'approve' })).text).toContain('Approved');
  expect((await poll(code)).status).toBe(200);
});

test('a decision stands: what was denied is not approved afterwards', async () => {
  const { user_code: typed, device_code: code } = await start();
  await form('/device', { user_code: typed, decision: 'deny' });
  expect((await form('/device', { user_code: typed, decision: 'approve' })).status).toBe(400);
  expect((await poll(code)).body.code).toBe('access_denied');
});

test('one approved code is one key, however many polls ask for it at once', async () => {
  const { user_code: typed, device_code: code } = await start();
  await form('/device', { user_code: typed, decision: 'approve' });
  const responses = await Promise.all(Array.from({ length: 8 }, () => poll(code)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)]);
});

test('too many codes that wait at one address are refused until the first has expired', async () => {
  for (let count = 0; count < 100; count += 1) await start();
  const refused = await service.send('POST', '/device/code', undefined, null);
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
    429,
    'rate_limit_exceeded',
    '900',
  ]);
  service.pass(900_000);
  expect((await service.send('POST', '/device/code', undefined, null)).status).toBe(200);
});

test('neither code is in the store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-device-'));
  const kept = await TestService.start({ file: join(folder, 'sandbox.db') });
  try {
    const { device_code: code, user_code: typed } = (await kept.send('POST', '/device/code')).body;
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(files.join('')).not.toContain(code);
    expect(files.join('')).not.toContain(typed);
  } finally {
    await kept.stop();
    rmSync(folder, { recursive: true });
  }
});

test('no other site frames a page, and a page runs nothing', async () => {
  const { headers } = await service.send('GET', '/device', undefined, null);
  const policy = headers.get('content-security-policy');
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"])
    expect(policy).toContain(part);
  expect(policy).not.toContain('unsafe');
  expect(headers.get('cache-control')).toBe('no-store');
});

const status = async () => (await service.send('GET', '/sandbox/status')).body;

test('a claim_url claims the sandbox, GET /sandbox/status reports it, and the key goes on working', async () => {
  const minted = (await service.send('POST', '/sandbox/keys', {}, null)).body;
  service.key = minted.api_key;
  const path = new URL(minted.claim_url).pathname;
  expect(await status()).toMatchObject({ claimed: false, claimed_by_email: null });
  expect((await service.send('GET', path, undefined, null)).text).toContain('Claim this sandbox');
  expect((await form(path, { email: 'nobody' })).status).toBe(400);
  expect((await form(path, { email: 'ada@example.com' })).text).toContain('ada@example.com');
  expect(await status()).toMatchObject({ claimed: true, claimed_by_email: 'ada@example.com' });
  expect((await service.order('test-success')).status).toBe(201);
  const again = await form(path, { email: 'eve@example.com' });
  expect(again.text).toContain('a…@example.com');
  expect(again.text).not.toContain('ada@example.com');
  expect((await status()).claimed_by_email).toBe('ada@example.com');
  expect((await status()).hint).toContain('2026-03-01T12:00:00.000Z');
  expect((await service.send('GET', '/claim/none', undefined, null)).status).toBe(404);
});

test('a trigger claims it too', async () => {
  expect((await service.send('POST', '/sandbox/trigger', { event: 'key-claimed' })).status).toBe(200);
  expect((await status()).claimed).toBe(true);
  expect((await service.send('POST', '/sandbox/trigger', { event: 'key-claimed' })).status).toBe(400);
});
