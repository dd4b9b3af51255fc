import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openBrowser } from '../../../src/commands/auth/browser.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'errand-opener-'));
  // Control how long an opener has to fail.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

/** Opens a page using this script as the opener. */
function openedBy(script: string): Promise<boolean> {
  writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return openBrowser('https://shop.example/device', { PATH: `${folder}:${process.env.PATH}` });
}

describe.runIf(process.platform === 'linux')('a browser', () => {
  test.each([
    [0, true],
    [3, false],
  ])('whose opener ends with %i was opened: %s', async (code, isOpened) => {
    expect(await openedBy(`exit ${code}`)).toBe(isOpened);
  });

  test('whose opener goes on for a second is open', async () => {
    const opened = openedBy('exit 3');
    vi.advanceTimersByTime(1_000);
    expect(await opened).toBe(true);
  });

  test('that has no opener is not opened, and neither is what is no page', async () => {
    expect(await openBrowser('https://shop.example/device', { PATH: folder })).toBe(false);
    expect(await openBrowser('file:///etc/passwd', { PATH: folder })).toBe(false);
  });
});
