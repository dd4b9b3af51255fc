import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Agent } from '../../integrations/mcp/agent.ts';
import { through } from '../../support/gateway.ts';
import { address, orderBody } from '../../support/order-body.ts';
import { begin } from '../../support/run.ts';
import { errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';

const minute = 60_000;

const records = async (shop: Shopping) =>
  JSON.parse((await shop.run('order', 'journal', 'list', '--all', '-o', 'json')).stdout);

/** Creates an order with this outcome. @returns its id. */
async function ended(
  shop: Shopping,
  how: 'cancelled' | 'failed',
  ...line: readonly string[]
): Promise<string> {
  if (how === 'failed')
    writeFileSync(
      join(shop.workspace.folder, 'order.json'),
      JSON.stringify(orderBody(shop.service.product('test-out-of-stock'))),
    );
  const words = line.length > 0 ? line : ['order', 'create', '--file', 'order.json'];
  const { stdout, stderr, code } = await shop.run(...words, '-o', 'id');
  expect(code, stderr).toBe(0);
  const id = stdout.trim();
  if (how === 'failed') shop.service.pass(minute);
  else expect((await shop.service.send('POST', `/orders/${id}/cancel`)).status).toBe(204);
  return id;
}

const states = { cancelled: 'was cancelled', failed: 'failed: out of stock' } as const;

describe('the same order again, of which the first has ended', () => {
  test.each(['cancelled', 'failed'] as const)(
    '%s: it is ordered, and says what became of the first',
    async (how) => {
      const shop = await shopping();
      const id = await ended(shop, how);
      const again = await shop.order('-o', 'id');
      expect(again.code, again.stderr).toBe(0);
      expect(again.stdout.trim()).not.toBe(id);
      expect(again.stderr).toMatch(new RegExp(`attempt 2; the first \\(${id}, .+\\) ${states[how]}`));
      expect(again.stderr).not.toContain('was placed');
      expect(await shop.orders()).toHaveLength(2);
      // The second order is live, so a third run is a repeat of it.
      const third = await shop.order('-o', 'json');
      expect(third.code).toBe(5);
      expect(errorOf(third).details).toMatchObject({
        order_id: again.stdout.trim(),
        status: expect.any(String),
      });
      expect(await shop.orders()).toHaveLength(2);
    },
  );

  test('six processes at once make one order in its place', async () => {
    const shop = await shopping();
    await ended(shop, 'cancelled');
    const runs = await Promise.all(Array.from({ length: 6 }, () => shop.order()));
    expect(runs.map(({ code }) => code).toSorted()).toEqual([0, 5, 5, 5, 5, 5]);
    for (const { code, stderr } of runs) expect(stderr.includes('attempt 2; '), stderr).toBe(code === 0);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('under a policy the same holds', async () => {
    const shop = await shopping();
    const folder = join(shop.workspace.folder, '.config');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'policy.yaml'), 'version: 1\nlimits: { per_day: $500 }\n', { mode: 0o600 });
    const id = await ended(shop, 'cancelled');
    const again = await shop.order();
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr.split(`attempt 2; the first (${id}, `)).toHaveLength(2);
    expect((await shop.order()).code).toBe(5);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('a response that gets lost leaves the new one in doubt, which the same command settles', async () => {
    const shop = await shopping();
    await ended(shop, 'cancelled');
    lose(shop, 'reset-after');
    expect((await shop.order()).code).toBe(10);
    const settled = await shop.order('-o', 'id');
    expect(settled.code, settled.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
    expect((await shop.order()).code).toBe(5);
  });

  test.each(['', 'limits: { per_day: $500 }'])(
    'an interrupted command made it and never said so: that is said now (policy "%s")',
    async (rules) => {
      const shop = await shopping();
      const folder = join(shop.workspace.folder, '.config');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (rules !== '') writeFileSync(join(folder, 'policy.yaml'), `version: 1\n${rules}\n`, { mode: 0o600 });
      const id = await killedUnreported(shop);
      expect((await shop.service.send('POST', `/orders/${id}/cancel`)).status).toBe(204);
      const again = await shop.order('-o', 'id');
      expect(again.code, again.stderr).toBe(0);
      expect(again.stdout.trim()).not.toBe(id);
      expect(again.stderr.split(`attempt 2; the first (${id}, `)).toHaveLength(2);
      expect((await shop.run('order', 'journal', 'list', '-o', 'id')).stdout).toBe('');
      expect(await shop.orders()).toHaveLength(2);
    },
  );

  test('paid by challenge, it is paid for again', async () => {
    const shop = await shopping();
    const line = ['agent', 'order', 'create', '--file', 'order.json'];
    const id = await ended(shop, 'failed', ...line);
    const again = await shop.run(...line, '-o', 'id');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout.trim()).not.toBe(id);
    expect(again.stderr.split(`attempt 2; the first (${id}, `)).toHaveLength(2);
    expect((await shop.run(...line)).code).toBe(5);
    expect(await records(shop)).toHaveLength(2);
  });

  test('by hand with `errand api` the same holds', async () => {
    const shop = await shopping();
    const id = await ended(shop, 'cancelled', 'api', 'POST', '/orders', '--input', 'order.json');
    const again = await shop.run('api', 'POST', '/orders', '--input', 'order.json', '-o', 'id');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain(`attempt 2; the first (${id}, `);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('a retry by v1 is sent again, and what the service makes of it is not called new', async () => {
    const shop = await shopping();
    const failed = await ended(shop, 'failed');
    const retried = await shop.run('legacy', 'retry', failed, '-o', 'json');
    const [{ request_id: id }] = JSON.parse(retried.stdout);
    const repeated = await shop.run('legacy', 'retry', failed);
    expect([repeated.code, repeated.stderr]).toEqual([5, expect.stringContaining(`${id} (waiting)`)]);
    shop.service.pass(minute);
    const again = await shop.run('legacy', 'retry', failed, '-o', 'json');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).not.toContain('attempt 2');
    expect(again.stderr).toContain(`the service made no new request: ${id} is the one of an earlier retry`);
  });

  test('a request that is shown has no key of it', async () => {
    const shop = await shopping();
    const id = await ended(shop, 'cancelled');
    const shown = await shop.order('--dry-run');
    expect(shown.stderr).toContain(`has ended (cancelled): ${id}`);
    expect(JSON.parse(shown.stdout).body.idempotency_key).toBeUndefined();
  });

  test('an agent is told so by its quote, and places it', async () => {
    const shop = await shopping();
    const agent = await Agent.start(shop.workspace);
    const given = {
      products: [{ url: shop.service.product('test-success') }],
      ...{ shipping_address: address, max_price: 5000 },
    };
    const placed = await agent.get('order_place', { quote: (await agent.get('order_quote', given)).quote });
    const { id } = placed.order;
    const standing = await agent.get('order_quote', given);
    expect(standing.warnings).toContainEqual(expect.stringContaining(`ordered already: ${id}`));
    expect(await agent.refused('order_place', { quote: standing.quote })).toMatchObject({
      category: 'conflict',
    });
    expect((await shop.service.send('POST', `/orders/${id}/cancel`)).status).toBe(204);
    const { quote } = await agent.get('order_quote', { ...given, again: true });
    expect((await agent.get('order_place', { quote })).order.id).not.toBe(id);
    expect(await shop.orders()).toHaveLength(2);
  });
});

describe('the same order again, of which the first stands', () => {
  test('is refused with what has become of it', async () => {
    const shop = await shopping();
    expect((await shop.run('config', 'set', 'duplicate-window', '12h')).code).toBe(0);
    const { id } = JSON.parse((await shop.order('-o', 'json')).stdout);
    expect((await shop.order()).stderr).toContain(`: ${id} (waiting); no second one was placed`);
    shop.service.pass(6 * 60 * minute);
    const late = await shop.order('-o', 'json');
    expect(late.code).toBe(5);
    expect(errorOf(late)).toMatchObject({
      message: expect.stringContaining(`: ${id} (delivered); no second one was placed`),
      details: { order_id: id, status: 'order_placed' },
    });
    expect(await shop.orders()).toHaveLength(1);
  });
});

describe('the same order again, of which nobody can say what became of it', () => {
  test('is refused, with the earlier order and its outcome', async () => {
    const response = { status: 503, body: {} };
    const shop = await shopping();
    const gateway = await through(shop);
    const id = await ended(shop, 'cancelled');
    const [{ key }] = await records(shop);
    gateway.inPlace = (method, path) =>
      method === 'GET' && path.startsWith('/orders/') ? response : undefined;
    const refused = await shop.order('-o', 'json');
    expect([refused.code, refused.stdout], refused.stderr).toEqual([9, '']);
    const error = errorOf(refused);
    expect(error).toMatchObject({
      category: 'unavailable',
      outcome: 'applied',
      idempotency_key: key,
      details: { order_id: id },
    });
    expect(error.message).toMatch(
      new RegExp(`the same order was sent .+: ${id}; what became of it cannot be read`),
    );
    expect(error.message).not.toContain('was placed');
    const shown = await shop.order('--dry-run');
    expect(shown.stderr).toContain('what became of it cannot be read');
    expect(JSON.parse(shown.stdout).body.idempotency_key).toBe(key);
    expect(await shop.orders()).toHaveLength(1);
    delete gateway.inPlace;
    expect((await shop.order()).code).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('is refused where the service describes another order, that was cancelled', async () => {
    const shop = await shopping();
    const gateway = await through(shop);
    expect((await shop.order()).code).toBe(0);
    gateway.alter = (path, order) =>
      path.startsWith('/orders/') ? { ...order, status: 'cancelled', max_price: 1 } : order;
    expect((await shop.order()).code).toBe(9);
    gateway.alter = (path, order) =>
      path.startsWith('/orders/')
        ? { ...order, status: 'cancelled', id: '00000000-0000-4000-8000-000000000001' }
        : order;
    expect((await shop.order()).code).toBe(9);
    expect(await shop.orders()).toHaveLength(1);
  });
});

/** Places an order and is killed after the response, before the result is reported. */
async function killedUnreported(shop: Shopping): Promise<string> {
  const args = ['order', 'create', '--file', 'order.json', '--watch', '--until', 'delivered'];
  const child = begin(shop.workspace, 'errand', [...args, '-o', 'json']);
  const ended = new Promise((resolve) => child.once('close', resolve));
  let id: string | null | undefined;
  await expect
    .poll(
      async () => {
        id = (await records(shop))[0]?.order_id;
        return typeof id;
      },
      { timeout: minute },
    )
    .toBe('string');
  child.kill('SIGKILL');
  await ended;
  return String(id);
}
