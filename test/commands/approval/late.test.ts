import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ApprovalWorkspace, errorOf, makeKey, requestIdIn } from '../../support/approval-workspace.ts';
import { forge } from '../../support/forge.ts';
import { type Gateway, through } from '../../support/gateway.ts';
import { TestService } from '../../support/service.ts';
import { clockLater } from '../../support/shopping.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const dayMs = 24 * 3600 * 1000;

/** A service that forgets idempotency keys, and two machines that share only an approver. */
interface Two {
  readonly one: ApprovalWorkspace;
  readonly other: ApprovalWorkspace;
  readonly ada: string;
  /** Advances all clocks by days; the service forgets its earlier keys. */
  pass(days: number): void;
}

async function two(): Promise<Two> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-service-'));
  const file = join(folder, 'service.db');
  const service = await TestService.start({ file, now: Date.now() });
  onTestFinished(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const machine = (): ApprovalWorkspace => {
    const workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
    onTestFinished(workspace.remove);
    return new ApprovalWorkspace(workspace, service);
  };
  const [one, other] = [machine(), machine()];
  const ada = makeKey(one.workspace, 'ada');
  writeFileSync(join(other.workspace.folder, 'ada.pub'), one.text('ada.pub'));
  for (const at of [one, other]) at.policy('approve: { above: $20, expires: 7d }', ['ada']);
  let passed = 0;
  return {
    ...{ one, other, ada },
    pass(days) {
      passed += days * dayMs;
      service.pass(days * dayMs);
      for (const { workspace } of [one, other]) clockLater(workspace, passed);
      const store = new DatabaseSync(file);
      store.exec("UPDATE orders SET idempotency_key = 'forgotten ' || id");
      store.close();
    },
  };
}

/** Exports an approval on one machine and copies it to the other. */
async function carry({ one, other }: Two, id: string): Promise<string[]> {
  const exported = await one.run(['approval', 'export', id]);
  expect(exported.code, exported.stderr).toBe(0);
  writeFileSync(join(other.workspace.folder, 'approval.json'), exported.stdout);
  return ['--approval', 'approval.json'];
}

const rowsOf = ({ orders }: Record<string, unknown>): Record<string, unknown>[] =>
  Array.isArray(orders) ? orders : [];

const respelt =
  (spell: (item: object) => object): NonNullable<Gateway['alter']> =>
  (_, body) => ({
    ...body,
    orders: rowsOf(body).map((row) => ({
      ...row,
      items: [row.items].flat().map((item) => spell(Object(item))),
    })),
  });

const keyOf = ({ idempotency_key: key }: { readonly idempotency_key: string }): string => key;

