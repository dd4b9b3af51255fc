import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { FaultProxy, type Moment } from '../../faults/proxy.ts';
import { address, orderBody } from '../../support/order-body.ts';
import { begin, errand, type Finished } from '../../support/run.ts';
import { errorOf } from '../../support/shopping.ts';
import { Till } from '../../support/till.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let till: Till;
let proxy: FaultProxy;
let workspace: Workspace;

beforeEach(async () => {
  till = await Till.open();
  proxy = new FaultProxy(till.url);
  const url = await proxy.start();
  onTestFinished(async () => {
    await proxy.stop();
    await till.close();
  });
  workspace = machine(url);
});

function machine(url: string): Workspace {
  const made = makeWorkspace({ ERRAND_BASE_URL: url, ERRAND_NO_INPUT: '1' });
  onTestFinished(() => made.remove());
  writeFileSync(join(made.folder, 'order.json'), JSON.stringify(orderBody(till.product())));
  return made;
}

/** Writes the order file anew. */
const write = (change: object): void =>
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify({ ...orderBody(till.product()), ...change }),
  );

const placing = ['agent', 'order', 'create', '--file', 'order.json', '--retries', '0', '-o', 'json'];
const order = (...more: readonly string[]): Promise<Finished> => errand(workspace, [...placing, ...more]);
const named = ['--reference', 'REQ-1', '--namespace', 'shop'];
const idOf = ({ stdout }: Finished): string => JSON.parse(stdout).id;
const payments = (): number => new Set(till.paid).size;

describe('an order without an account, by likeness', () => {
  test.each<[string, () => object]>([
    ['the same', () => ({})],
    ['a cent more', () => ({ max_price: 5001 })],
    ['a PO number', () => ({ po_number: '7' })],
    ['a tracking parameter', () => ({ products: [{ url: `${till.product()}?utm_source=x` }] })],
    ['another spelling of the recipient', () => ({ shipping_address: { ...address, first_name: 'ADA' } })],
  ])('%s is refused, and not paid for', async (_, change) => {
    const id = idOf(await order());
    write(change());
    const again = await order();
    expect(again.code, again.stderr).toBe(5);
    const { code, details, next } = errorOf(again);
    expect([code, details.order_id]).toEqual(['duplicate_alike', id]);
    const commands = next.map(({ command }: { command: string }) => command).join('\n');
    expect(commands).toMatch(/--reference NAME/);
    expect(commands).toMatch(/--new/);
    expect([till.requested, await till.orders()]).toEqual([1, 1]);
    expect((await order('--new')).code).toBe(0);
    expect([payments(), await till.orders()]).toEqual([2, 2]);
  });

  test('another recipient is another need, and so is the same after the window', async () => {
    await order();
    write({ shipping_address: { ...address, first_name: 'Grace' } });
    expect((await order()).code).toBe(0);
    workspace.environment.ERRAND_DUPLICATE_WINDOW = '0';
    expect((await order()).code).toBe(0);
    expect(await till.orders()).toBe(3);
  });

  test('what failed or was cancelled does not stand in the way', async () => {
    write({ products: [{ url: till.product('test-out-of-stock') }] });
    await order();
    till.pass(3_600_000);
    const failed = await order();
    expect([failed.code, failed.stderr]).toEqual([
      0,
      expect.stringMatching(/attempt 2; the first .*out of stock/),
    ]);
    write({ products: [{ url: till.product('test-slow') }] });
    await till.cancel(idOf(await order()));
    const cancelled = await order();
    expect([cancelled.code, cancelled.stderr]).toEqual([
      0,
      expect.stringMatching(/attempt 2; .* was cancelled/),
    ]);
  });

  test('what is in doubt stops other content, and is settled by the same command with its own payment', async () => {
    till.mood.lost.after = 1;
    const lost = await order();
    expect(lost.code).toBe(10);
    write({ max_price: 5001 });
    const other = await order();
    expect([other.code, errorOf(other).code]).toEqual([5, 'duplicate_in_doubt']);
    write({});
    const settled = await order();
    expect(settled.code, settled.stderr).toBe(0);
    expect([payments(), till.requested, await till.orders()]).toEqual([1, 1, 1]);
    expect((await order()).code).toBe(5);
  });

  test('of two commands at once one buys it', async () => {
    const all = await Promise.all([order(), order(), order()]);
    expect(all.map(({ code }) => code).toSorted(), all.map(({ stderr }) => stderr).join('\n')).toEqual([
      0, 5, 5,
    ]);
    expect([payments(), await till.orders()]).toEqual([1, 1]);
  });
});

