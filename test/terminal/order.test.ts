import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { embeddedShop, errand, orderOf } from '../support/run.ts';
import { Screen } from '../support/screen.ts';
import type { Terminal } from '../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';
import { useTerminals } from './terminals.ts';

const enter = '\r';
const controlC = '\u0003';

describe('in a real terminal', () => {
  let workspace: Workspace;
  let shop: string;

  beforeEach(async () => {
    workspace = makeWorkspace();
    prefer(workspace, { 'sandbox-speed': 4 });
    shop = await embeddedShop();
  });

  afterEach(() => {
    workspace.remove();
  });
  const terminalOf = useTerminals(() => workspace);

  function open(args: readonly string[], size: { columns?: number; rows?: number } = {}): Terminal {
    return terminalOf('errand', args, size);
  }

  const product = (slug: string): string => `${shop}${slug}`;

  test('order create asks for what is missing, and refuses a bare integer at the prompt', async () => {
    const terminal = open(['order', 'create']);
    await terminal.shows('What to order');
    terminal.type(product('test-success') + enter);
    await terminal.shows('Price ceiling');
    terminal.type(`5000${enter}`);
    await terminal.shows('dollars or cents? Type $5,000.00 or $50.00');
    // The rejected input has been cleared, so new input starts on an empty line.
    terminal.type(`$50${enter}`);
    await terminal.shows('Place this order?');
    terminal.type(`y${enter}`);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toContain('● waiting');
    expect(terminal.text).toMatch(/ceiling +\$50\.00/);
    expect(terminal.text).toContain('Ada Example');
  });

  test('Ctrl-C at a prompt sends nothing and ends with 130', async () => {
    const terminal = open(['order', 'create']);
    await terminal.shows('What to order');
    terminal.type(controlC);
    expect(await terminal.ended()).toBe(130);
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout).toBe('');
  });

  test('the same order again is asked about: no names the first, yes orders another', async () => {
    const args = [
      'order',
      'create',
      '--product',
      product('test-success'),
      '--max-price',
      '$50',
      '--ship-to',
      'home',
    ];
    const { stdout } = await errand(workspace, [...args, '-o', 'id']);
    const first = stdout.trim();
    const refused = open(args);
    await refused.shows('Order another one?');
    expect(refused.text).toContain(`the same order was placed`);
    refused.type(enter);
    expect(await refused.ended()).toBe(130);
    expect(refused.text).not.toContain('error:');
    expect(refused.text.replaceAll(/\s+/g, '')).toContain(first);
    const meant = open(args);
    await meant.shows('Order another one?');
    meant.type(`y${enter}`);
    expect(await meant.ended()).toBe(0);
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim().split('\n')).toHaveLength(
      2,
    );
  });

  test('with CI set nobody is asked', async () => {
    workspace.environment.CI = 'true';
    const terminal = open(['order', 'create']);
    expect(await terminal.ended()).toBe(2);
    expect(terminal.text).toContain('cannot prompt, as CI is set');
  });

  test('order watch redraws in place and leaves the delivered order', async () => {
    const terminal = open([
      'order',
      'create',
      '--product',
      product('test-success'),
      '--max-price',
      '$50',
      '--ship-to',
      'home',
      '--watch',
    ]);
    await terminal.shows('watching 1 order');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.raw).toContain('\u001b[');
    expect(terminal.text).toContain('delivered');
  });

  test('order watch without ids follows what is open; in CI it follows nothing', async () => {
    const none = open(['order', 'watch']);
    expect(await none.ended()).toBe(0);
    expect(none.text).toContain('no order is open');
    const create = ['order', 'create', '--max-price', '$50', '--ship-to', 'home', '--product'];
    await errand(workspace, [...create, product('test-never')]);
    await errand(workspace, [...create, product('test-slow')]);
    const watching = open(['order', 'watch']);
    await watching.shows(/\b(?:watching|of) 2\b/);
    watching.type(controlC);
    expect(await watching.ended()).toBe(130);
    workspace.environment.CI = 'true';
    const inCi = open(['order', 'watch']);
    expect(await inCi.ended()).toBe(0);
    expect(inCi.text).toContain('no order to watch');
  });

  test('ages tick between two polls, and the orders stand in the end as they stood before', async () => {
    prefer(workspace, { 'sandbox-speed': 1 });
    const ids = [await orderOf(workspace, 'test-slow'), await orderOf(workspace, 'test-never')];
    const short = ids.map((id) => id.slice(0, 8));
    const watching = open(['order', 'watch', ...ids, '--interval', '30m']);
    const passed = (): number => {
      const ages = [...watching.text.matchAll(/(\d+)s ago/g)].map(([, seconds]) => Number(seconds));
      return Math.max(...ages) - Math.min(...ages);
    };
    await expect.poll(passed).toBeGreaterThanOrEqual(2);
    watching.type(controlC);
    expect(await watching.ended()).toBe(130);
    const shown = [...watching.text.matchAll(/^(?:\s*\d+ +)?([0-9a-f]{8})\b/gm)].map(([, id]) => id);
    expect(shown.slice(0, 2)).toEqual(short);
    expect(shown.slice(-2)).toEqual(short);
  });

  test('Ctrl-C while watching ends with 130 and gives the cursor back; the order goes on', async () => {
    const terminal = open([
      'order',
      'create',
      '--product',
      product('test-slow'),
      '--max-price',
      '$50',
      '--ship-to',
      'home',
      '--watch',
    ]);
    await terminal.shows('watching 1 order');
    terminal.type(controlC);
    expect(await terminal.ended()).toBe(130);
    expect(terminal.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw.lastIndexOf('\u001b[?25l'));
    const screen = new Screen(100, 30);
    screen.write(terminal.raw.replaceAll('\r\n', '\n'));
    expect(screen.lines().join('\n')).toMatch(/^[\da-f-]{8,36} {2}● waiting .*(?:now|\ds ago)\b/m);
    expect(screen.lines().join('\n')).toMatch(/^to go on watching: .*errand order watch/m);
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim()).not.toBe('');
  });

  test('a narrow terminal drops columns and says so; no line is wider than it', async () => {
    await errand(workspace, [
      'order',
      'create',
      '--product',
      product('test-success'),
      '--max-price',
      '$50',
      '--ship-to',
      'home',
    ]);
    const terminal = open(['order', 'list'], { columns: 40 });
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toContain('hidden');
    const table = terminal.text.split('\n').filter((line) => !line.includes('hidden'));
    expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  test.each([
    ['NO_COLOR', '1'],
    ['TERM', 'dumb'],
  ])('%s=%s: nothing but text is written', async (name, value) => {
    workspace.environment[name] = value;
    const terminal = open(['wallet']);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.raw).not.toContain('\u001b[');
    expect(terminal.text).toContain('$1,000.00');
  });
});
