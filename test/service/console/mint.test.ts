import { expect, test } from 'vitest';
import { hostile } from '../../support/hostile-text.ts';
import { onceOf, page, rowOf, submit } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const keyIn = (markup: string): string =>
  /export ERRAND_API_KEY=(\S+?)</.exec(markup)?.[1] ?? expect.fail(markup);
const newForm = async (): Promise<string> => onceOf((await page(service, '/console/keys')).text);

test('the page that a form leads to shows the key with its export lines, and no other page does', async () => {
  const minted = await submit(service, '/console/keys', { once: await newForm(), name: 'laptop' });
  expect([minted.status, minted.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const key = keyIn(minted.text);
  expect(minted.text).toContain(`export ERRAND_BASE_URL=${service.baseUrl}\n`);
  expect((await service.send('GET', '/wallet/me', undefined, key)).body.balance).toBe(100_000);
  const wallet = /href="(\/console\/wallets\/[^"]+)"/.exec(minted.text)?.[1] ?? '';
  for (const path of ['/', '/console/keys', '/console/requests', wallet]) {
    const { status, text } = await page(service, path);
    expect([path, status]).toEqual([path, 200]);
    expect(text, path).not.toContain(key);
  }
  const requests = [
    ...(await page(service, '/console/requests')).text.matchAll(/href="(\/console\/requests\/\d+)"/g),
  ];
  expect(requests.length).toBeGreaterThan(1);
  for (const [, request = ''] of requests) {
    const { text } = await page(service, request);
    expect(text, request).not.toContain(key);
    expect(text, request).not.toContain(key.slice('sbx_test_'.length));
  }
  expect(rowOf((await page(service, '/console/keys')).text, 'key-2')[0]).toBe('sbx_test_… laptop');
});

test('a form that is sent twice at once mints one key and shows it twice; a minute later it is shown no more', async () => {
  const once = await newForm();
  const [one, two] = await Promise.all([1, 2].map(() => submit(service, '/console/keys', { once })));
  expect(keyIn(one?.text ?? '')).toBe(keyIn(two?.text ?? ''));
  const count = async () => (await page(service, '/console/keys')).text.match(/<tr id="key-/g)?.length;
  expect(await count()).toBe(2);
  const renamed = await submit(service, '/console/keys', { once, name: 'other' });
  expect([renamed.status, renamed.text]).toEqual([409, expect.stringContaining('with other values')]);
  expect(await count()).toBe(2);
  service.pass(61_000);
  const late = await submit(service, '/console/keys', { once });
  expect(late.status).toBe(409);
  expect(late.text).toContain('a key is shown once');
  expect(late.text).not.toContain(keyIn(one?.text ?? ''));
  expect(await count()).toBe(2);
  const another = await submit(service, '/console/keys', { once: onceOf(late.text) });
  expect(another.status).toBe(201);
});

test('what a form cannot mint is said with a way back', async () => {
  expect((await submit(service, '/console/keys', {})).status).toBe(400);
  const long = await submit(service, '/console/keys', { once: await newForm(), name: 'x'.repeat(101) });
  expect([long.status, long.text]).toEqual([
    400,
    expect.stringContaining('Name takes at most 100 characters'),
  ]);
  for (let minted = 1; minted < 25; minted += 1) await service.mint();
  const refused = await submit(service, '/console/keys', { once: await newForm() });
  expect(refused.status).toBe(429);
  expect(refused.text).toContain('25 keys a day can be minted');
  expect(refused.text).toMatch(/id="problem"|Back to the keys/);
});

test('a hostile name stays text', async () => {
  await submit(service, '/console/keys', { once: await newForm(), name: hostile.slice(0, 100) });
  for (const path of ['/console/keys', '/shop/test-success'])
    expect((await page(service, path)).text).not.toContain('<script>alert');
});

test('a sandbox without a key has the form on its front page', async () => {
  const { text } = await page(service, '/');
  expect(text).not.toContain('id="mint"');
  expect((await page(service, '/console/keys')).text).toContain('id="mint"');
});
