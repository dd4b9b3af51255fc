import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { TestService } from '../../support/service.ts';

let folder: string;
let service: TestService;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-accounts-'));
  service = await TestService.start({ file: join(folder, 'sandbox.db') });
});
afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
  expect(service.bugs).toEqual([]);
});

const secret = 'S'.repeat(64);
const add = (more: Record<string, unknown> = {}) =>
  service.send('POST', '/managed-accounts', {
    email: 'ada@example.com',
    password: 'hunter2-hunter2',
    ...more,
  });

test('POST /managed-accounts stores an account and never shows its secrets', async () => {
  const made = await add({ retailer: 'membersbarn', totp_secret: secret, retailer_config: { region: 'US' } });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    email: 'ada@example.com',
    retailer: 'membersbarn',
    retailer_id: expect.any(Number),
    has_totp: true,
    has_forwarding: false,
    retailer_config: { region: 'US' },
    locked_by_job_id: null,
    last_used_at: null,
  });
  expect(made.body.short_id).toMatch(/^[a-z]+_acct_\w+$/);
  expect(made.body.forwarding_email).toMatch(/^fwd-\w+@/);
  expect(made.text).not.toContain('hunter2');
  expect(made.text).not.toContain(secret);
});

test('passwords and two-factor secrets are not to be read in the file, and its key is the owner’s alone', async () => {
  await add({ totp_secret: secret });
  const file = join(folder, 'sandbox.db');
  for (const name of [file, `${file}-wal`]) {
    const bytes = readFileSync(name, 'latin1');
    expect(bytes).not.toContain('hunter2');
    expect(bytes).not.toContain(secret);
  }
  expect(statSync(`${file}.key`).mode & 0o777).toBe(0o600);
});

test('GET /managed-accounts pages and searches by email, retailer and short id, newest first', async () => {
  for (let index = 0; index < 5; index += 1) await add({ email: `user${index}@example.com` });
  const shop = (await add({ email: 'x@example.com', retailer: 'membersbarn' })).body;
  const all = (await service.send('GET', '/managed-accounts?limit=2&offset=1')).body;
  expect(all.total).toBe(6);
  expect(all.credentials.map(({ email }: { email: string }) => email)).toEqual([
    'user4@example.com',
    'user3@example.com',
  ]);
  const searched = async (text: string) =>
    (await service.send('GET', `/managed-accounts?search=${text}`)).body.total;
  expect(await searched('USER')).toBe(5);
  expect(await searched('members')).toBe(1);
  expect(await searched(shop.short_id.slice(-6))).toBe(1);
  expect(await searched('nobody')).toBe(0);
});

test('PUT /managed-accounts/{short_id} changes the given fields and nothing else', async () => {
  const { short_id: id } = (await add({ totp_secret: secret, retailer_config: { region: 'US' } })).body;
  service.pass(1000);
  const changed = await service.send('PUT', `/managed-accounts/${id}`, { email: 'new@example.com' });
  expect(changed.status).toBe(200);
  expect(changed.body).toMatchObject({
    email: 'new@example.com',
    has_totp: true,
    retailer_config: { region: 'US' },
  });
  expect(changed.body.updated_at > changed.body.created_at).toBe(true);
  const nothing = { email: null, password: null, retailer: null, totp_secret: null, retailer_config: null };
  const same = await service.send('PUT', `/managed-accounts/${id}`, nothing);
  expect(same.body).toMatchObject({
    email: 'new@example.com',
    has_totp: true,
    retailer_config: { region: 'US' },
  });
  const without = await service.send('PUT', `/managed-accounts/${id}`, {
    totp_secret: '',
    retailer_config: {},
  });
  expect(without.body).toMatchObject({ email: 'new@example.com', has_totp: false, retailer_config: null });
  expect((await service.send('PUT', `/managed-accounts/${id}`, { email: '' })).status).toBe(422);
});

test('DELETE /managed-accounts/{short_id} returns 204, then 404', async () => {
  const { short_id: id } = (await add()).body;
  expect((await service.send('DELETE', `/managed-accounts/${id}`)).status).toBe(204);
  const again = await service.send('DELETE', `/managed-accounts/${id}`);
  expect([again.status, again.body.code]).toEqual([404, 'not_found']);
});

