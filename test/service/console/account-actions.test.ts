import { expect, test } from 'vitest';
import { page, submit } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const account = async (): Promise<string> =>
  (await service.send('POST', '/managed-accounts', { email: 'ada@example.com', password: 'hunter2' })).body
    .short_id;
const event = (id: string, name: string, fields = {}) =>
  submit(service, `/console/accounts/${id}/${name}`, fields);

test('the first forwarded message arrives', async () => {
  const id = await account();
  expect((await event(id, 'forwarded')).headers.get('location')).toBe(`/console/accounts/${id}`);
  expect((await service.send('GET', '/managed-accounts')).body.credentials[0].has_forwarding).toBe(true);
});

test('an account is deleted once that is confirmed, and orders that wait for it fail', async () => {
  const id = await account();
  const ordered = async () => (await service.order('test-slow', { retailer_credentials_id: id })).body.id;
  await ordered();
  const waiting = await ordered();
  const unsure = await event(id, 'delete');
  expect([unsure.status, unsure.text]).toEqual([400, expect.stringContaining('tick that this is meant')]);
  expect((await event(id, 'delete', { sure: 'yes' })).status).toBe(303);
  expect((await service.send('GET', '/managed-accounts')).body.total).toBe(0);
  expect((await service.send('GET', `/orders/${waiting}`)).body.job_result.error_type).toBe('login_failed');
  const gone = await event(id, 'delete', { sure: 'yes' });
  expect([gone.status, gone.text]).toEqual([
    404,
    expect.stringContaining('<a href="/console/accounts">All accounts</a>'),
  ]);
});

test('nothing else happens to an account', async () => {
  const id = await account();
  expect((await event(id, 'nonsense')).status).toBe(404);
  expect((await event('none', 'forwarded')).status).toBe(404);
});

test('its page shows it, with no secret', async () => {
  const id = await account();
  const path = (await event(id, 'forwarded')).headers.get('location') ?? '';
  const { text } = await page(service, path);
  expect(text).toContain('a message has come');
  expect(text).toContain(`action="${path}/delete"`);
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('/forwarded"');
});
