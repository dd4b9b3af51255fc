import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { TestService } from '../support/service.ts';
import { describeInChromium, openTab } from './chromium.ts';

/** Maximum cumulative layout shift over an order's life. */
const most = 0.1;

const watchShifts = (page: Page) =>
  page.addInitScript(
    `window.shifts = []; new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts.push(entry.value); }).observe({ type: 'layout-shift', buffered: true });`,
  );

const sumOf = async (page: Page): Promise<number> =>
  Number(await page.evaluate('window.shifts.reduce((sum, value) => sum + value, 0)'));

describeInChromium('the page of an order stays where it is through the order’s life', (browser) => {
  test.each([
    [360, 'test-success'],
    [768, 'test-success'],
    [1440, 'test-success'],
    [1440, 'test-two-packages'],
    [768, 'test-out-of-stock'],
  ] as const)('%i pixels wide, %s', async (width, slug) => {
    const service = await TestService.start();
    const receiver = await Receiver.start();
    const { page, troubles } = await openTab(browser(), { viewport: { width, height: 900 } });
    try {
      await service.send('POST', '/users', { webhook_url: receiver.at() });
      const { id } = (await service.order(slug)).body;
      await watchShifts(page);
      await page.goto(`${service.baseUrl}/console/orders/${id}`);
      for (let step = 0; step < 8; step += 1) {
        service.pass(1500);
        await page.waitForResponse((response) => response.request().resourceType() === 'fetch');
        await page.waitForTimeout(300);
      }
      service.pass(60_000);
      await page.locator('#over').or(page.locator('#failure')).waitFor();
      await page.waitForTimeout(1300);
      expect(await sumOf(page)).toBeLessThan(most);
      // A page loaded now shows the whole history at once.
      await page.reload();
      const hidden =
        "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.feed'))";
      expect(await page.evaluate(hidden)).toBe(0);
      expect(troubles).toEqual([]);
    } finally {
      await page.context().close();
      await receiver.stop();
      await service.stop();
    }
  });
});

describeInChromium('lists stay where they are while 55 orders a second come', (browser) => {
  test.each([
    [360, '/console'],
    [1440, '/console'],
    [360, '/console/orders'],
    [768, '/console/orders'],
    [1440, '/console/orders'],
  ] as const)('%i pixels wide, %s', async (width, path) => {
    const service = await TestService.start();
    const { page, troubles } = await openTab(browser(), { viewport: { width, height: 900 } });
    try {
      for (let row = 0; row < 30; row += 1) await service.order('test-success');
      await watchShifts(page);
      await page.goto(`${service.baseUrl}${path}`);
      for (let second = 0; second < 5; second += 1) {
        for (let row = 0; row < 55; row += 1) await service.order('test-success');
        service.pass(1000);
        await page.waitForResponse((response) => response.request().resourceType() === 'fetch');
      }
      await page.waitForTimeout(300);
      expect(await sumOf(page)).toBeLessThan(most);
      expect(troubles).toEqual([]);
    } finally {
      await page.context().close();
      await service.stop();
    }
  });
});
