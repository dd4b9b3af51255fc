import { expect, test } from 'vitest';
import { hostile } from '../../support/hostile-text.ts';
import { address } from '../../support/order-body.ts';
import { page } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

/** Tags the pages use; anything else that looks like a tag is unescaped text. */
const ours =
  /<\/?(?:html|head|meta|title|link|style|script|body|header|main|strong|nav|a|p|h1|h2|h3|section|div|dl|dt|dd|details|summary|pre|code|button|form|input|table|thead|tbody|tr|th|td|small|span|time|ol|li|br|label|select|optgroup|option|textarea|datalist|progress|ul|bdi|b|svg|path|!--frame--)\b|<!doctype/gi;

const alien = (markup: string): string[] =>
  markup
    .replace(/<style>.*?<\/style>|<script type="module">.*?<\/script>/gs, '')
    .replace(ours, '')
    .match(/<.{0,40}|javascript:[^"]*"|\son\w+="/g) ?? [];

test('no text of an order, an address, a key or a request becomes markup', async () => {
  service.key = await service.mint({ name: hostile, email: 'ada@example.com' });
  const { body } = await service.order('test-slow', {
    products: [{ url: service.product('test-slow'), variant: [{ label: hostile, value: hostile }] }],
    shipping_address: { ...address, first_name: hostile, address_line1: hostile, city: hostile },
    metadata: { [hostile]: hostile },
    po_number: hostile,
    is_gift: true,
    gift_message: hostile,
    webhooks: { status_updated: 'http://127.0.0.1:1/?<img%20src=x>' },
  });
  await service.send('POST', `/orders/${body.id}/cancel`);
  await service.send('GET', `/${encodeURIComponent(hostile)}?limit=${encodeURIComponent(hostile)}`);
  for (const path of [
    '/',
    `/console/orders/${body.id}`,
    '/console/requests',
    '/console/keys',
    '/console/deliveries',
    `/track/${body.id}`,
  ]) {
    const { status, text } = await page(service, path);
    expect(status, path).toBe(200);
    expect(alien(text), path).toEqual([]);
  }
  expect((await page(service, `/console/orders/${body.id}`)).text).toContain(
    '&lt;script&gt;alert(1)&lt;/script&gt;',
  );
});

test('only addresses of the web become links, and they tell nobody where they were', async () => {
  const { text } = await page(service, `/console/orders/${(await service.order('test-success')).body.id}`);
  expect(text).toContain(`<a href="${service.product('test-success')}" rel="noreferrer noopener">`);
});

test('marks that would turn the direction of all that follows are shown and not obeyed', async () => {
  const { body } = await service.order('test-slow', { po_number: 'a\u202Eb\u0007c' });
  const { text } = await page(service, `/console/orders/${body.id}`);
  expect(text).toContain('a\uFFFDb\uFFFDc');
});

test('a page runs its own script alone, by its hash, and is kept nowhere', async () => {
  for (const path of ['/', '/shop/test-success', '/device']) {
    const { headers } = await page(service, path);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "form-action 'self'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});
