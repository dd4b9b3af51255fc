import { expect, test } from 'vitest';
import { testProducts, testSlugs } from '../../../src/sandbox/orders/lifecycle/index.ts';
import { page } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

test('every test product stands in the shop, once', async () => {
  const { text } = await page(service, '/shop');
  const linked = [...text.matchAll(/href="\/shop\/([^"]+)"/g)].map(([, slug]) => slug);
  expect(linked.toSorted()).toEqual(testSlugs.toSorted());
});

test.each(testSlugs)('%s says what it rehearses and the command that does it', async (slug) => {
  const { status, text } = await page(service, `/shop/${slug}`);
  expect(status).toBe(200);
  expect(text).toContain(testProducts[slug].scenario);
  expect(text).toContain(slug === 'test-other-currency' ? '€19.99' : '$19.99');
  expect(text).toContain(`<pre tabindex="0">errand order create --product ${service.product(slug)}`);
});

test('there is no other product', async () => {
  for (const slug of ['nothing', '__proto__', 'test-success%00'])
    expect((await page(service, `/shop/${slug}`)).status).toBe(404);
});
