import { expect, test } from 'vitest';
import { page } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

test('to a browser an unknown page is a page, with ways on; to a program it stays the documented 404', async () => {
  for (const path of ['/nowhere', '/console/nowhere', '/shop/a/b/c', '/%3Cscript%3E', '/%ff']) {
    const { status, headers, text } = await page(service, path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8']);
    expect(text).toContain('No such page');
    for (const href of ['"/"', '"/shop"', '"/openapi.json"']) expect(text).toContain(`<a href=${href}`);
    expect(text.replace(/<script.*?<\/script>/gs, '')).not.toContain('<script>');
    expect((await service.send('GET', path)).body.code).toBe('not_found');
  }
  const long = await page(service, `/${'a'.repeat(5000)}`);
  expect([long.status, long.text.length < 20_000]).toEqual([404, true]);
});

test('what is no page says what it takes', async () => {
  const { status, headers, text } = await page(service, '/console/deliveries/1/replay');
  expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  expect(text).toContain('takes POST, not GET');
});

test('the links say where one is', async () => {
  expect((await page(service, '/')).text).toContain('<a class="brand" href="/" aria-current="page">');
  expect((await page(service, '/console/orders')).text).toContain(
    '<a href="/console/orders" aria-current="page">Orders</a>',
  );
  const { id } = (await service.order('test-slow')).body;
  const newer = (await service.order('test-slow')).body.id;
  const { text } = await page(service, `/console/orders/${id}`);
  expect(text).toContain('<a href="/console/orders" aria-current="true">Orders</a>');
  expect(text).toContain(`<a href="/console/orders/${newer}" rel="prev">Newer order</a>`);
  expect(text).not.toContain('Older order');
  expect((await page(service, '/shop/test-slow')).text).toContain('<a href="/shop" aria-current="true">');
});
