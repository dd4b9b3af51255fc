import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePlace, type Place } from '../program/place.ts';
import { errand } from '../program/run.ts';
import { TestService } from '../service/service.ts';
import { Terminal } from './terminal.ts';

let place: Place;
let service: TestService;
beforeEach(async () => {
  place = makePlace();
  service = await TestService.start();
  await errand(place, ['profile', 'set', 'served', '--base-url', service.baseUrl]);
});
afterEach(async () => {
  await service.stop();
  place.remove();
});

/** Puts a program where the person's browser is opened; it notes the page and ends with a code. */
const openerEnding = (code: number): void =>
  writeFileSync(
    join(place.folder, '.bin', 'xdg-open'),
    `#!/bin/sh\nprintf %s "$1" > opened\nexit ${code}\n`,
    {
      mode: 0o755,
    },
  );

/** Signs in until the code is shown, and then gives up. @returns what the terminal showed. */
async function signIn(): Promise<string> {
  const terminal = new Terminal(place, 'errand', ['auth', 'login', '--profile', 'served'], { columns: 160 });
  try {
    await terminal.shows('enter the code');
    const deadline = Date.now() + 10_000;
    while (!existsSync(join(place.folder, 'opened')) && Date.now() < deadline)
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
    const page = readFileSync(join(place.folder, 'opened'), 'utf8');
    const code = /enter the code (\S+)/.exec(shown)?.[1];
    expect(page).toBe(`${service.baseUrl}/device?user_code=${code}`);
  },
);

test.runIf(process.platform === 'linux')('an opener that finds no browser opened nothing', async () => {
  openerEnding(3);
  expect(await signIn()).not.toContain('opened it');
});
