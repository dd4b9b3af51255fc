import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand } from '../program/run.ts';
import { makeWorkspace, type Workspace } from '../program/workspace.ts';
import { TestService } from '../service/service.ts';
import { Terminal } from './terminal.ts';

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

/** Puts a program where the person's browser is opened; it notes the page and ends with a code. */
const openerEnding = (code: number): void =>
  writeFileSync(
    join(workspace.folder, '.bin', 'xdg-open'),
    `#!/bin/sh\nprintf %s "$1" > opened\nexit ${code}\n`,
    {
      mode: 0o755,
    },
  );

/** Signs in until the code is shown, and then gives up. @returns what the terminal showed. */
async function signIn(): Promise<string> {
  const terminal = new Terminal(workspace, 'errand', ['auth', 'login', '--profile', 'served'], {
    columns: 160,
  });
  try {
    await terminal.shows('enter the code');
    const deadline = Date.now() + 10_000;
    while (!existsSync(join(workspace.folder, 'opened')) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    // The opener may still be ending.
    await terminal.shows('opened it', 1000).catch(() => {});
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
    openerEnding(0);
    const shown = await signIn();
    expect(shown).toContain('opened it in the browser');
    const page = readFileSync(join(workspace.folder, 'opened'), 'utf8');
    const code = /enter the code (\S+)/.exec(shown)?.[1];
    expect(page).toBe(`${service.baseUrl}/device?user_code=${code}`);
  },
);

test.runIf(process.platform === 'linux')('an opener that finds no browser opened nothing', async () => {
  openerEnding(3);
  expect(await signIn()).not.toContain('opened it');
});