test('nobody reads or changes the account of another', async () => {
  const { short_id: id } = (await add()).body;
  const other = await service.mint();
  expect((await service.send('PUT', `/managed-accounts/${id}`, { email: 'x@y.z' }, other)).status).toBe(404);
  expect((await service.send('DELETE', `/managed-accounts/${id}`, undefined, other)).status).toBe(404);
  expect((await service.send('GET', '/managed-accounts', undefined, other)).body.total).toBe(0);
  const order = await service.order('test-success', { retailer_credentials_id: id }, other);
  expect([order.status, order.body.code]).toEqual([400, 'bad_request']);
});

test.each([
  [{ email: undefined }, 422],
  [{ totp_secret: '123456' }, 422],
  [{ retailer: '' }, 422],
  [{ surprise: 1 }, 422],
])('an account of %j is refused', async (more, status) => {
  expect((await add(more)).status).toBe(status);
});

test('an account at a retailer that is not known is stored, and pays none of the known ones', async () => {
  const made = (await add({ retailer: 'nosuchshop' })).body;
  expect(made).toMatchObject({ retailer: 'nosuchshop', retailer_id: null });
  const moved = await service.send('PUT', `/managed-accounts/${made.short_id}`, { retailer: 'HarborGoods' });
  expect(moved.body).toMatchObject({ retailer: 'harborgoods', retailer_id: expect.any(Number) });
  const cleared = await service.send('PUT', `/managed-accounts/${made.short_id}`, { retailer: '' });
  expect(cleared.body).toMatchObject({ retailer: null, retailer_id: null });
});

test('the same login for the same retailer returns already_exists with the account there is', async () => {
  const first = (await add()).body;
  const again = await add({ email: 'ADA@example.com' });
  expect([again.status, again.body.code, again.body.details.identifier]).toEqual([
    409,
    'already_exists',
    first.short_id,
  ]);
});

const statuses = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await service.send('GET', `/orders/${id}`)).body.status));

test('one order at a time runs on an account; the others wait in order', async () => {
  const account = (await add()).body;
  const place = async (id: string) =>
    (await service.order('test-success', { retailer_credentials_id: id })).body.id as string;
  // The short id and the UUID name the same account.
  const ids = [await place(account.short_id), await place(account.id), await place(account.short_id)];
  service.pass(1500);
  expect(await statuses(ids)).toEqual(['in_progress', 'pending', 'pending']);
  const listed = (await service.send('GET', '/managed-accounts')).body.credentials[0];
  expect(listed.locked_by_job_id).toBe(ids[0]);
  expect(listed.last_used_at).not.toBeNull();
  service.pass(2500);
  expect(await statuses(ids)).toEqual(['order_placed', 'in_progress', 'pending']);
  service.pass(20_000);
  expect(await statuses(ids)).toEqual(['order_placed', 'order_placed', 'order_placed']);
  expect((await service.send('GET', '/managed-accounts')).body.credentials[0].locked_by_job_id).toBeNull();
});

test('an order that is cancelled while it waits lets those behind it come forward', async () => {
  const { short_id: account } = (await add()).body;
  const slow = (await service.order('test-slow', { retailer_credentials_id: account })).body.id;
  const next = (await service.order('test-success', { retailer_credentials_id: account })).body.id;
  service.pass(10_000);
  expect(await statuses([slow, next])).toEqual(['pending', 'pending']);
  expect((await service.send('POST', `/orders/${slow}/cancel`)).status).toBe(204);
  service.pass(3_000);
  expect(await statuses([slow, next])).toEqual(['cancelled', 'order_placed']);
});

test('an order that waited behind one without an end is told a delivery a few days after its own placing', async () => {
  const { short_id: account } = (await add()).body;
  const endless = (await service.order('test-never', { retailer_credentials_id: account })).body.id;
  const next = (await service.order('test-success', { retailer_credentials_id: account })).body.id;
  const last = (await service.order('test-success', { retailer_credentials_id: account })).body.id;
  await service.send('POST', '/sandbox/trigger', { event: 'placed', id: last });
  await service.send('POST', '/sandbox/trigger', { event: 'failed', id: endless });
  service.pass(20_000);
  for (const id of [next, last]) {
    const { job_result, tracking_numbers } = (await service.send('GET', `/orders/${id}`)).body;
    expect(job_result.estimated_delivery).toMatch(/^2026-03-0[3-7]$/);
    expect(tracking_numbers[0].estimated_delivery_date).toBe(job_result.estimated_delivery);
  }
});

