import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, beforeEach, expect } from 'vitest';
import { TestService } from '../support/service.ts';
import { openTab, type Reader } from './chromium.ts';

/**
 * Starts a service for each test and tracks its tabs; closes them all afterwards and asserts that none reported errors.
 */
export function useTabs(browser: () => Browser) {
  let service: TestService | undefined;
  let tabs: Reader[] = [];
  beforeEach(async () => {
    tabs = [];
    service = await TestService.start();
  });
  afterEach(async () => {
    for (const { page } of tabs) await page.context().close();
    await service?.stop();
    expect([tabs.flatMap(({ troubles }) => troubles), service?.bugs]).toEqual([[], []]);
  });
  const running = (): TestService => service ?? expect.fail('the service has not been started');
  const at = (path: string): string => `${running().baseUrl}${path}`;
  return {
    service: running,
    at,
    async open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
      const tab = await openTab(browser(), options);
      tabs.push(tab);
      await tab.page.goto(at(path));
      return tab.page;
    },
  };
}
