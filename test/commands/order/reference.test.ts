import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { errand, type Finished } from '../../support/run.ts';
import { cutOff, errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const named = ['--reference', 'REQ-1', '--namespace', 'shop', '-o', 'json'];
const idOf = ({ stdout }: Finished): string => JSON.parse(stdout).id;

/** Runs the same command on another machine with no shared state. */
function elsewhere({ workspace, service }: Shopping) {
  const other = makeWorkspace(workspace.environment);
  onTestFinished(() => other.remove());
  writeFileSync(join(other.folder, 'order.json'), JSON.stringify(orderBody(service.product('test-success'))));
  return (...more: readonly string[]) =>
    errand(other, ['order', 'create', '--file', 'order.json', '--retries', '0', ...more]);
}

describe('an order that the buyer names', () => {
  test('is one order, however often and wherever it is ordered, at whatever ceiling', async () => {
    const shop = await shopping();
    const first = await shop.order(...named);
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout).metadata).toEqual({ errand_reference: 'shop:REQ-1' });
    const again = await shop.order(...named);
    expect([again.code, idOf(again)], again.stderr).toEqual([0, idOf(first)]);
    expect(again.stderr).toContain('this order existed already; nothing was ordered twice');
    const fresh = await elsewhere(shop)(...named, '--max-price', '$51', '--metadata', 'team=office');
    expect([fresh.code, idOf(fresh)], fresh.stderr).toEqual([0, idOf(first)]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('is another order than one of another name, or an earlier one of none', async () => {
    const shop = await shopping();
    const codes = [];
    for (const more of [
      [],
      named,
      ['--reference', 'REQ-1'],
      ['--reference', 'REQ-2'],
      ['--po-number', '7'],
      ['--new'],
    ])
      codes.push((await shop.order(...more)).code);
    expect(codes).toEqual([0, 0, 5, 0, 5, 0]);
    expect(await shop.orders()).toHaveLength(4);
  });

  test('and that was given up in doubt is looked for by its name, and ordered under it by --again', async () => {
    const shop = await shopping();
    lose(shop, 'reset-before');
    expect((await shop.order(...named)).code).toBe(10);
    const key = (await shop.run('order', 'journal', 'list', '-o', 'id')).stdout.trim();
    expect((await shop.run('order', 'journal', 'forget', key)).code).toBe(0);
    const refused = await shop.order(...named);
    expect([refused.code, errorOf(refused).code]).toEqual([5, 'reference_unknown']);
    expect(errorOf(refused).hint).toBe(
      'Look whether that one is there first. Another order takes another reference.',
    );
    const [look, again, ...others] = errorOf(refused).next;
    expect(look.command).toBe('errand order list --reference REQ-1 --namespace shop');
    expect(again).toMatchObject({
      command: expect.stringMatching(/ --again$/),
      when: 'to order it where it is not there',
    });
    expect(others).toEqual([]);
    const looked = await shop.run(...look.command.split(' ').slice(1), '-o', 'id');
    expect([looked.code, looked.stdout]).toEqual([0, '']);
    expect((await shop.order(...named, '--again')).code).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('with another quantity is refused, with the difference', async () => {
    const shop = await shopping();
    const first = await shop.order(...named);
    const url = shop.service.product('test-success');
    const other = await elsewhere(shop)(...named, '--product', `${url},quantity=2`);
    expect(other.code).toBe(5);
    expect(errorOf(other)).toMatchObject({
      code: 'reference_differs',
      details: {
        reference: 'shop:REQ-1',
        orders: [{ id: idOf(first) }],
        differences: [{ field: 'products.0.quantity', requested: 2, existing: 1 }],
      },
      next: [
        { command: `errand order get ${idOf(first)}` },
        {
          command: expect.stringMatching(
            /^errand order create (?!.*REQ-1).* --namespace shop .* --reference NAME$/,
          ),
        },
      ],
    });
    expect(await shop.orders()).toHaveLength(1);
  });

  test('is ordered again where the first was cancelled, and after a failure', async () => {
    const shop = await shopping();
    const slow = ['--product', shop.service.product('test-slow'), ...named];
    const first = await shop.order(...slow);
    expect((await shop.run('order', 'cancel', idOf(first))).code).toBe(0);
    const second = await shop.order(...slow);
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).toMatch(/attempt 2; the first \(\S+, .+\) was cancelled/);
    expect(idOf(second)).not.toBe(idOf(first));
    const third = await elsewhere(shop)(...slow);
    expect([third.code, idOf(third)]).toEqual([0, idOf(second)]);
  });

  test('whose response was lost is settled by the same command, and by no other machine twice', async () => {
    const shop = await shopping();
    const lost = await cutOff(shop, () => shop.order(...named));
    expect(lost.code).toBe(10);
    const there = await elsewhere(shop)(...named);
    expect(there.code, there.stderr).toBe(0);
    const here = await shop.order(...named);
    expect([here.code, idOf(here)], here.stderr).toEqual([0, idOf(there)]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('that never arrived is sent by the same command', async () => {
    const shop = await shopping();
    lose(shop, 'reset-before');
    expect((await shop.order(...named)).code).toBe(10);
    expect(await shop.orders()).toHaveLength(0);
    const again = await shop.order(...named);
    expect(again.code, again.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('that was refused at creation keeps its number and key', async () => {
    const shop = await shopping();
    const url = shop.service.product('test-invalid-address');
    expect((await shop.order('--product', url, ...named)).code).not.toBe(0);
    const second = await shop.order(...named);
    expect(second.code, second.stderr).toBe(0);
    const records = JSON.parse((await shop.run('order', 'journal', 'list', '--all', '-o', 'json')).stdout);
    expect(records).toHaveLength(1);
  });

  test('is bought once by commands that race on machines of their own', async () => {
    const shop = await shopping();
    const all = await Promise.all(
      [shop.order, elsewhere(shop), elsewhere(shop)].map((order) => order(...named)),
    );
    expect(
      all.map(({ code }) => code),
      all.map(({ stderr }) => stderr).join('\n'),
    ).toEqual([0, 0, 0]);
    expect(new Set(all.map(idOf)).size).toBe(1);
    expect(await shop.orders()).toHaveLength(1);
  });

  test.each([
    [['--reference', ' '], '--reference is empty'],
    [
      ['--reference', 'R', '--new'],
      '--new and --reference exclude each other; another order has another reference',
    ],
    [['--reference', 'R', '--idempotency-key', 'k'], '--idempotency-key and --reference exclude each other'],
    [['--namespace', 'shop'], '--namespace needs --reference'],
    [['--again', '--new'], '--again and --new exclude each other'],
    [['--again', '--idempotency-key', 'k'], '--again and --idempotency-key exclude each other'],
    [['--reference', 'R', '--namespace', 'a:b'], '--namespace takes letters, digits'],
    [['--metadata', 'errand_reference=R'], 'metadata: errand_reference is where the reference travels'],
  ])('%j is refused before anything is sent', async (flags, message) => {
    const shop = await shopping();
    const { code, stderr } = await shop.order(...flags);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(await shop.orders()).toHaveLength(0);
  });

  test('is shown where requests are not sent', async () => {
    const shop = await shopping();
    const { code, stdout } = await shop.order('--reference', 'REQ-1', '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain('"errand_reference": "REQ-1"');
  });
});
