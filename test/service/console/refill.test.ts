import { expect, test } from 'vitest';
import { page, submit } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

test.each([
  [
    '/console/time/advance',
    { count: 'soon', unit: 'days' },
    'count',
    'How far takes a whole number above 0.',
  ],
  ['/console/time/speed', { speed: '1.5' }, 'speed', 'speed'],
  ['/console/faults/on', { kind: '503', share: '20', where: 'orders "x"' }, 'where', 'Where takes a path'],
  ['/console/faults/seed', { seed: 'many' }, 'seed', 'Seed takes a whole number'],
  ['/shop', { quantity: 'two', max_price: '12.00' }, 'quantity', 'Quantity takes a whole number above 0.'],
] as const)(
  '%s keeps what was typed, and says beside the field what is wrong',
  async (path, fields, wrong, message) => {
    const user =
      /<option value="([\w-]+)">/.exec((await page(service, '/shop/test-success')).text)?.[1] ?? '';
    const action = path === '/shop' ? '/console/shop/test-success' : path;
    const sent = { ...fields, ...(path === '/shop' && { user }), once: crypto.randomUUID() };
    const { status, text } = await submit(service, action, sent);
    expect(status).toBeGreaterThanOrEqual(400);
    const found =
      text
        .split('<form ')
        .find((form) => form.includes(`action="${action}"`) && form.includes('id="problem"')) ?? '';
    expect(found).toContain(message);
    if (path !== '/console/time/speed')
      expect(found).toMatch(new RegExp(`aria-invalid="true"[^>]*name="${wrong}"`));
    for (const [name, value] of Object.entries(fields)) {
      const shown = value.replaceAll('"', '&quot;');
      const isThere =
        found.includes(`value="${shown}"`) ||
        found.includes(`<option selected>${shown}<`) ||
        found.includes(`<option value="${shown}" selected>`);
      expect(isThere, name).toBe(true);
    }
  },
);
