import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lose, type Shopping, shopping } from '../../support/shopping.ts';

const hour = 3_600_000;
const creates = ['order create', 'agent order create'] as const;
type Creating = (typeof creates)[number];

/**
 * Loses the response to the first create. For an order paid by challenge, the very first request only fetches the
 * price.
 */
async function inDoubt(command: Creating): Promise<{ shop: Shopping; key: string }> {
  const shop = await shopping();
  lose(shop, ...(command === 'order create' ? [] : ['none' as const]), 'reset-after');
  expect((await creating(shop, command, '--retries', '0')).code).toBe(10);
  return { shop, key: await keyIn(shop) };
}

const creating = (shop: Shopping, command: Creating, ...more: readonly string[]) =>
  shop.run(...command.split(' '), '--file', 'order.json', ...more);

const keyIn = async (shop: Shopping): Promise<string> =>
  JSON.parse((await shop.run('order', 'journal', 'list', '-o', 'json')).stdout)[0].key;

const shownKey = (text: string): string | undefined => JSON.parse(text).body.idempotency_key;

/** The journal as it lies on disk. */
const journalBytes = ({ workspace }: Shopping): unknown =>
  readdirSync(join(workspace.folder, '.state'))
    .filter((name) => name.startsWith('journal'))
    .map((name) => [name, readFileSync(join(workspace.folder, '.state', name), 'base64')]);

describe('a request that is shown while the same is in doubt', () => {
  test.each(creates)('%s --dry-run carries the key, says why, and writes nothing', async (command) => {
    const { shop, key } = await inDoubt(command);
    const before = journalBytes(shop);
    const shown = await creating(shop, command, '--dry-run');
    expect([shown.code, shownKey(shown.stdout)]).toEqual([0, key]);
    expect(shown.stderr).toMatch(/the same order is in doubt since 20\S+ /);
    expect(shown.stderr).toContain(`errand order journal resume ${key}`);
    expect(shown.stderr).toContain(`errand ${command} --new`);
    expect(journalBytes(shop)).toEqual(before);
    expect(await keyIn(shop)).toBe(key);
  });

  test('the request that --curl prints makes no second order when it is sent', async () => {
    const { shop, key } = await inDoubt('order create');
    const { stdout } = await creating(shop, 'order create', '--curl');
    expect(stdout).toContain(`"idempotency_key":"${key}"`);
    const [, body = ''] = /--data-raw '(.*)'/.exec(stdout) ?? [];
    expect((await shop.service.send('POST', '/orders', JSON.parse(body))).body.code).toBe('already_exists');
    expect(await shop.orders()).toHaveLength(1);
  });

  test.each(creates)('%s with --new, or with a key, shows no key of the journal', async (command) => {
    const { shop, key } = await inDoubt(command);
    const another = await creating(shop, command, '--dry-run', '--new');
    expect(shownKey(another.stdout)).not.toBe(key);
    expect(another.stderr).not.toContain('in doubt');
    const own = await creating(shop, command, '--dry-run', '--idempotency-key', 'mine');
    expect([shownKey(own.stdout), own.stderr]).toEqual(['mine', '']);
  });

  test('one like it shows no key, and is told of; another product is not', async () => {
    const { shop, key } = await inDoubt('order create');
    const before = journalBytes(shop);
    const other = await creating(shop, 'order create', '--dry-run', '--max-price-cents', '7000');
    expect([shownKey(other.stdout), other.stderr]).toEqual([
      undefined,
      expect.stringContaining(`an order like this one is there: ${key} (in doubt, `),
    ]);
    const product = shop.service.product('test-slow');
    const apart = await creating(shop, 'order create', '--dry-run', '--product', product);
    expect([shownKey(apart.stdout), apart.stderr]).toEqual([undefined, '']);
    expect(journalBytes(shop)).toEqual(before);
  });

  test('two days later the note says that the key may be forgotten', async () => {
    const { shop, key } = await inDoubt('order create');
    shop.later(48 * hour);
    const shown = await creating(shop, 'order create', '--dry-run');
    expect(shownKey(shown.stdout)).toBe(key);
    expect(shown.stderr).toContain('the service may no longer know');
  });

  test('an order of a moment ago lends its key too', async () => {
    const shop = await shopping();
    const id = (await shop.order('-o', 'id')).stdout.trim();
    const shown = await creating(shop, 'order create', '--dry-run');
    expect(shown.stderr).toContain(`the same order was placed at`);
    expect(shown.stderr).toContain(id);
    const { body } = JSON.parse(shown.stdout);
    expect((await shop.service.send('POST', '/orders', body)).body.code).toBe('already_exists');
    expect(await shop.orders()).toHaveLength(1);
  });

  test('a journal that cannot be read is told of, and keeps nothing from being shown', async () => {
    const { shop } = await inDoubt('order create');
    writeFileSync(join(shop.workspace.folder, '.state', 'journal.db'), 'not a journal');
    const shown = await creating(shop, 'order create', '--dry-run');
    expect([shown.code, shownKey(shown.stdout)]).toEqual([1, undefined]);
    expect(shown.stderr).toContain('cannot say whether the same order is in doubt');
  });

  test('a return and a retry, which have no key, are told of', async () => {
    const shop = await shopping('reset-after@POST /v1/orders/*', 'reset-after@POST /returns');
    const order = await shop.service.order('test-success');
    const failed = await shop.service.order('test-out-of-stock');
    shop.service.pass(hour);
    for (const line of [
      ['legacy', 'retry', failed.body.id],
      ['return', 'create', '--order', order.body.id, '--reason', 'damaged'],
    ]) {
      expect((await shop.run(...line, '--retries', '0')).code, line.join(' ')).toBe(10);
      const { code, stderr } = await shop.run(...line, '--dry-run');
      expect([code, stderr]).toEqual([0, expect.stringMatching(/in doubt since .*may make a second one/)]);
    }
  });
});