describe('one approval, used on one machine today and on another one in three days', () => {
  test.each([
    ['the key of the approval', {}],
    ['a key of the asker', { idempotency_key: 'asked-with' }],
  ])('makes one order, with %s: the other looks, and does not send', async (_, more) => {
    const machines = await two();
    const { one, other, ada, pass } = machines;
    const flag = await carry(machines, await one.approved(ada, 5000, more));
    const first = await one.create(5000, more);
    expect(first.code, first.stderr).toBe(0);
    const { id } = JSON.parse(first.stdout);
    pass(3);
    const late = await other.run([...other.order(5000, more), ...flag]);
    expect(await one.ordersMade()).toBe(1);
    expect([late.code, errorOf(late).message]).toEqual([
      5,
      expect.stringContaining(
        `longer than a service keeps a key; nothing was ordered. The order ${id} looks`,
      ),
    ]);
    const key = keyOf(errorOf(late));
    for (const again of [
      [...other.order(5000, more), ...flag],
      ['order', 'journal', 'resume', '--all', '-o', 'json'],
      ['order', 'journal', 'resume', key, '-o', 'json'],
    ])
      expect((await other.run(again)).code).not.toBe(0);
    expect(await one.ordersMade()).toBe(1);
    expect((await other.run(['order', 'journal', 'forget', key])).code).toBe(0);
    expect((await other.run([...other.order(5000, more), ...flag])).code).not.toBe(0);
    expect(await one.ordersMade()).toBe(1);
  });

  test('makes one order though the machine that used it has swept its record away', async () => {
    const machines = await two();
    const { one, ada, pass } = machines;
    const exported = await one.run(['approval', 'export', await one.approved(ada, 5000)]);
    writeFileSync(join(one.workspace.folder, 'approval.json'), exported.stdout);
    const args = one.order(5000).filter((word) => word !== '--new');
    expect((await one.run([...args, '--approval', 'approval.json'])).code).toBe(0);
    pass(3);
    await forge(one.workspace, (it) => it.sweep());
    const late = await one.run([...args, '--approval', 'approval.json']);
    expect(await one.ordersMade()).toBe(1);
    expect(late.code, late.stderr).toBe(5);
  });

  test('is sent in three days where the service has no such order', async () => {
    const machines = await two();
    const { one, other, ada, pass } = machines;
    const flag = await carry(machines, await one.approved(ada, 5000));
    pass(3);
    const late = await other.run([...other.order(5000), ...flag]);
    expect(late.code, late.stderr).toBe(0);
    expect(await one.ordersMade()).toBe(1);
    expect((await one.create(5000)).code).not.toBe(11);
    expect(await one.ordersMade()).toBe(1);
  });

  test.each<[string, NonNullable<Gateway['alter']>]>([
    ['the URL of its product', respelt((item) => ({ ...item, url: 'https://m.shop.example/goods?id=7' }))],
    [
      'its recipient',
      (_, body) => ({
        ...body,
        orders: rowsOf(body).map((row) => ({ ...row, shipping_address: { first_name: 'A' } })),
      }),
    ],
    ['no list that can be read', () => ({ orders: 'none' })],
  ])('makes one order where the service spells %s its own way', async (_, alter) => {
    const machines = await two();
    const { one, other, ada, pass } = machines;
    const gateway = await through(one);
    Object.assign(other.workspace.environment, {
      ERRAND_BASE_URL: one.workspace.environment.ERRAND_BASE_URL,
    });
    const flag = await carry(machines, await one.approved(ada, 5000));
    const first = await one.create(4000);
    expect(first.code, first.stderr).toBe(0);
    pass(3);
    gateway.alter = (path, body) => (path.startsWith('/orders?') ? alter(path, body) : body);
    const late = await other.run([...other.order(5000), ...flag]);
    expect(await one.ordersMade()).toBe(1);
    expect(late.code, late.stderr).toBe(5);
    expect(errorOf(late).message).toContain('longer than a service keeps a key');
    if (!Array.isArray(alter('', { orders: [] }).orders)) return;
    expect(errorOf(late).details.orders_alike).toMatchObject([{ id: JSON.parse(first.stdout).id }]);
  });

  test('makes one order though the first was for less than was approved', async () => {
    const machines = await two();
    const { one, other, ada, pass } = machines;
    const flag = await carry(machines, await one.approved(ada, 5000));
    expect((await one.create(4000)).code).toBe(0);
    pass(3);
    const late = await other.run([...other.order(5000), ...flag]);
    expect(await one.ordersMade()).toBe(1);
    expect(late.code, late.stderr).toBe(5);
    const { command } = errorOf(late).next.at(-1);
    expect(command).toBe(`errand order journal resume ${keyOf(errorOf(late))} --resend`);
    // The order of the first machine is there, so that nothing is sent.
    expect((await other.run(command.split(' ').slice(1))).code).toBe(5);
    expect(await one.ordersMade()).toBe(1);
  });

  test('is used within a day as ever', async () => {
    const machines = await two();
    const { one, other, ada } = machines;
    const flag = await carry(machines, await one.approved(ada, 5000));
    expect((await one.create(5000)).code).toBe(0);
    expect((await other.run([...other.order(5000), ...flag])).code).toBe(0);
    expect(await one.ordersMade()).toBe(1);
  });

  test('of a file lives no longer than the keys of its rows', async () => {
    const machines = await two();
    const { one, other, ada, pass } = machines;
    const row = `${one.service.product('test-success')},A B,1 Main St,Austin,TX,78701,5125550100,5000`;
    for (const { workspace } of [one, other])
      writeFileSync(
        join(workspace.folder, 'orders.csv'),
        `url,name,address,city,state,zip,phone,max_price_cents\n${row}\n`,
      );
    const upload = ['bulk', 'upload', 'orders.csv', '-o', 'json'];
    const id = requestIdIn(await one.run(upload));
    expect((await one.run(['approval', 'approve', id, '--key', ada])).code).toBe(0);
    const flag = await carry(machines, id);
    const first = await one.run(upload);
    expect(first.code, first.stderr).toBe(0);
    pass(3);
    const late = await other.run([...upload, ...flag]);
    const batches = (await one.run(['bulk', 'list', '-o', 'id'])).stdout.trim().split('\n');
    expect(batches).toHaveLength(1);
    expect(late.code, late.stderr).toBe(11);
    expect(late.stderr).toContain('expired at');
  });
});
