import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { normaliseVariants } from '../../../src/api/sandbox-faults.ts';
import { through } from '../../support/gateway.ts';
import { orderBody } from '../../support/order-body.ts';
import { begin, shell, spawned } from '../../support/run.ts';
import { errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';

const hour = 3_600_000;

describe('what a failing output says of the order', () => {
  test.each([
    ['a full disk behind stdout', '-o json > /dev/full', 1],
    ['a query that cannot be applied', "-o json --query 'abs(id)'", 2],
    ['a query that cannot be applied to a table', "--query 'abs(id)'", 2],
    ['a query over rows', "-o csv --query 'abs(id)'", 2],
  ])('%s: it was placed, with its id and key, and the same command places no other', async (_, end, code) => {
    const shop = await shopping();
    const line = `errand order create --file order.json --retries 0 ${end}`;
    const failed = await shell(shop.workspace, line);
    const [order] = await shop.orders();
    expect(failed.code, failed.stderr).toBe(code);
    expect(failed.stdout).toBe('');
    expect(failed.stderr).toContain(`the order ${order?.id} was placed`);
    if (line.includes('-o json')) {
      const { key } = JSON.parse(
        (await shop.run('order', 'journal', 'list', '--all', '-o', 'json')).stdout,
      )[0];
      expect(errorOf(failed)).toMatchObject({
        outcome: 'applied',
        idempotency_key: key,
        details: { made: [{ kind: 'order', id: order?.id }], record: { id: order?.id, status: 'pending' } },
      });
    }
    const again = await shop.order();
    expect(again.code).toBe(5);
    expect(again.stderr).toContain(order?.id);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('a reader that has gone: stderr has the id', async () => {
    const shop = await shopping();
    const { stderr } = await shell(
      shop.workspace,
      'errand order create --file order.json -o json | true',
      {},
    );
    const [order] = await shop.orders();
    expect(stderr).toContain(`the order ${order?.id} was placed; the reader of stdout has gone`);
    expect((await shop.order()).code).toBe(5);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('a wrong query is refused before anything is sent', async () => {
    const shop = await shopping();
    expect((await shop.order('--query', 'abs(')).code).toBe(2);
    expect(await shop.orders()).toEqual([]);
  });

  test('a cancellation is not called unsent by an output that fails', async () => {
    const shop = await shopping();
    const { id } = JSON.parse((await shop.order('-o', 'json')).stdout);
    const failed = await shell(shop.workspace, `errand order cancel ${id} -o json --query 'abs(status)'`);
    expect([failed.code, errorOf(failed).outcome]).toEqual([2, 'applied']);
    const read = await shell(shop.workspace, `errand order get ${id} -o json --query 'abs(status)'`);
    expect([read.code, errorOf(read).outcome]).toEqual([2, null]);
  });
});

describe('a command that was killed', () => {
  /** Places an order and is killed after the response, before the result is reported. */
  async function killedUnreported(shop: Shopping, ...more: readonly string[]): Promise<string> {
    const args = ['order', 'create', '--file', 'order.json', '--watch', '--until', 'delivered', ...more];
    const child = begin(shop.workspace, 'errand', [...args, '-o', 'json']);
    const ended = new Promise((resolve) => child.once('close', resolve));
    for (let id = ''; ; await new Promise((resolve) => setTimeout(resolve, 30))) {
      id = (await shop.run('order', 'journal', 'list', '--all', '-o', 'json', '--query', '[0].order_id'))
        .stdout;
      if (!/^"/.test(id)) continue;
      child.kill('SIGKILL');
      await ended;
      return JSON.parse(id);
    }
  }

  test('after the response and before it was reported: the same command reports that order, once', async () => {
    const shop = await shopping();
    const id = await killedUnreported(shop);
    const listed = await shop.run('order', 'journal', 'list', '-o', 'csv', '--fields', 'state,order_id');
    expect(listed.stdout).toBe(`state,order_id\nresponded,${id}\n`);
    const again = await shop.order('-o', 'id');
    expect([again.code, again.stdout]).toEqual([0, `${id}\n`]);
    expect(again.stderr).toMatch(/placed by the command that was interrupted at \S+: /);
    expect((await shop.order('-o', 'id')).code).toBe(5);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('the same command twice at once: one reports the order, and the other says that it was placed', async () => {
    const shop = await shopping();
    const gateway = await through(shop);
    const id = await killedUnreported(shop);
    let free = (): void => {};
    const isHeld = new Promise<void>((held) => {
      gateway.hold = (method, path) => {
        if (method !== 'GET' || !path.endsWith(id)) return undefined;
        delete gateway.hold;
        held();
        return new Promise((resolve) => {
          free = resolve;
        });
      };
    });
    const late = shop.order('-o', 'id');
    await isHeld;
    const first = await shop.order('-o', 'id');
    free();
    expect([first.code, first.stdout]).toEqual([0, `${id}\n`]);
    expect(await late).toMatchObject({ code: 5, stdout: '' });
    expect(await shop.orders()).toHaveLength(1);
  });

  test('is reported by resume --all as well, and by a line of the next order', async () => {
    const shop = await shopping();
    const id = await killedUnreported(shop);
    const other = await shop.order('--reference', 'REQ-2');
    expect(other.stderr).toContain(
      'one order was placed and never reported; errand order journal resume --all',
    );
    const resumed = await shop.run('order', 'journal', 'resume', '--all', '-o', 'id');
    expect([resumed.code, resumed.stdout]).toEqual([0, `${id}\n`]);
    expect((await shop.run('order', 'journal', 'list', '-o', 'id')).stdout).toBe('');
  });

  test('two days ago: the same command may mean another one, so it orders nothing and says why', async () => {
    const shop = await shopping();
    const id = await killedUnreported(shop);
    shop.later(48 * hour);
    const again = await shop.order('-o', 'json');
    expect(again.code).toBe(5);
    expect(errorOf(again)).toMatchObject({ outcome: 'applied', details: { order_id: id } });
    expect(await shop.orders()).toHaveLength(1);
    shop.service.pass(48 * hour);
    expect((await shop.order()).code).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
  });
});

describe('the same order again', () => {
  test('thirty times at once is one order; twenty-nine name it', async () => {
    const shop = await shopping();
    const args = ['order', 'create', '--file', 'order.json', '--retries', '0', '-o', 'json'];
    const ended = await Promise.all(Array.from({ length: 30 }, () => spawned(shop.workspace, args)));
    const [order] = await shop.orders();
    expect(await shop.orders()).toHaveLength(1);
    const codes = ended.map(({ code }) => code).toSorted();
    expect(codes).toEqual([0, ...Array(29).fill(5)]);
    const listed = await shop.run('order', 'journal', 'list', '--all', '-o', 'json');
    const [{ key }] = JSON.parse(listed.stdout);
    for (const refused of ended.filter(({ code }) => code === 5).map(errorOf)) {
      expect(refused.idempotency_key).toBe(key);
      // On a busy machine the wait may end before the id is known; the key then identifies the order.
      if (refused.outcome !== 'unknown')
        expect(refused).toMatchObject({ outcome: 'applied', details: { order_id: order?.id } });
    }
  });

  test('with the line that the refusal prints is one more, however often that line runs', async () => {
    const shop = await shopping();
    expect((await shop.order('-o', 'json')).code).toBe(0);
    const refused = await shop.order('-o', 'json');
    const line = errorOf(refused).next.find(({ command }: { command: string }) =>
      command.includes('--reference'),
    );
    const ids = [];
    for (const _ of [1, 2]) {
      const named = await shell(shop.workspace, line.command);
      expect(named.code, named.stderr).toBe(0);
      ids.push(JSON.parse(named.stdout).id);
    }
    expect(ids[0]).toBe(ids[1]);
    expect(await shop.orders()).toHaveLength(2);
  });

  test.each<[string, readonly string[], Record<string, string>?]>([
    ['the country in small letters', ['--country', 'us']],
    ['a default written out', ['--payment-mode', 'wallet']],
    ['a price written otherwise', ['--max-price', '$50.00']],
    ['capitals in the city', ['--city', 'AUSTIN']],
    ['another profile with the same key', ['--profile', 'other']],
  ])('spelt another way is the same: %s', async (_, more) => {
    const shop = await shopping();
    const { ERRAND_BASE_URL: url = '' } = shop.workspace.environment;
    await shop.run('profile', 'set', 'other', '--base-url', url);
    await shop.run('config', 'set', 'output', 'id');
    const body = orderBody(shop.service.product('test-success'));
    writeFileSync(
      join(shop.workspace.folder, 'order.json'),
      JSON.stringify({
        ...body,
        max_price: 5000,
        shipping_address: { ...body.shipping_address, city: 'Austin' },
      }),
    );
    expect((await shop.order()).code).toBe(0);
    expect((await shop.order(...more)).code).toBe(5);
    expect(await shop.orders()).toHaveLength(1);
  });

  test.each(['ERRAND_STATE_DIR', 'ERRAND_CONFIG_DIR'])(
    'cannot be hidden by a relative %s: it is refused, with the path to write instead',
    async (variable) => {
      const shop = await shopping();
      mkdirSync(join(shop.workspace.folder, 'sub'));
      const run = (line: string) => shell(shop.workspace, `cd sub && ${variable}=st errand ${line}`);
      for (const line of [
        'order create --file ../order.json',
        'doctor',
        'order journal list',
        'config set output id',
      ]) {
        const refused = await run(line);
        expect(refused.code, line).toBe(2);
        expect(refused.stderr).toContain(`${variable} must be an absolute path: "st" is another folder`);
        expect(refused.stderr).toContain(`Write ${join(realpathSync(shop.workspace.folder), 'sub', 'st')} `);
      }
      const completed = await run("__complete -- 'order' 'create' '--ship-to' ''");
      expect([completed.code, completed.stderr]).toEqual([0, '']);
      expect(readdirSync(join(shop.workspace.folder, 'sub'))).toEqual([]);
      expect(await shop.orders()).toEqual([]);
    },
  );

  test('later than the window is another order; with a window of none at once', async () => {
    const shop = await shopping();
    expect((await shop.order()).code).toBe(0);
    // Ages are measured by the service's clock, even if this machine's clock is far ahead.
    shop.later(48 * hour);
    expect((await shop.order()).code).toBe(5);
    shop.later(11 * 60_000);
    shop.service.pass(11 * 60_000);
    expect((await shop.order()).code).toBe(0);
    await shop.run('config', 'set', 'duplicate-window', '0');
    expect((await shop.order()).code).toBe(0);
    expect(await shop.orders()).toHaveLength(3);
  });

  test('in a wider window is refused for longer', async () => {
    const shop = await shopping();
    await shop.run('config', 'set', 'duplicate-window', '2h');
    expect((await shop.order()).code).toBe(0);
    shop.later(hour);
    expect((await shop.order()).code).toBe(5);
  });

  test('while the clock was set back is refused: a record of the future counts as recent', async () => {
    const shop = await shopping();
    shop.later(72 * hour);
    expect((await shop.order()).code).toBe(0);
    shop.later(0);
    expect((await shop.order()).code).toBe(5);
    expect(await shop.orders()).toHaveLength(1);
  });
});

describe('an order in doubt', () => {
  test('for two days is not sent again where an order looks like it: that is named', async () => {
    const shop = await shopping();
    lose(shop, 'reset-after');
    expect((await shop.order()).code).toBe(10);
    const [order] = await shop.orders();
    shop.later(48 * hour);
    const again = await shop.order('-o', 'json');
    expect(again.code).toBe(5);
    const { message, outcome, details, idempotency_key: key, next } = errorOf(again);
    expect(outcome).toBe('unknown');
    expect(message).toContain(`The order ${order?.id} looks like it.`);
    expect(details.orders_alike).toMatchObject([{ id: order?.id, status: expect.any(String) }]);
    expect(next.map(({ command }: { command: string }) => command)).toEqual([
      `errand order get ${order?.id}`,
      `errand order journal forget ${key}`,
    ]);
    expect((await shop.run('order', 'journal', 'resume', key)).code).toBe(5);
    expect((await shop.run('order', 'journal', 'resume', '--all')).code).toBe(5);
    expect(await shop.orders()).toHaveLength(1);
    const resent = await shop.run('order', 'journal', 'resume', key, '--resend', '-o', 'json');
    expect(resent.code).toBe(5);
    expect(errorOf(resent).details.orders_alike).toMatchObject([{ id: order?.id }]);
    expect(resent.stderr).not.toContain('--resend');
    expect((await shop.run('order', 'journal', 'forget', key)).code).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('for two days under a key of one’s own is not sent again either', async () => {
    const shop = await shopping();
    lose(shop, 'reset-before');
    const key = ['--idempotency-key', 'friday'];
    expect((await shop.order(...key)).code).toBe(10);
    shop.later(48 * hour);
    const again = await shop.order(...key, '-o', 'json');
    expect([again.code, errorOf(again).outcome]).toEqual([5, 'unknown']);
    expect(await shop.orders()).toEqual([]);
    expect((await shop.run('order', 'journal', 'forget', 'friday')).code).toBe(0);
    expect((await shop.order(...key)).code).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('for two days that never came to be an order says that none looks like it', async () => {
    const shop = await shopping();
    lose(shop, 'reset-before');
    expect((await shop.order()).code).toBe(10);
    expect((await shop.order('--max-price-cents', '100', '--new')).code).toBe(0);
    shop.later(48 * hour);
    const again = await shop.order('-o', 'json');
    expect(errorOf(again)).toMatchObject({ code: 'duplicate_in_doubt', outcome: 'unknown' });
    const key = errorOf(again).idempotency_key;
    const resumed = await shop.run('order', 'journal', 'resume', key);
    expect(resumed.stderr).toContain('No order of that time looks like it.');
    expect((await shop.order('--new')).code).toBe(0);
    expect((await shop.run('order', 'journal', 'forget', key)).code).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('for two days that never came to be an order is sent again by its own command', async () => {
    const shop = await shopping();
    lose(shop, 'reset-before');
    expect((await shop.order()).code).toBe(10);
    shop.later(48 * hour);
    expect((await shop.run('order', 'journal', 'resume', '--all')).code).toBe(5);
    const again = await shop.order('-o', 'json');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).not.toContain('existed already');
    expect(await shop.orders()).toHaveLength(1);
  });

  test('is not sent again by a command that finds another live: one of the two may be enough', async () => {
    const shop = await shopping();
    expect((await shop.order()).code).toBe(0);
    lose(shop, 'reset-before');
    expect((await shop.order('--new')).code).toBe(10);
    expect((await shop.order()).code).toBe(5);
    expect(await shop.orders()).toHaveLength(1);
    expect((await shop.run('order', 'journal', 'resume', '--all')).code).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
  });

  test.each([...Object.keys(normaliseVariants), Object.keys(normaliseVariants).join(',')])(
    'is settled by the same command where the service spells it its own way: %s',
    async (spelling) => {
      const shop = await shopping(`normalise:${spelling}`);
      lose(shop, 'reset-after');
      expect((await shop.order()).code).toBe(10);
      const again = await shop.order('-o', 'id');
      const [order] = await shop.orders();
      expect([again.code, again.stdout], again.stderr).toEqual([0, `${order?.id}\n`]);
      expect(await shop.orders()).toHaveLength(1);
    },
  );

  test('by a response that describes another order is settled by resuming', async () => {
    const shop = await shopping('another-order@POST /orders');
    const first = await shop.order('-o', 'json');
    expect(first.code).toBe(10);
    expect(errorOf(first).message).toContain('the response describes another order');
    const [order] = await shop.orders();
    const resumed = await shop.run('order', 'journal', 'resume', '--all', '-o', 'id');
    expect([resumed.code, resumed.stdout], resumed.stderr).toEqual([0, `${order?.id}\n`]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('by a response with the id of an earlier order of the same content is settled by resuming', async () => {
    const shop = await shopping('another-order@POST /orders');
    const responses: (number | null)[] = [];
    for (const more of [[], ['--new']]) {
      responses.push((await shop.order(...more)).code);
      responses.push((await shop.run('order', 'journal', 'resume', '--all')).code);
    }
    expect(responses).toEqual([10, 0, 10, 0]);
    const fields = ['--all', '-o', 'csv', '--fields', 'state,order_id'];
    const { stdout } = await shop.run('order', 'journal', 'list', ...fields);
    const ids = (await shop.orders()).map(({ id }) => `reported,${id}`);
    expect(stdout.trim().split('\n').toSorted()).toEqual([...ids, 'state,order_id'].toSorted());
    expect(ids).toHaveLength(2);
  });

  test.each([
    'redirect:303-after',
    'redirect:307',
    'bare:403',
    'bare:403-after',
    'bare:408-after',
    'html:504-after',
  ])('by %s stays in doubt while that goes on, and is never two orders', async (fault) => {
    const shop = await shopping(`${fault}@POST /orders`);
    expect((await shop.order()).code).toBe(10);
    expect((await shop.order()).code).toBe(10);
    expect(await shop.orders()).toHaveLength(fault.endsWith('-after') ? 1 : 0);
  });

  test.each(['null', 'empty', 'true', 'number', 'list', 'object', 'missing'])(
    'by a 201 whose id is %s is settled by resuming',
    async (odd) => {
      const shop = await shopping(`id:${odd}@POST /orders`);
      expect((await shop.order()).code).toBe(10);
      const [order] = await shop.orders();
      const resumed = await shop.run('order', 'journal', 'resume', '--all', '-o', 'id');
      expect([resumed.code, resumed.stdout]).toEqual([0, `${order?.id}\n`]);
    },
  );
});

describe('a key of one’s own', () => {
  test('that has led to another order is refused without a request, with the differences', async () => {
    const shop = await shopping();
    expect((await shop.order('--idempotency-key', 'monday')).code).toBe(0);
    const other = await shop.order(
      '--idempotency-key',
      'monday',
      '--address-line1',
      '2 Main St',
      '-o',
      'json',
    );
    expect(other.code).toBe(5);
    expect(errorOf(other).details.differences).toMatchObject([{ field: 'shipping_address.address_line1' }]);
    const more = await shop.order('--idempotency-key', 'monday', '--metadata', 'week=9', '-o', 'json');
    expect(errorOf(more).details.differences).toEqual([
      { field: 'metadata', requested: { week: '9' }, existing: null },
    ]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('of another machine is compared with the order that has it', async () => {
    const shop = await shopping('normalise');
    const key = ['--idempotency-key', 'monday'];
    const { id } = JSON.parse((await shop.order(...key, '-o', 'json')).stdout);
    shop.workspace.environment.ERRAND_STATE_DIR = join(shop.workspace.folder, 'another-machine');
    const same = await shop.order(...key, '-o', 'id');
    expect([same.code, same.stdout], same.stderr).toEqual([0, `${id}\n`]);
    shop.workspace.environment.ERRAND_STATE_DIR = join(shop.workspace.folder, 'a-third');
    const other = await shop.order(...key, '--address-line1', '2 Other Road', '-o', 'json');
    expect(other.code).toBe(5);
    expect(errorOf(other).details.differences).toMatchObject([{ field: 'shipping_address.address_line1' }]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('that was forgotten does not adopt what it made for other content', async () => {
    const shop = await shopping();
    lose(shop, 'reset-after');
    expect((await shop.order('--idempotency-key', 'monday')).code).toBe(10);
    expect((await shop.run('order', 'journal', 'forget', 'monday')).code).toBe(0);
    const other = await shop.order('--idempotency-key', 'monday', '--max-price-cents', '100');
    expect(other.code).toBe(5);
  });
});