test('orders that wait for an account fail with it once it is deleted; the one under way goes on', async () => {
  const { short_id: account } = (await add()).body;
  const { spendable_balance: before } = (await service.send('GET', '/wallet/me')).body;
  const place = async () =>
    (await service.order('test-success', { retailer_credentials_id: account })).body.id as string;
  const ids = [await place(), await place(), await place()];
  service.pass(1_500);
  expect(await statuses(ids)).toEqual(['in_progress', 'pending', 'pending']);
  expect((await service.send('DELETE', `/managed-accounts/${account}`)).status).toBe(204);
  expect(await statuses(ids)).toEqual(['in_progress', 'order_failed', 'order_failed']);
  const { job_result, attempts } = (await service.send('GET', `/orders/${ids[1]}`)).body;
  expect([job_result.error_type, attempts]).toEqual(['login_failed', 1]);
  service.pass(30_000);
  expect(await statuses(ids)).toEqual(['order_placed', 'order_failed', 'order_failed']);
  // One fee was charged, and nothing is reserved any more.
  const { balance, spendable_balance } = (await service.send('GET', '/wallet/me')).body;
  expect([balance, spendable_balance]).toEqual([before - 100, before - 100]);
});

test('an order on an account costs the wallet the fee alone', async () => {
  const { short_id: account } = (await add()).body;
  const before = (await service.send('GET', '/wallet/me')).body;
  await service.order('test-success', { retailer_credentials_id: account });
  service.pass(20_000);
  const after = (await service.send('GET', '/wallet/me')).body;
  expect(before.balance - after.balance).toBe(before.order_fee_cents);
});

const failure = async (account: string, body: Record<string, unknown>) => {
  const made = await service.send('POST', '/orders', { ...body, retailer_credentials_id: account });
  expect(made.status).toBe(201);
  service.pass(60_000);
  return (await service.send('GET', `/orders/${made.body.id}`)).body.job_result?.error_type ?? null;
};

test('a retailer for members only takes an order on an account, and asks it for a second factor', async () => {
  const found = (await service.send('GET', '/search?q=coffee&retailer=membersbarn')).body.results;
  const body = { ...orderBody(found[0]?.url ?? ''), max_price: 90_000 };
  const guest = await service.send('POST', '/orders', body);
  expect([guest.status, guest.body.code]).toEqual([400, 'guest_checkout_not_supported']);
  const { short_id: id } = (await add({ retailer: 'membersbarn' })).body;
  expect(await failure(id, body)).toBe('login_failed');
  await service.send('PUT', `/managed-accounts/${id}`, { totp_secret: secret });
  expect(await failure(id, body)).toBeNull();
});

test('login_failed and account_locked can be rehearsed on an account', async () => {
  const body = orderBody(service.product('test-success'));
  const nameless = (await add({ password: null })).body.short_id;
  expect(await failure(nameless, body)).toBe('login_failed');
  for (const outcome of ['login_failed', 'account_locked']) {
    const email = `${outcome}@example.com`;
    const { short_id: id } = (await add({ email, retailer_config: { sandbox_outcome: outcome } })).body;
    expect(await failure(id, body)).toBe(outcome);
  }
});

test('an account at another retailer than the product’s is refused', async () => {
  const found = (await service.send('GET', '/search?q=coffee&retailer=harborgoods')).body.results;
  const { short_id: id } = (await add({ retailer: 'membersbarn' })).body;
  const refused = await service.send('POST', '/orders', {
    ...orderBody(found[0].url),
    retailer_credentials_id: id,
  });
  expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
});

test('insufficient_funds names the saved account first, with the fee as all that it takes', async () => {
  const { short_id: id } = (await add()).body;
  const refused = await service.order('test-success', { max_price: 10_000_000 });
  expect(refused.status).toBe(402);
  expect(refused.body.details).toMatchObject({ required: 10_000_100, available: 100_000 });
  expect(refused.body.details.fund_with[0]).toMatchObject({
    rail: 'your_retailer_account',
    retailer_credentials_id: id,
    required: 100,
  });
});

test('an order on an account that cannot be paid lacks the fee alone', async () => {
  const { short_id: id } = (await add()).body;
  const refused = await service.order('test-insufficient-funds', { retailer_credentials_id: id });
  expect(refused.status).toBe(402);
  expect(refused.body.details).toMatchObject({ required: 100, available: 99 });
  // A lower ceiling would not help: the retailer charges the account.
  expect(refused.body.details.fund_with.map(({ rail }: { rail: string }) => rail)).toEqual([
    'sandbox_funding',
    'sandbox_key',
  ]);
});
