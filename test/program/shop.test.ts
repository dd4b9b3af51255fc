import { afterEach, beforeEach, expect, test } from 'vitest';
import { page } from '../service/pages/read-page.ts';
import { TestService } from '../service/service.ts';
import { makePlace, type Place } from './place.ts';
import { errand, shell } from './run.ts';

let place: Place;
let service: TestService;
beforeEach(async () => {
  place = makePlace();
  service = await TestService.start();
});
afterEach(async () => {
  await service.stop();
  place.remove();
});

test.each([
  ['test-success', 0, 'delivered'],
  ['test-gift-unavailable', 7, 'gift_option_unavailable'],
  ['test-quantity-limit', 7, 'quantity_limit_exceeded'],
  ['test-invalid-address', 2, 'invalid_shipping_address'],
])(
  'the command on the page of %s runs as it stands and brings about what it says',
  async (slug, code, outcome) => {
    await errand(place, ['config', 'set', 'sandbox-speed', '50']);
    const { text } = await page(service, `/shop/${slug}`);
    const command = /<pre>(.*?)<\/pre>/s.exec(text)?.[1]?.replaceAll('&#39;', "'") ?? '';
    const ended = await shell(place, command, { timeoutMs: 30_000 });
    expect([ended.code, ended.stdout + ended.stderr]).toEqual([code, expect.stringContaining(outcome)]);
  },
);