describe('an order without an account, by a reference', () => {
  test('is bought and paid for once, at whatever ceiling, and it is said that only this journal knows it', async () => {
    const first = await order(...named);
    expect(first.code, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout).metadata).toEqual({ errand_reference: 'shop:REQ-1' });
    expect(first.stderr.split('only this journal knows the reference shop:REQ-1')).toHaveLength(2);
    write({ max_price: 6000 });
    const again = await order(...named);
    expect([again.code, idOf(again)], again.stderr).toEqual([0, idOf(first)]);
    expect(again.stderr).toContain('nothing was paid twice');
    expect(again.stderr).not.toContain('only this journal');
    expect([till.requested, payments(), await till.orders()]).toEqual([1, 1, 1]);
    const other = await order('--reference', 'REQ-2');
    expect(other.code, other.stderr).toBe(0);
    const elsewhere = await errand(machine(workspace.environment.ERRAND_BASE_URL ?? ''), [
      ...placing,
      ...named,
    ]);
    expect(elsewhere.code, elsewhere.stderr).toBe(0);
    expect(await till.orders()).toBe(3);
  });

  test('with another quantity is refused with the difference', async () => {
    const id = idOf(await order(...named));
    write({ products: [{ url: till.product(), quantity: 2 }] });
    const other = await order(...named);
    expect(other.code, other.stderr).toBe(5);
    expect(errorOf(other)).toMatchObject({
      code: 'reference_differs',
      details: {
        orders: [{ id }],
        differences: [{ field: 'products.0.quantity', requested: 2, existing: 1 }],
      },
    });
    expect(await till.orders()).toBe(1);
  });

  test('in doubt is settled with its own payment, whatever is lost', async () => {
    till.mood.lost.before = 1;
    expect((await order(...named)).code).toBe(10);
    const again = await order(...named);
    expect(again.code, again.stderr).toBe(0);
    expect([till.requested, payments(), await till.orders()]).toEqual([1, 1, 1]);
  });

  test('that exists already under no id that is named is in doubt, and never the next attempt', async () => {
    till.mood.taken = 2;
    expect((await order(...named)).code).toBe(10);
    const again = await order(...named);
    expect(again.code, again.stderr).toBe(10);
    expect([till.requested, payments()]).toEqual([1, 1]);
    const settled = await order(...named);
    expect(settled.code, settled.stderr).toBe(0);
    expect([till.requested, payments(), await till.orders()]).toEqual([1, 1, 1]);
  });

  test('is bought once by commands at once', async () => {
    const all = await Promise.all([order(...named), order(...named), order(...named)]);
    expect(
      all.map(({ code }) => code),
      all.map(({ stderr }) => stderr).join('\n'),
    ).toEqual([0, 0, 0]);
    expect([new Set(all.map(idOf)).size, payments(), await till.orders()]).toEqual([1, 1, 1]);
  });

  test.each([
    [['--reference', 'R', '--new'], '--new and --reference exclude each other'],
    [['--reference', 'R', '--idempotency-key', 'k'], '--idempotency-key and --reference exclude each other'],
    [['--again', '--new'], '--again and --new exclude each other'],
  ])('%j is refused before anything is paid', async (flags, message) => {
    const { code, stderr } = await order(...flags);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(till.requested).toBe(0);
  });
});

describe('an order without an account whose command was killed', () => {
  /** Moments of the requests: the first asks for the price, the second pays. */
  const moments = [
    [1, 'request-came'],
    [1, 'responded'],
    [2, 'request-came'],
    [2, 'work-done'],
    [2, 'responded'],
  ] as const satisfies readonly (readonly [number, Moment])[];

  test.each(moments.flatMap(([at, moment]) => [[at, moment, []] as const, [at, moment, named] as const]))(
    'at request %i, %s, %j: the same command makes one order of it, paid once',
    async (at, moment, flags) => {
      const child = begin(workspace, 'errand', [...placing, ...flags]);
      child.stdin.end();
      let requests = 0;
      proxy.onMoment = (now) => {
        if (now === 'request-came') requests += 1;
        if (now === moment && requests === at) child.kill('SIGKILL');
      };
      const [code] = await once(child, 'close');
      proxy.onMoment = () => {};
      const again = await order(...flags);
      // The last response may reach the command in time.
      const isReported = code === 0 && flags.length === 0;
      expect(again.code, again.stderr).toBe(isReported ? 5 : 0);
      expect([payments(), await till.orders()]).toEqual([1, 1]);
      const [record, ...more] = JSON.parse(
        (await errand(workspace, ['order', 'journal', 'list', '--all', '-o', 'json'])).stdout,
      );
      const id = isReported ? errorOf(again).details.order_id : idOf(again);
      expect([record.state, record.order_id, more]).toEqual(['reported', id, []]);
    },
  );
});
