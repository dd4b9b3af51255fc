import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageRows } from '../../src/sandbox/console/routes.ts';
import { hostile } from '../support/hostile-text.ts';
import { TestService } from '../support/service.ts';
import { isWhole } from '../support/whole.ts';
import { describeInChromium, openTab } from './chromium.ts';
import { emptyPages, happen } from './every-page.ts';

/** Maximum page size, apart from displayed records and bodies; bytes. */
const largest = 60_000;

const text = `${hostile} \u202egnp.exe مرحبا ${'unbroken'.repeat(10)}`;

describeInChromium('every page', (browser) => {
  let service: TestService;
  let pages: string[];
  beforeAll(async () => {
    service = await TestService.start();
    const addresses: Readonly<Record<string, string>> = await happen(service, text);
    const paths = pageRows.flatMap((row) => ('GET' in row && row.GET !== 'proof' ? [row.path] : []));
    // A newly added page must have an address here.
    expect(paths.filter((path) => addresses[path] === undefined)).toEqual([]);
    pages = [...paths.map((path) => addresses[path] ?? path), ...emptyPages];
  });
  afterAll(async () => {
    await service.stop();
    expect(service.bugs).toEqual([]);
  });

  async function onEach(page: Page, look: (path: string) => Promise<void>): Promise<void> {
    for (const path of pages) {
      await page.goto(`${service.baseUrl}${path}`);
      await look(path);
    }
  }

  const shapes = ([360, 768, 1440] as const).flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => [width, colorScheme] as const),
  );

  /** Each page has each width and each scheme; the next page has the other pairs of them. `npm run proofs -- browser` has all. */
  const shapesOf = (path: string) =>
    shapes.filter((_, at) => isWhole || (at + Math.floor(at / 2) + pages.indexOf(path)) % 2 === 0);

  // Loading a page and injecting axe takes longer than running axe, so check every viewport and scheme per load.
  test('axe finds nothing on any, narrow and wide, light and dark, and nothing is wider than the window', async () => {
    const { page, troubles } = await openTab(browser());
    await onEach(page, async (path) => {
      await page.evaluate(axe.source);
      for (const [width, colorScheme] of shapesOf(path)) {
        const shape = `${path}, ${width} pixels wide and ${colorScheme}`;
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true })");
        const found = await page.evaluate(
          `axe.run({ resultTypes: ['violations'] })
            .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
        );
        expect(found, shape).toEqual([]);
        const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await page.evaluate(wide), shape).toBe(0);
      }
    });
    // The browser logs each 404.
    expect(troubles.filter((trouble) => !trouble.includes('404 (Not Found)'))).toEqual([]);
    await page.context().close();
  });

  test('each is small, runs nothing that anyone wrote, and stays where it is while it lives', async () => {
    const { page, troubles } = await openTab(browser(), { viewport: { width: 1024, height: 900 } });
    await page.addInitScript(
      `window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value; }).observe({ type: 'layout-shift', buffered: true });`,
    );
    await onEach(page, async (path) => {
      const size = (await page.content()).replace(/<pre.*?<\/pre>/gs, '').length;
      expect(size, path).toBeLessThan(largest);
      if (await page.locator('main[data-live]').count()) await page.waitForTimeout(1200);
      expect(await page.evaluate('window.shift'), path).toBeLessThan(0.1);
      expect(await page.locator('main img, main svg, main script').count(), path).toBe(0);
    });
    expect(troubles.filter((trouble) => !trouble.includes('404 (Not Found)'))).toEqual([]);
    await page.context().close();
  });

  test('whatever can be pressed or filled in is reached by Tab, and shows that it is', async () => {
    const { page } = await openTab(browser());
    // Block polling so that the page does not change during the walk.
    await page.route('**/*', (route) =>
      route.request().resourceType() === 'fetch' ? route.abort() : route.continue(),
    );
    await onEach(page, async (path) => {
      const count = await page.evaluate(`window.left = [...document.querySelectorAll(
        'a[href], button, input:not([type=hidden]), select, summary, [tabindex]:not([tabindex="-1"])')].filter((it) => it.checkVisibility()); window.left.length`);
      // Scrollable text is an extra tab stop.
      for (let press = 0; press < Number(count) + 8; press += 1) {
        await page.keyboard.press('Tab');
        await page.evaluate(`if (getComputedStyle(document.activeElement).outlineStyle !== 'none')
          window.left = window.left.filter((it) => it !== document.activeElement)`);
      }
      expect(await page.evaluate('window.left.map((it) => it.outerHTML)'), path).toEqual([]);
    });
    await page.context().close();
  });

  describe('without JavaScript', () => {
    test('each says the same', async () => {
      const { page } = await openTab(browser(), { javaScriptEnabled: false });
      await onEach(page, async (path) => {
        expect((await page.locator('h1').textContent())?.length, path).toBeGreaterThan(3);
        expect(await page.locator('button.copy:visible').count(), path).toBe(0);
        // A form is sent by a button of its own that is seen.
        const stuck = await page
          .locator('form')
          .evaluateAll((forms) =>
            forms
              .filter(
                (form) =>
                  ![...form.elements].some((field) => field.matches('button') && field.checkVisibility()),
              )
              .map((form) => form.outerHTML),
          );
        expect(stuck, path).toEqual([]);
      });
      await page.context().close();
    });
  });
});
