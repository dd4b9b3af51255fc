import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import type { TestService } from '../support/service.ts';
import { describeInChromium } from './chromium.ts';
import { useTabs } from './tabs.ts';

describeInChromium('what the console does, in a browser', (browser) => {
  const { service: running, at, open } = useTabs(browser);
  let service: TestService;
  beforeEach(() => {
    service = running();
  });
  const orders = async () => (await service.send('GET', '/orders')).body.orders;
  const balance = async () => (await service.send('GET', '/wallet/me')).body.balance;

  /** Presses a button by the keyboard alone. */
  async function press(page: Page, name: string | RegExp): Promise<void> {
    await page.getByRole('button', { name }).focus();
    await page.keyboard.press('Enter');
  }
  /** Fills in a field by the keyboard alone. */
  async function type(page: Page, label: string, text: string): Promise<void> {
    await page.getByLabel(label, { exact: true }).focus();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(text);
  }
  async function tick(page: Page, label: string): Promise<void> {
    await page.getByLabel(label).focus();
    await page.keyboard.press('Space');
  }

  test.each([true, false])(
    'an order goes through its life by the keyboard (JavaScript: %s)',
    async (javaScriptEnabled) => {
      const page = await open('/shop/test-slow', { javaScriptEnabled });
      await type(page, 'Quantity', '2');
      await press(page, 'Order it now');
      await page.getByText('Order created').waitFor();
      const [{ id, items }] = await orders();
      expect([page.url().split('?')[0], items[0].quantity]).toEqual([at(`/console/orders/${id}`), 2]);
      await press(page, /^advance until it is done/);
      await page.locator('.moment:not(.next) strong').getByText('Delivered').waitFor();
      await page.getByLabel('Reason').selectOption('defective');
      await press(page, 'Request a return');
      await page.getByText('defective, 1 unit').waitFor();
      await press(page, /^Approve return/);
      await page.locator('#returns').getByText('approved', { exact: true }).waitFor();
      await press(page, /^Credit return/);
      await page.getByText('$19.99 credited').waitFor();
      expect(await page.locator('#money .total').textContent()).toContain('$20.99');
      expect(await balance()).toBe(100_000 - 2_099);
    },
  );

  test.each([true, false])('a key and its money (JavaScript: %s)', async (javaScriptEnabled) => {
    const page = await open('/console/keys', { javaScriptEnabled });
    await type(page, 'Name, if you like', 'laptop');
    await press(page, 'Mint a key');
    await page.getByRole('heading', { name: 'A new key' }).waitFor();
    const exported = await page.getByText('export ERRAND_API_KEY=').textContent();
    service.key = exported?.split('ERRAND_API_KEY=')[1] ?? '';
    await page.getByRole('link', { name: 'Its wallet' }).click();
    await type(page, 'Amount in dollars', '1,250.50');
    await press(page, 'Add money');
    await page.getByText('+$1,250.50').first().waitFor();
    expect(await balance()).toBe(225_050);
    await type(page, 'Email of who claims it', 'ada@example.com');
    await press(page, /^Claim/);
    await page.getByText('claimed by ada@example.com').waitFor();
  });

  test.each([true, false])('time, states and faults (JavaScript: %s)', async (javaScriptEnabled) => {
    const page = await open('/console/time', { javaScriptEnabled });
    await type(page, 'Name', 'before');
    await press(page, 'Keep this state');
    await page.getByRole('cell', { name: 'before', exact: true }).waitFor();
    await press(page, 'Advance a day');
    await page.getByText('1 d ahead').waitFor();
    await tick(page, 'What happened since is lost');
    await press(page, /^Restore/);
    await page.getByText('the same', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Faults' }).click();
    await page.getByLabel('What goes wrong').selectOption('503');
    await type(page, 'Where, if not everywhere', 'GET /orders');
    await press(page, 'Switch it on');
    await page.getByRole('cell', { name: '503@GET /orders', exact: true }).waitFor();
    expect((await service.send('GET', '/orders')).status).toBe(503);
    await press(page, 'Switch all off');
    await page.getByText('None: the network is good.').waitFor();
  });

  test.each([true, false])('a delivery is replayed edited (JavaScript: %s)', async (javaScriptEnabled) => {
    const receiver = await Receiver.start();
    try {
      await service.send('POST', '/users', { webhook_url: receiver.at() });
      const { id } = (await service.order('test-slow')).body;
      await service.send('POST', `/orders/${id}/cancel`);
      await receiver.until(1);
      const page = await open('/console/deliveries', { javaScriptEnabled });
      const edit = page.getByRole('link', { name: /Edit/ });
      while ((await edit.count()) === 0) await page.goto(at('/console/deliveries'));
      await edit.first().focus();
      await page.keyboard.press('Enter');
      await page.locator('textarea').focus();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type('{"id":"changed"}');
      await type(page, 'Another target', receiver.at('/else'));
      await press(page, 'Send it');
      await receiver.until(2);
      expect(receiver.received[1]).toMatchObject({ target: 'POST /else', body: { id: 'changed' } });
      await page.waitForURL(/\/console\/deliveries\/[\w-]+\?did=/);
    } finally {
      await receiver.stop();
    }
  });

  test('a double click orders once, adds money once, moves the clock once, and still shows the key', async () => {
    const page = await open('/shop/test-success');
    await page.getByRole('button', { name: 'Order it now' }).dblclick();
    await page.getByText('Order created').waitFor();
    await page.reload();
    expect(await orders()).toHaveLength(1);
    await page.goto(at('/console/keys'));
    await page.getByRole('button', { name: 'Mint a key' }).dblclick();
    await page.getByText('export ERRAND_API_KEY=').waitFor();
    await page.goto(at('/console/keys'));
    expect(await page.locator('tbody tr').count()).toBe(2);
    await page.locator('tbody tr').nth(1).getByRole('link').click();
    await page.getByRole('button', { name: 'Add money' }).dblclick();
    await page.getByText('Added').first().waitFor();
    expect(await balance()).toBe(110_000);
    await page.goto(at('/console/time'));
    await page.getByRole('button', { name: 'Advance an hour' }).dblclick();
    await page.getByText('1 h ahead').waitFor();
  });

  test('what is being filled in stays so while the page moves on', async () => {
    const page = await open('/console/time');
    await page.getByLabel('How far').fill('42');
    await page.locator('select[name=unit]').selectOption('days');
    await page.getByLabel('All orders, keys and wallets are deleted').check();
    const once = await page.locator('input[name=once]').first().inputValue();
    service.pass(61_000);
    await page.locator('#clock').getByText('12:01:01').waitFor();
    expect(await page.getByLabel('How far').inputValue()).toBe('42');
    expect(await page.locator('select[name=unit]').inputValue()).toBe('days');
    expect(await page.getByLabel('All orders, keys and wallets are deleted').isChecked()).toBe(true);
    expect(await page.locator('input[name=once]').first().inputValue()).toBe(once);
  });

  test.each(['orders', 'deliveries', 'batches', 'returns', 'accounts', 'requests'])(
    'a filter of %s is typed in while rows arrive',
    async (list) => {
      const page = await open(`/console/${list}`);
      await page.evaluate(`globalThis.form = document.querySelector('form.filters')`);
      await page.locator('form.filters input:not([type=hidden])').first().focus();
      await page.keyboard.type('810');
      // Simulate arriving rows: an element that the next poll removes.
      await page.evaluate(`document.querySelector('main').append(document.createElement('hr'))`);
      await page.locator('main > hr').waitFor({ state: 'detached' });
      await page.keyboard.type('2f98');
      expect(await page.evaluate('document.activeElement.value')).toBe('8102f98');
      expect(await page.evaluate(`form === document.querySelector('form.filters')`)).toBe(true);
      expect(await page.locator('form.arrived').count()).toBe(0);
    },
  );

  test('a form that the browser brings back is a new one: what is changed and sent again is sent', async () => {
    const receiver = await Receiver.start();
    try {
      await service.send('POST', '/users', { webhook_url: receiver.at() });
      const { id } = (await service.order('test-slow')).body;
      await service.send('POST', `/orders/${id}/cancel`);
      await receiver.until(1);
      const page = await open('/console/deliveries');
      await page.getByRole('link', { name: /Edit/ }).first().click();
      const send = async (body: string) => {
        await page.locator('textarea').fill(body);
        await press(page, 'Send it');
        await page.waitForURL(/\/console\/deliveries\/[\w-]+\?did=/);
      };
      await page.locator('textarea').waitFor();
      await page.evaluate('globalThis.isAsItWasLeft = true');
      await send('{"n":1}');
      await page.goBack({ waitUntil: 'commit' });
      expect(await page.evaluate('globalThis.isAsItWasLeft')).toBe(true);
      await send('{"n":2}');
      await receiver.until(3);
      expect(receiver.received.slice(1).map(({ body }) => body)).toEqual([{ n: 1 }, { n: 2 }]);
    } finally {
      await receiver.stop();
    }
  });

  test('an order is not placed again by a form that the browser brings back', async () => {
    const page = await open('/shop/test-success');
    await page.evaluate('globalThis.isAsItWasLeft = true');
    await press(page, 'Order it now');
    await page.getByText('Order created').waitFor();
    await page.goBack({ waitUntil: 'commit' });
    expect(await page.evaluate('globalThis.isAsItWasLeft')).toBe(true);
    await press(page, 'Order it now');
    await page.getByText('Order created').waitFor();
    expect(await orders()).toHaveLength(1);
  });

  test('a key is minted from the empty page', async () => {
    await service.send('POST', '/sandbox/control/reset', {}, null);
    const page = await open('/');
    await press(page, 'Mint a key');
    await page.getByRole('heading', { name: 'A new key' }).waitFor();
  });
});
