import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { orderId } from '../../support/caller.ts';
import { json, peer } from '../../support/peer.ts';
import { errorOf, lose, shopping } from '../../support/shopping.ts';

describe('an order or return that exists already under an id that cannot be read', () => {
  test.each([
    ['control characters', '\u001b[2J\u0000evil\u202e'],
    ['an object', { a: 1 }],
    ['a number', 12],
    ['nothing', null],
  ])('%s: the id is not repeated, and the list is where to look', async (_, identifier) => {
    const shop = await shopping();
    const message = `exists: ${JSON.stringify(identifier)}`;
    const { url } = await peer(json({ code: 'already_exists', message, details: { identifier } }, 409));
    const order = await shop.order('--base-url', url, '-o', 'json');
    expect([order.code, errorOf(order).outcome]).toEqual([10, 'unknown']);
    const item = ['--item', orderId, '--reason', 'damaged', '--base-url', url];
    const asked = await shop.run('return', 'create', '--order', orderId, ...item, '-o', 'json');
    expect(asked.code, asked.stderr).toBe(5);
    for (const [finished, list] of [
      [order, 'errand order list'],
      [asked, 'errand return list'],
    ] as const) {
      expect(finished.stderr).not.toMatch(/evil|\[object|"identifier"/);
      expect(errorOf(finished).message).toContain('by no id that can be read');
      expect(errorOf(finished).next[0].command).toBe(`${list} --base-url ${url}`);
    }
  });
});

describe('an order in doubt, recorded by a clock that was two days ahead, is found before it is sent again', () => {
  const hour = 3_600_000;
  test.each([
    ['is ahead still', 48 * hour],
    ['has been set since', 0],
  ])('the clock %s', async (_, aheadMs) => {
    const shop = await shopping();
    shop.later(48 * hour);
    lose(shop, 'reset-after');
    expect((await shop.order()).code).toBe(10);
    const [order] = await shop.orders();
    const passedMs = 26 * hour;
    shop.service.pass(passedMs);
    shop.later(passedMs + aheadMs);
    const key = (await shop.run('order', 'journal', 'list', '-o', 'id')).stdout.trim();
    const before = shop.service.parts.requests?.total ?? 0;
    const resumed = await shop.run('order', 'journal', 'resume', key, '-o', 'json');
    expect([resumed.code, errorOf(resumed).message]).toEqual([
      5,
      expect.stringContaining(`${order?.id} looks`),
    ]);
    expect((shop.service.parts.requests?.total ?? 0) - before).toBeLessThan(6);
    expect(await shop.orders()).toHaveLength(1);
  });
});

describe('the commands that are printed after a doubt', () => {
  test('of a retry carry the service and the profile that were given', async () => {
    const shop = await shopping('reset-after@POST /v1/orders/*');
    const { id } = (await shop.service.order('test-out-of-stock')).body;
    shop.service.pass(20_000);
    const { ERRAND_BASE_URL: url = '' } = shop.workspace.environment;
    delete shop.workspace.environment.ERRAND_BASE_URL;
    await shop.run('profile', 'set', 'shop', '--base-url', url);
    const where = ['--profile', 'shop', '--base-url', url];
    const lost = await shop.run('legacy', 'retry', id, ...where, '-o', 'json');
    expect(lost.code, lost.stderr).toBe(10);
    for (const { command } of errorOf(lost).next) expect(command).toContain(where.join(' '));
    const forget = errorOf(lost).next.at(-1).command.split(' ').slice(1);
    expect((await shop.run(...forget)).code).toBe(0);
  });

  test('name no service whose profile was deleted since', async () => {
    const shop = await shopping();
    const { ERRAND_BASE_URL: url = '' } = shop.workspace.environment;
    await shop.run('profile', 'set', 'gone', '--base-url', url);
    lose(shop, 'reset-after');
    expect((await shop.order('--profile', 'gone')).code).toBe(10);
    expect((await shop.run('profile', 'delete', 'gone')).code).toBe(0);
    delete shop.workspace.environment.ERRAND_BASE_URL;
    const key = (await shop.run('order', 'journal', 'list', '-o', 'id')).stdout.trim();
    const elsewhere = await shop.run('order', 'journal', 'resume', key, '-o', 'json');
    expect([elsewhere.code, errorOf(elsewhere).code]).toEqual([5, 'another_service']);
    expect(elsewhere.stderr).not.toContain(url);
    const settled = await shop.run('order', 'journal', 'resume', key, '--base-url', url, '-o', 'id');
    expect(settled.code, settled.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });
});

describe('the same command settles what is in doubt, whatever the policy has become', () => {
  test.each([
    ['cannot be read', 'limits: {'],
    ['refuses it', 'limits: { per_order: $1 }'],
    ['requires approval', 'approve: { above: $1 }'],
    ['asks the service for a retailer that nobody knows', 'retailers: { deny: [nobody] }'],
  ])('it %s now', async (_, text) => {
    const shop = await shopping();
    const write = (rules: string): void => {
      const folder = join(shop.workspace.folder, '.config');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, 'policy.yaml'), `version: 1\n${rules}\n`, { mode: 0o600 });
    };
    write('limits: { per_day: $500 }');
    lose(shop, 'reset-after');
    expect((await shop.order()).code).toBe(10);
    write(text);
    const again = await shop.order();
    expect(again.code, again.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });
});
