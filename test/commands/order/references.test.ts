import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import type { Finished } from '../../support/run.ts';
import { type Shopping, shopping } from '../../support/shopping.ts';

const write = ({ workspace, service }: Shopping, more: object): void =>
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify({ ...orderBody(service.product('test-success')), ...more }),
  );
const idOf = ({ stdout }: Finished): string => JSON.parse(stdout).id;

describe('an order file', () => {
  test('names its order, and flags that say the same do no harm', async () => {
    const shop = await shopping();
    write(shop, { reference: ' REQ-1', namespace: 'shop' });
    const first = await shop.order('-o', 'json');
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout).metadata).toEqual({ errand_reference: 'shop:REQ-1' });
    const again = await shop.order('--reference', 'REQ-1', '--namespace', 'shop', '-o', 'json');
    expect([again.code, idOf(again)], again.stderr).toEqual([0, idOf(first)]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test.each([
    [
      { reference: 'REQ-1' },
      ['--reference', 'REQ-2'],
      '--reference REQ-2, and order.json has the reference REQ-1',
    ],
    [
      { reference: 'REQ-1', namespace: 'a' },
      ['--namespace', 'b'],
      '--namespace b, and order.json has the namespace a',
    ],
    [{ reference: 1001 }, [], 'order.json: reference is not a text; write it in quotes: "1001"'],
    [{ reference: '' }, [], 'order.json: reference is empty'],
    [{ reference: 'a', namespace: 'a b' }, [], 'order.json: namespace takes letters'],
    [{ namespace: 'a' }, [], '--namespace needs --reference'],
    [
      { reference: 'a', idempotency_key: 'k' },
      [],
      'order.json: idempotency_key and reference exclude each other',
    ],
    [
      { metadata: { errand_reference: 'a' } },
      [],
      'metadata: errand_reference is where the reference travels',
    ],
  ])('%j with %j is refused', async (more, flags, words) => {
    const shop = await shopping();
    write(shop, more);
    const { code, stderr } = await shop.order(...flags);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(await shop.orders()).toHaveLength(0);
  });

  test('has a JSON Schema', async () => {
    const shop = await shopping();
    const { stdout } = await shop.run('schema', 'OrderFile', '-o', 'json');
    const { properties, required, additionalProperties } = JSON.parse(stdout);
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['products', 'reference', 'namespace']));
    expect([required, additionalProperties]).toEqual([['products', 'shipping_address', 'max_price'], false]);
  });
});

describe('orders by their reference', () => {
  test('are listed and exported, by the namespace too', async () => {
    const shop = await shopping();
    const ours = idOf(await shop.order('--reference', 'REQ-1', '-o', 'json'));
    const theirs = idOf(await shop.order('--reference', 'REQ-2', '--namespace', 'shop', '-o', 'json'));
    await shop.order('--po-number', '7');
    const list = async (...more: readonly string[]) => (await shop.run('order', 'list', ...more)).stdout;
    expect(await list('--reference', 'REQ-1', '-o', 'id')).toBe(`${ours}\n`);
    expect(await list('--reference', 'REQ-2', '-o', 'id')).toBe('');
    expect(await list('--reference', 'REQ-2', '--namespace', 'shop', '-o', 'id')).toBe(`${theirs}\n`);
    const exported = await shop.run('order', 'export', '--reference', 'REQ-1');
    expect(exported.stdout).toContain(ours);
    expect(exported.stdout).not.toContain(theirs);
    const whole = await shop.run('order', 'list', '--reference', 'shop:REQ-2');
    expect(whole.stderr).toContain('if "shop" is its namespace: --namespace shop --reference REQ-2');
  });

  test('show it where it is named, and to people; what scripts read stays as it was', async () => {
    const shop = await shopping();
    const id = idOf(await shop.order('--reference', 'REQ-1', '--namespace', 'shop', '-o', 'json'));
    const fields = ['--fields', 'id,reference'];
    expect((await shop.run('order', 'list', ...fields, '-o', 'csv')).stdout).toBe(
      `id,reference\n${id},shop:REQ-1\n`,
    );
    expect(JSON.parse((await shop.run('order', 'get', id, ...fields, '-o', 'json')).stdout)).toEqual({
      id,
      reference: 'shop:REQ-1',
    });
    expect((await shop.run('order', 'get', id)).stdout).toMatch(/^reference +shop:REQ-1$/m);
    for (const format of ['csv', 'table', 'tsv'])
      expect((await shop.run('order', 'list', '-o', format)).stdout).not.toMatch(/reference|REQ-1/i);
    expect(JSON.parse((await shop.run('order', 'get', id, '-o', 'json')).stdout)).not.toHaveProperty(
      'reference',
    );
  });

  test.each([
    [
      ['--reference', 'a', '--metadata-key', 'k', '--metadata-value', 'v'],
      'and --metadata-key exclude each other',
    ],
    [['--namespace', 'a'], '--namespace needs --reference'],
    [['--reference', ' '], '--reference is empty'],
  ])('%j is refused', async (given, words) => {
    const shop = await shopping();
    const { code, stderr } = await shop.run('order', 'list', ...given);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  test('are repeated without it', async () => {
    const shop = await shopping();
    const id = idOf(await shop.order('--reference', 'REQ-1', '--metadata', 'team=web', '-o', 'json'));
    const { code, stdout, stderr } = await shop.run('order', 'create', '--like', id, '--dry-run');
    expect(code, stderr).toBe(5);
    expect(JSON.parse(stdout).body.metadata).toEqual({ team: 'web' });
  });
});
