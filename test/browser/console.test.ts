import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { TestService } from '../support/service.ts';
import { describeInChromium, openTab } from './chromium.ts';

describeInChromium('the console in a browser', (browser) => {
  let service: TestService;
  let page: Page;
  let troubles: string[];
  beforeEach(async () => {
    service = await TestService.start();
    ({ page, troubles } = await openTab(browser()));
  });
  afterEach(async () => {
    await page.context().close();
    await service.stop();
    expect([troubles, service.bugs]).toEqual([[], []]);
  });

  const at = (path: string) => `${service.baseUrl}${path}`;
  const place = async (slug: string): Promise<string> => (await service.order(slug)).body.id;

  test('a new order appears, and its timeline moves to delivered, without a reload', async () => {
    await page.goto(at('/'));
    await page.getByText('No order yet.').waitFor();
    const id = await place('test-success');
    const row = page.locator(`#order-${id}`);
    await row.getByText('waiting').waitFor();
    await row.getByRole('link').click();
    await page.getByText('Order created').waitFor();
    await page.evaluate('window.mark = 1');
    service.pass(3000);
    await page.locator('.moment:not(.next)').getByText('Order placed with the retailer').waitFor();
    service.pass(9000);
    await page.locator('.moment:not(.next) strong').getByText('Delivered', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'Delivered: left at the front door' }).waitFor();
    expect(await page.evaluate('window.mark')).toBe(1);
  });

  test('what the reader opened and where the focus is stays so while the page moves on', async () => {
    const id = await place('test-slow');
    await page.goto(at(`/console/orders/${id}`));
    await page.getByText('The record as JSON').click();
    await page.locator('#event-delivered button').focus();
    await service.send('POST', '/sandbox/trigger', { event: 'placed', id });
    await page.locator('.moment:not(.next)').getByText('Order placed with the retailer').waitFor();
    await page.locator('pre').getByText('"status": "order_placed"').waitFor();
    expect(await page.locator('#event-delivered button:focus').count()).toBe(1);
  });

  test('what is open, focused and selected stays so when a section of the page goes or comes', async () => {
    for (const slug of ['test-success', 'test-out-of-stock']) {
      const id = await place(slug);
      await page.goto(at(`/console/orders/${id}`));
      await page.getByText('Make it happen now').waitFor();
      await page.getByText('The record as JSON').click();
      await page.locator('#record summary').focus();
      await page.evaluate(
        "getSelection().selectAllChildren([...document.querySelectorAll('li strong')].find((it) => it.textContent === 'Order created'))",
      );
      service.pass(20_000);
      await page.getByText('Make it happen now').waitFor({ state: 'detached' });
      expect(await page.locator('details[open]').count(), slug).toBe(1);
      expect(await page.locator('summary:focus').count(), slug).toBe(1);
      expect(await page.evaluate('String(getSelection())'), slug).toBe('Order created');
    }
  });

  test('a part of a record can be selected, and a command is selected whole', async () => {
    await page.goto(at(`/console/orders/${await place('test-slow')}`));
    const selecting = (css: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${css}')).userSelect`);
    expect(await selecting('#record pre')).toBe('auto');
    await page.goto(at('/shop/test-slow'));
    expect(await selecting('.copied pre')).toBe('all');
  });

  test('a row that is pressed stays the same row when newer ones come above it', async () => {
    const first = await place('test-slow');
    await page.goto(at('/'));
    await page.locator(`#order-${first} a`).focus();
    const second = await place('test-slow');
    await page.locator(`#order-${second}`).waitFor();
    expect(await page.locator(`#order-${second} + #order-${first} a:focus`).count()).toBe(1);
  });

  test('Replay at a click delivers again', async () => {
    const receiver = await Receiver.start();
    try {
      await service.send('POST', '/users', { webhook_url: receiver.at() });
      await service.send('POST', `/orders/${await place('test-slow')}/cancel`);
      await receiver.until(1);
      await page.goto(at('/'));
      await page.getByRole('button', { name: 'Replay' }).click();
      await receiver.until(2);
      await page.getByText(/^Sent again: 1 webhook sent/).waitFor();
      expect(receiver.events()).toEqual(['status_updated', 'status_updated']);
      expect(receiver.received[1]?.body).toEqual(receiver.received[0]?.body);
    } finally {
      await receiver.stop();
    }
  });

  test('a button of an order makes it happen', async () => {
    await page.goto(at(`/console/orders/${await place('test-slow')}`));
    await page.getByRole('button', { name: 'shipped' }).click();
    await page.locator('.moment:not(.next) strong').getByText('Shipped', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'delivered', exact: true }).click();
    await page.locator('.moment:not(.next) strong').getByText('Delivered', { exact: true }).waitFor();
  });

  test('it says when the service is gone, and goes on when it is back', async () => {
    await page.goto(at('/'));
    await page.context().setOffline(true);
    await page.getByText('The sandbox does not respond').waitFor();
    const id = await place('test-success');
    await page.context().setOffline(false);
    await page.locator(`#order-${id}`).waitFor();
    expect(await page.getByRole('status').textContent()).toBe('');
    // The browser logs each failed request.
    expect(troubles.splice(0).every((trouble) => trouble.includes('ERR_INTERNET_DISCONNECTED'))).toBe(true);
  });

  test('a tab that nobody sees asks for nothing, and catches up once it is seen', async () => {
    await page.clock.install();
    await page.addInitScript(
      "Object.defineProperty(document, 'hidden', { get: () => document.documentElement.lang === 'none' })",
    );
    let requests = 0;
    page.on('request', () => {
      requests += 1;
    });
    await page.goto(at('/'));
    const see = (lang: string) =>
      page.evaluate(
        `document.documentElement.lang = '${lang}'; document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await see('none');
    await page.clock.runFor(5000);
    const before = requests;
    const id = await place('test-success');
    await page.clock.runFor(60_000);
    expect([requests, await page.locator(`#order-${id}`).count()]).toEqual([before, 0]);
    await see('en');
    await page.locator(`#order-${id}`).waitFor();
  });

  test('everything is found and opened by keys: the box, its results, the rows of a list', async () => {
    const first = await place('test-out-of-stock');
    const second = await place('test-slow');
    await page.goto(at('/console/orders'));
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await page.locator(`#order-${first} a:focus`).count()).toBe(1);
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console/orders/${second}`);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('out of s');
    await page
      .locator('#finder-found')
      .getByRole('link', { name: 'Out of stock', exact: true })
      .first()
      .waitFor();
    // A result that comes late takes no focus away.
    let answer = (): void => {};
    await page.route(/q=out%20of%20st$/, async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.continue();
    });
    const isAsked = page.waitForRequest(/q=out%20of%20st$/);
    const isAnswered = page.waitForResponse(/q=out%20of%20st$/);
    await page.keyboard.type('t');
    await isAsked;
    await page.keyboard.press('ArrowDown');
    answer();
    await (await isAnswered).finished();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console/orders/${first}`);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('advance 1 day');
    await page.locator('#finder-found').getByRole('button', { name: 'Advance 1 day' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Clock moved').waitFor();
    await page.getByText('+1 d').first().waitFor();
  });

  test('a jump to the future of an order moves the clock, and the page says what that caused', async () => {
    await page.goto(at(`/console/orders/${await place('test-success')}`));
    await page
      .getByRole('button', { name: /^jump here/ })
      .last()
      .click();
    await page.locator('.moment:not(.next) strong').getByText('Delivered', { exact: true }).waitFor();
    await page.getByText(/^Clock moved: .*1 delivered/).waitFor();
    expect(await page.getByRole('button', { name: /^jump here/ }).count()).toBe(0);
  });

  test('a command is copied at a click', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(at('/shop'));
    await page.getByRole('link', { name: 'Out of stock', exact: true }).click();
    await page.getByRole('button', { name: 'Copy the order' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
      `errand order create --product ${service.product('test-out-of-stock')} --max-price '$50.00' --ship-to home --watch`,
    );
  });

  test('the header of a phone leaves the page its room, whatever failed and whatever is on', async () => {
    await place('test-out-of-stock');
    service.pass(12_000);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(at('/console/search?q=503+50+%25'));
    await page.getByRole('button', { name: 'Switch on 503:50%' }).click();
    await page.goto(at('/console/requests'));
    const top = async () => (await page.locator('h1').boundingBox())?.y;
    expect(await top()).toBeLessThan(200);
    await page.locator('.strip button').click();
    await page.locator('#did').waitFor();
    await page.goto(at('/console/keys'));
    expect(await page.locator('.strip').innerText()).toContain('1 order');
    expect(await top()).toBeLessThan(180);
  });

  test('Enter gives the command that is typed', async () => {
    await page.goto(at('/console'));
    await page.keyboard.press('/');
    await page.keyboard.type('503 50 %');
    await page.getByRole('button', { name: 'Switch on 503:50%' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Fault switched on.').waitFor();
  });
});
