import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openBrowser } from '../../../src/commands/auth/browser.ts';
import { pageAt } from '../../../src/platform/net/page.ts';

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
  return openBrowser(new URL('https://shop.example/device'), {
    PATH: `${folder}:${process.env.PATH}`,
    DISPLAY: ':0',
  });
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

  test('that has no opener is not opened', async () => {
    expect(await openBrowser(new URL('https://shop.example/device'), { PATH: folder, DISPLAY: ':0' })).toBe(
      false,
    );
  });
});

describe('an address that the service names', () => {
  test.each([
    ['https://shop.example/device?code=1', 'https://shop.example'],
    ['https://accounts.example:8443/device', 'https://shop.example'],
    ['http://127.0.0.1:4848/device', 'http://localhost:4848'],
    ['http://[::1]:1/', 'http://127.0.0.1:4848'],
  ])('%s is opened for %s', (address, service) => {
    expect(pageAt(address, new URL(service))).toEqual({ url: new URL(address) });
  });

  test.each([
    ['file:///etc/passwd', 'is no web page'],
    ['javascript:alert(1)', 'is no web page'],
    ['--help', 'is no web page'],
    ['vscode://open?file', 'is no web page'],
    ['https://shop.example@evil.example/device', 'has a user or a password in it'],
    ['https://user:password@shop.example/device', 'has a user or a password in it'],
    ['http://shop.example/device', 'is not encrypted (https)'],
    ['http://127.0.0.1:8080/turn-off', 'is on this machine, and the service is not'],
    ['https://localhost/turn-off', 'is on this machine, and the service is not'],
    ['http://127.1/', 'is on this machine, and the service is not'],
  ])('%s is not: it %s', (address, problem) => {
    expect(pageAt(address, new URL('https://shop.example'))).toEqual({ problem });
  });
});
