import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { hangsAfterMs } from '../limits.ts';

const executable = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find((file) => existsSync(file));

/** Where everything is checked, a browser that is missing is a failure; elsewhere it is told and passed over. */
const mustRun = process.env.ERRAND_CI === '1';

/** Tests that need a browser: Debian's `chromium`, found on the PATH, one for all of them. */
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
  // Its own sandbox does not work for root, as whom tests run in a container; the pages are ours.
  const args = ['--no-sandbox'];
  // A page that is left is kept and comes back as it was, as it is for people.
  const ignoreDefaultArgs = ['--disable-back-forward-cache'];
  return chromium.launch({ executablePath: executable, args, ignoreDefaultArgs, timeout: hangsAfterMs });
}

export interface Reader {
  readonly page: Page;
  /** What no page of ours causes: dialogs, errors, violations of its policy. */
  readonly troubles: string[];
}

/** A tab of a browser of its own. */
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
