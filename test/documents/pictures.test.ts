import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { describeInChromium, openTab } from '../browser/chromium.ts';
import { Receiver } from '../support/receiver.ts';
import { refill, refills, timeoutsIn } from '../support/refill.ts';
import { Screen } from '../support/screen.ts';
import { TestService } from '../support/service.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { columns, steady } from './in-terminal.ts';
import { type Frame, lastText, movingPicture } from './moving-picture.ts';
import { describedBy, withDescription } from './png-text.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pictures = new URL('../../docs/pictures/', import.meta.url);
/** `npm run pictures` regenerates them, for review before committing. */
const updates = refills('UPDATE_DOCUMENTS');

describe('the picture of the quickstart', () => {
  const file = new URL('quickstart.svg', pictures);
  const line = 'npx errand quickstart';

  /** Runs the command as a reader of the README does, in a clone, and records terminal output with timestamps. */
  async function record(): Promise<Frame[]> {
    const workspace = makeWorkspace({ TERM: 'xterm-256color', npm_config_update_notifier: 'false' });
    const { PATH = '' } = workspace.environment;
    // A reader of the README does not have errand on the PATH yet.
    workspace.environment.PATH = PATH.replace(/^[^:]*:/, '');
    const script = `cd '${root}' && exec ${line}`;
    const terminal = new Terminal(workspace, 'bash', ['-c', script], { columns, rows: 60 });
    try {
      expect(await terminal.ended(), terminal.text).toBe(0);
      const screen = new Screen(columns, 60);
      screen.write(`\u001b[32m$\u001b[39m ${line}\n`);
      const [first] = terminal.pieces;
      const frames: Frame[] = [{ at: 0, rows: screen.runs() }];
      for (const { at, data } of terminal.pieces) {
        screen.write(data.replaceAll('\r\n', '\n'));
        frames.push({ at: Math.round(at - (first?.at ?? 0)) + 600, rows: screen.runs() });
      }
      return frames;
    } finally {
      terminal.close();
      workspace.remove();
    }
  }

  test('shows what it prints', async (context) => {
    const drawn = movingPicture(calm(await record()), 'errand quickstart in a terminal', columns);
    expect(timeoutsIn(lastText(drawn))).toEqual([]);
    if (updates) refill(context, file, drawn);
    else expect(steady(lastText(readFileSync(file, 'utf8')))).toBe(steady(lastText(drawn)));
  });
});

/** Minimum time for a frame to be visible, ms. */
const leastMs = 80;

/** Drops frames that are replaced too soon to be seen. */
const calm = (frames: readonly Frame[]): Frame[] =>
  frames.filter(({ at }, index) => {
    const next = frames[index + 1];
    return next === undefined || next.at - at >= leastMs;
  });

describeInChromium('the pictures of the console', (browser) => {
  /** An order whose program retried through an outage, and whose receiver fails. @returns its id. */
  async function happen(service: TestService, receiver: Receiver): Promise<string> {
    receiver.reply = ({ event }) => ({ status: event === 'request_succeeded' ? 500 : 200 });
    await service.send('POST', '/users', { webhook_url: receiver.at() });
    const faults = (on: readonly string[]) =>
      service.send('POST', '/sandbox/control/faults', { faults: on }, null);
    const order = () => service.order('test-success', { idempotency_key: 'weekly-coffee' });
    await faults(['503@POST /orders']);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await order();
      service.pass(400);
    }
    await faults([]);
    const { id } = (await order()).body;
    for (const ms of [1_500, 2_500]) {
      service.pass(ms);
      await service.send('GET', `/orders/${id}`);
    }
    return id;
  }

  test.for(['light', 'dark'] as const)('in %s show what it prints', async (colorScheme, context) => {
    const file = new URL(`console-${colorScheme}.png`, pictures);
    const service = await TestService.start();
    const receiver = await Receiver.start();
    try {
      const id = await happen(service, receiver);
      const viewport = { width: 1080, height: 900 };
      const { page } = await openTab(browser(), { colorScheme, viewport, deviceScaleFactor: 2 });
      await page.goto(`${service.baseUrl}/console/orders/${id}`);
      await page.locator('.webhook').getByText('HTTP 500, sent again').waitFor();
      // All of it, though the page of an order that is alive has a box of a fixed height for it.
      await page.reload();
      await page.evaluate("document.querySelector('.feed').classList.remove('grows')");
      const timeline = page.locator('#timeline');
      const text = steady((await timeline.innerText()).replace(/\d+ ms/g, 'some ms'));
      const kept = existsSync(file) ? describedBy(readFileSync(file)) : undefined;
      // Keep a picture whose text is unchanged; to refresh its looks, delete it first.
      if (updates && kept !== text) refill(context, file, withDescription(await timeline.screenshot(), text));
      else expect(kept).toBe(text);
      await page.context().close();
    } finally {
      await receiver.stop();
      await service.stop();
    }
  });
});

// In an update run, deleted pictures are only regenerated at the end.
test.skipIf(updates)('no picture is missing, or too large for a page', () => {
  for (const name of ['quickstart.svg', 'console-light.png', 'console-dark.png']) {
    const file = new URL(name, pictures);
    expect(existsSync(file), name).toBe(true);
    expect(readFileSync(file).length, name).toBeLessThan(300_000);
  }
});
