import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { peer } from '../support/peer.ts';
import { errand } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let service: TestService;
beforeEach(async () => {
  workspace = makeWorkspace();
  service = await TestService.start();
  await errand(workspace, ['profile', 'set', 'served', '--base-url', service.baseUrl]);
});
afterEach(async () => {
  await service.stop();
  workspace.remove();
});

/** Signs in until the code's page has been opened, then interrupts. @returns the terminal's text. */
async function signIn(): Promise<string> {
  workspace.environment.DISPLAY = ':0';
  const terminal = new Terminal(workspace, 'errand', ['auth', 'login', '--profile', 'served'], {
    columns: 160,
  });
  try {
    await terminal.shows('opened it in the browser');
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
    return terminal.text;
  } finally {
    terminal.close();
  }
}

test.runIf(process.platform === 'linux')(
  'signing in opens the page of the code, and says so where that worked',
  async () => {
    const opener = join(workspace.folder, '.bin', 'xdg-open');
    writeFileSync(opener, '#!/bin/sh\nprintf %s "$1" > opened.part; mv opened.part opened\n', {
      mode: 0o755,
    });
    const shown = await signIn();
    // An opener still running after a second counts as successful, so the file may not exist yet.
    const opened = join(workspace.folder, 'opened');
    await expect.poll(() => existsSync(opened)).toBe(true);
    const page = readFileSync(opened, 'utf8');
    const code = /enter the code (\S+)/.exec(shown)?.[1];
    expect(page).toBe(`${service.baseUrl}/device?user_code=${code}`);
    // Shown before it was opened.
    expect(shown.slice(0, shown.indexOf('opened it in the browser'))).toContain(
      `with the code filled in: ${page}\n`,
    );
  },
);

test.runIf(process.platform === 'linux').each([
  ['http://shop.example/device', 'at http', 'it is not encrypted (https)'],
  ['https://bank.example:443@shop.example/device', 'at https', 'it has a user or a password in it'],
  ['file:///etc/passwd', 'at file', 'it is no web page'],
])('signing in does not open %s, and says why', async (address, notShown, why) => {
  const opener = join(workspace.folder, '.bin', 'xdg-open');
  writeFileSync(opener, '#!/bin/sh\ntouch opened\n', { mode: 0o755 });
  const { url } = await peer((response) => {
    const device = {
      device_code: 'a-device-code-0123456789',
      user_code: 'ABCD-EFGH',
      interval: 5,
      expires_in: 900,
    };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...device, verification_uri: address, verification_uri_complete: address }));
  });
  await errand(workspace, ['profile', 'set', 'odd', '--base-url', url]);
  const terminal = new Terminal(workspace, 'errand', ['auth', 'login', '--profile', 'odd'], { columns: 160 });
  try {
    await terminal.shows(why);
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.text).toContain('enter the code ABCD-EFGH where you sign in to the service');
    expect(terminal.text).not.toContain(notShown);
    expect(terminal.text).not.toContain('opened');
    expect(terminal.text).toContain('waiting until the code is approved, for up to 15 minutes');
    expect(terminal.text).not.toContain('bank.example');
  } finally {
    terminal.close();
  }
  expect(existsSync(join(workspace.folder, 'opened'))).toBe(false);
});
