import { expect, test } from 'vitest';
import { begin, errand } from '../../support/run.ts';
import { lose, shopping } from '../../support/shopping.ts';

const hour = 3_600_000;

test('a return in doubt: how to request another is said in words that this command knows', async () => {
  const shop = await shopping();
  const { id } = JSON.parse((await shop.order('-o', 'json')).stdout);
  shop.service.pass(hour);
  const create = ['return', 'create', '--order', id, '--reason', 'damaged', '--retries', '0'];
  lose(shop, 'silence-after');
  const child = begin(shop.workspace, 'errand', create);
  const ended = new Promise((resolve) => child.once('close', resolve));
  await expect
    .poll(async () => (await shop.service.send('GET', '/returns')).body.return_requests)
    .toHaveLength(1);
  child.kill('SIGKILL');
  await ended;
  const again = await shop.run(...create);
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toContain('`errand return create --new` requests another');
  const another = await shop.run(...create, '--new');
  expect(another.code, another.stderr).toBe(0);
});

test('an order by hand in doubt for a day: another one is an `order create --new`', async () => {
  const shop = await shopping();
  lose(shop, 'reset-after');
  const post = ['api', 'POST', '/orders', '--input', '-', '--retries', '0'];
  const keyed = JSON.stringify({
    ...JSON.parse((await shop.order('--dry-run', '-o', 'json')).stdout).body,
    idempotency_key: 'by-hand',
  });
  const send = () => errand(shop.workspace, post, { stdin: keyed });
  expect((await send()).code).toBe(10);
  shop.later(25 * hour);
  const refused = await send();
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain('`errand order create --new` orders another');
});

test('what is in doubt elsewhere is settled by the command that the reminder prints', async () => {
  const shop = await shopping();
  lose(shop, 'reset-after');
  expect((await shop.order()).code).toBe(10);
  const list = await shop.run('order', 'list', '--base-url', shop.service.baseUrl);
  const [, command = ''] = /one order is in doubt; errand (.*) settles that/.exec(list.stderr) ?? [];
  expect(command).toContain(`--base-url ${shop.workspace.environment.ERRAND_BASE_URL}`);
  Object.assign(shop.workspace.environment, { ERRAND_BASE_URL: shop.service.baseUrl });
  const settled = await shop.run(...command.split(' '), '-o', 'id');
  expect(settled.code, settled.stderr).toBe(0);
  expect((await shop.orders()).map(({ id }) => `${id}\n`)).toEqual([settled.stdout]);
});
