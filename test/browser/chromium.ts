import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { hangsAfterMs } from '../support/limits.ts';

const executable = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find((file) => existsSync(file));

/** In CI a missing browser fails the tests; elsewhere they are skipped with a note. */
const mustRun = process.env.ERRAND_CI === '1';

/** Tests that need a browser: Debian's `chromium` from the PATH, shared by all of them. */
export function describeInChromium(name: string, tests: (browser: () => Browser) => void): void {
  const isPossible = executable !== undefined || mustRun;
  const title = isPossible ? name : `${name} (skipped: no chromium on the PATH; apt-get install chromium)`;
  describe.skipIf(!isPossible)(title, () => {
    let launched: Browser | undefined;
    beforeAll(async () => {
      launched = await launch();
    });
    afterAll(() => launched?.close());
    tests(() => launched ?? expect.fail('the browser has not been launched'));
  });
}

function launch(): Promise<Browser> {
  if (!executable) return expect.fail('no chromium on the PATH: apt-get install chromium');
  // Chromium's sandbox does not work as root, which tests in a container run as; the pages are ours.
  const args = ['--no-sandbox'];
  // Keep the back/forward cache enabled, as for real users.
  const ignoreDefaultArgs = ['--disable-back-forward-cache'];
  return chromium.launch({ executablePath: executable, args, ignoreDefaultArgs, timeout: hangsAfterMs });
}

export interface Reader {
  readonly page: Page;
  /** Unexpected events: dialogs, errors, CSP violations. */
  readonly troubles: string[];
}

/** Opens a tab in a fresh browser context. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Reader> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const troubles: string[] = [];
  page.setDefaultTimeout(hangsAfterMs);
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('console', (message) => troubles.push(`${message.type()}: ${message.text()}`));
  return { page, troubles };
}
