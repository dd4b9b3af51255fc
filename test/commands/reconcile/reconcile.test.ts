import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { FaultProxy } from '../../faults/proxy.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand, type Finished, shell } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

let service: TestService;
let losses: FaultProxy;
let workspace: Workspace;

beforeEach(async () => {
  workspace = makeWorkspace({ ERRAND_NO_INPUT: '1' });
  service = await TestService.start({ now: Date.now(), file: join(workspace.folder, 'service.db') });
  losses = new FaultProxy(service.baseUrl);
  Object.assign(workspace.environment, {
    ERRAND_BASE_URL: await losses.start(),
    ERRAND_API_KEY: service.key,
  });
  prefer(workspace, { 'duplicate-window': '0' });
});
afterEach(async () => {
  await losses.stop();
  await service.stop();
  workspace.remove();
});

const run = (...args: readonly string[]): Promise<Finished> => errand(workspace, args);

async function made(slug: string, more: object = {}, ...args: readonly string[]): Promise<string> {
  const file = join(workspace.folder, 'order.json');
  writeFileSync(file, JSON.stringify({ ...orderBody(service.product(slug)), ...more }));
  const noun = args.includes('agent') ? ['agent', 'order'] : ['order'];
  const flags = args.filter((arg) => arg !== 'agent');
  const { stdout, stderr } = await run(...noun, 'create', '--file', file, '-o', 'id', ...flags);
  expect(stdout, stderr).toMatch(/^[0-9a-f-]{36}\n$/);
  return stdout.trim();
}

async function reconciled(...args: readonly string[]) {
  const { code, stdout, stderr } = await run('reconcile', '-o', 'json', ...args);
  expect(stdout, stderr).not.toBe('');
  return { code, ...JSON.parse(stdout) };
}

const findings = ({ findings: found }: { findings: { finding: string }[] }) =>
  found.map(({ finding }) => finding);

/** Falsifies the service's records. */
function lie(sql: string, ...values: string[]): void {
  const database = new (loadSqlite())(join(workspace.folder, 'service.db'));
  database.exec('PRAGMA foreign_keys = OFF');
  database.prepare(sql).run(...values);
  database.close();
}

function upload(slugs: readonly string[]): Promise<Finished> {
  const { first_name, last_name, ...address } = orderBody('').shipping_address;
  const cells = { ...address, name: `${first_name} ${last_name}`, max_price_cents: '5000' };
  const header = ['product_url', 'po_number', ...Object.keys(cells)].join(',');
  const rows = slugs.map((slug, index) =>
    [service.product(slug), `row ${index}`, ...Object.values(cells)].join(','),
  );
  writeFileSync(join(workspace.folder, 'orders.csv'), `${[header, ...rows].join('\n')}\n`);
  return run('bulk', 'upload', 'orders.csv', '-o', 'id');
}

describe('reconcile', () => {
  test('agrees to the cent with a service that keeps its word, whatever became of the orders', async () => {
    const opening = (await service.send('GET', '/wallet/me')).body.balance;
    expect(await reconciled()).toMatchObject({ code: 0, agrees: true, orders: 0, sums: [] });
    await made('test-success', { po_number: '1' });
    await made('test-out-of-stock', { po_number: '2' });
    await made('test-cancelled-by-retailer', { po_number: '3' });
    await made('test-success', { po_number: '4', payment: { mode: 'card' } });
    const agent = await made('test-success', { po_number: '5' }, 'agent');
    expect((await upload(['test-success', 'test-out-of-stock', 'test-two-packages'])).code).toBe(0);
    const returned = await made('test-success', { po_number: '6' });
    service.pass(60_000);
    await run('return', 'create', '--order', returned, '--reason', 'damaged');
    service.pass(60_000);
    await made('test-never', { po_number: '7' });
    const compared = await reconciled('--exclusive');
    expect(compared).toMatchObject({ code: 0, agrees: true, findings: [], orders: 10, incomplete: 0 });
    const { balance, spendable_balance: spendable } = (await service.send('GET', '/wallet/me')).body;
    const wallet = compared.sums.find(({ payer }: { payer: string }) => payer === 'wallet');
    expect(wallet.net).toBe(opening - balance);
    expect(compared.wallet).toEqual({
      ...{ balance, spendable, set_aside: balance - spendable },
      ...{ held_by_rule: wallet.held, difference: 0 },
      ...{ compared_with: expect.any(String), expected: balance, unexplained: 0 },
    });
    const ended = JSON.parse((await run('audit', 'log', '--kind', 'settled', '-o', 'json')).stdout);
    expect(ended).toHaveLength(9);
    expect(ended).toContainEqual(expect.objectContaining({ order_id: agent, amount_cents: 1_999 }));
    expect(await reconciled('--exclusive')).toMatchObject({ code: 0 });
    expect(JSON.parse((await run('audit', 'log', '--kind', 'settled', '-o', 'json')).stdout)).toEqual(ended);
  });

  test('what orders do not explain of the balance is told, and is a finding where nobody else uses the account', async () => {
    const { balance: opening } = (await service.send('GET', '/wallet/me')).body;
    expect((await reconciled('--exclusive')).wallet).toMatchObject({ balance: opening, compared_with: null });
    await run('sandbox', 'trigger', 'wallet-funded', '--amount', '$77');
    await made('test-success', { po_number: '1' });
    service.pass(60_000);
    await made('test-never', { po_number: '2' });
    const funded = await reconciled();
    const expected = opening - 2_099;
    expect(funded).toMatchObject({ code: 0, findings: [] });
    expect(funded.wallet).toMatchObject({ balance: expected + 7_700, expected, unexplained: 7_700 });
    expect(funded.notes).toEqual([
      expect.stringMatching(/^the wallet holds \$77\.00 more than its orders explain since /),
    ]);
    // Reported once: the next comparison starts from the current balance.
    expect(await reconciled('--exclusive')).toMatchObject({ code: 0, wallet: { unexplained: 0 }, notes: [] });
    lie('UPDATE wallets SET balance = balance - 2000');
    const short = await reconciled('--exclusive', '--since', '2100-01-01');
    expect(short).toMatchObject({ code: 7, findings: [{ finding: 'balance', cents: -2_000 }], notes: [] });
    const { stdout } = await shell(workspace, `${short.findings[0].command} -o json`);
    const told = JSON.parse(stdout).map(
      ({ detail }: { detail: { difference: number } }) => detail.difference,
    );
    expect(told).toEqual([null, 7_700, -2_000]);
    expect((await run('audit', 'verify')).code).toBe(0);
    const text = await run('reconcile');
    expect(text.stdout).toMatch(/^last compared +(?!never)\S/m);
    expect(text.code).toBe(0);
  });

  test('a placed order that fails without a refund, and a credit above the cost, are findings', async () => {
    const failed = await made('test-success', { po_number: '1' });
    const returned = await made('test-success', { po_number: '2' });
    service.pass(60_000);
    await run('return', 'create', '--order', returned, '--reason', 'damaged');
    service.pass(60_000);
    expect(await reconciled()).toMatchObject({ code: 0 });
    for (const column of ['record', 'listed']) {
      lie(
        `UPDATE orders SET ${column} = json_set(${column}, '$.status', 'order_failed') WHERE id = ?`,
        failed,
      );
      lie(
        `UPDATE orders SET ${column} = json_set(${column}, '$.returns[0].credited_amount', 9900) WHERE id = ?`,
        returned,
      );
    }
    // It remains a finding after the failure has been recorded.
    for (const _ of [1, 2]) {
      const { code, findings: found } = await reconciled();
      const named = found.map(({ finding, order_id: id, cents }: Record<string, unknown>) => [
        finding,
        id,
        cents,
      ]);
      expect(code).toBe(7);
      expect(named).toContainEqual(['undone', failed, 1_999]);
      expect(named).toContainEqual(['over_credited', returned, 7_901]);
    }
  });

  test('what is in doubt is named with the command that settles it', async () => {
    losses.faults = ['reset-after', 'reset-after'];
    const file = join(workspace.folder, 'order.json');
    writeFileSync(file, JSON.stringify(orderBody(service.product('test-success'))));
    await run('order', 'create', '--file', file, '--retries', '0', '--idempotency-key', 'k 1');
    losses.faults = [];
    const doubted = await reconciled();
    expect(doubted).toMatchObject({
      code: 7,
      agrees: false,
      findings: [{ finding: 'in_doubt', key: 'k 1' }],
    });
    expect((await shell(workspace, doubted.findings[0].command)).code).toBe(0);
    expect(await reconciled()).toMatchObject({ code: 0, findings: [], orders: 1, elsewhere: { orders: 0 } });
  });

  test('orders made elsewhere are told, and are findings only where nobody else uses the account', async () => {
    const { body } = await service.order('test-success');
    const told = await reconciled();
    expect(told).toMatchObject({ code: 0, orders: 0, elsewhere: { orders: 1 } });
    expect(told.notes).toContain('1 order of the account was not made by this machine');
    const alone = await reconciled('--exclusive');
    expect(alone).toMatchObject({ code: 7, findings: [{ finding: 'made_elsewhere', order_id: body.id }] });
  });

  test('a service that does not keep its word is caught, and the order is named', async () => {
    const dear = await made('test-success', { po_number: '1' });
    const gone = await made('test-success', { po_number: '2' });
    const other = await made('test-success', { po_number: '3' });
    const back = await made('test-success', { po_number: '4' });
    const card = await made('test-out-of-stock', { payment: { mode: 'card' } });
    service.pass(60_000);
    await run('return', 'create', '--order', back, '--reason', 'damaged');
    service.pass(60_000);
    expect(await reconciled()).toMatchObject({ code: 0 });
    const set = (path: string, value: string, id: string): void => {
      for (const column of ['record', 'listed'])
        lie(
          `UPDATE orders SET ${column} = json_set(${column}, '$.${path}', json(?)) WHERE id = ?`,
          value,
          id,
        );
    };
    set('job_result.price_components.total', '5001', dear);
    set('max_price', '9999', other);
    set('returns[0].credited_amount', '0', back);
    set('payment.state', '"captured"', card);
    set('payment.captured_cents', '2099', card);
    lie('DELETE FROM orders WHERE id = ?', gone);
    const { code, findings: found } = await reconciled();
    expect(code).toBe(7);
    const named = found.map(({ finding, order_id: id }: { finding: string; order_id: string }) => [
      finding,
      id,
    ]);
    expect(named.toSorted()).toEqual(
      [
        ['missing_order', gone],
        ['over_ceiling', dear],
        ['other_cost', dear],
        ['other_ceiling', other],
        ['credit_due', back],
        ['refund_due', card],
      ].toSorted(),
    );
    expect(found.find(({ finding }: { finding: string }) => finding === 'over_ceiling').cents).toBe(1);
    const page = await run('reconcile');
    expect(page.code).toBe(7);
    expect(page.stdout).toContain(`errand order explain ${dear}`);
  });

  test('what the duplicate window stands for is one too many, and later is only told', async () => {
    await made('test-success');
    await made('test-success', {}, '--new');
    expect(await reconciled()).toMatchObject({ code: 0, notes: [] });
    const first = await made('test-success', { po_number: 'twice' });
    const twin = await made('test-success', { po_number: 'twice' });
    const told = await reconciled();
    expect(told).toMatchObject({ code: 0, findings: [] });
    const command = `errand order cancel ${twin}`;
    expect(told.notes).toEqual([
      `${twin} asks for the same as ${first}, within a day; if one was meant: ${command}`,
    ]);
    await run('config', 'set', 'duplicate-window');
    expect(await reconciled()).toMatchObject({
      code: 7,
      findings: [{ finding: 'same_content', order_id: twin, command }],
    });
    expect((await shell(workspace, command)).code).toBe(0);
    expect(await reconciled()).toMatchObject({ code: 0, notes: [] });
  });

  test('orders that `order create` takes as different are no twins', async () => {
    await made('test-success');
    await made('test-success', { payment: { mode: 'card' } });
    await made('test-success', { payment: { mode: 'connect', margin: { type: 'percent', value: 10 } } });
    await made('test-success', { metadata: { team: 'a' } });
    await made('test-success', {}, 'agent');
    await run('config', 'set', 'duplicate-window');
    expect(await reconciled()).toMatchObject({ code: 0, findings: [], notes: [] });
  });

  test('what was ordered before the window is neither compared nor taken for made elsewhere', async () => {
    await made('test-success');
    expect((await upload(['test-success'])).code).toBe(0);
    await service.order('test-success', { po_number: 'elsewhere' });
    await setTimeout(20);
    const since = new Date().toISOString();
    service.pass(20);
    expect(await reconciled('--since', since, '--exclusive')).toMatchObject({
      ...{ code: 0, orders: 0, elsewhere: { orders: 0 }, findings: [] },
    });
    const id = await made('test-success', { po_number: 'after' });
    expect(await reconciled('--since', since, '--exclusive')).toMatchObject({ code: 0, orders: 1 });
    expect(id).not.toBe('');
  });

  test('an order that is in doubt is said once, with its key', async () => {
    losses.faults = ['reset-after', 'reset-after'];
    const file = join(workspace.folder, 'order.json');
    writeFileSync(file, JSON.stringify(orderBody(service.product('test-success'))));
    await run('order', 'create', '--file', file, '--retries', '0', '--idempotency-key', 'k1');
    losses.faults = [];
    const { body } = await service.order('test-two-packages');
    const doubted = await reconciled('--exclusive');
    expect(findings(doubted)).toEqual(['in_doubt', 'made_elsewhere']);
    expect(doubted.findings[1].order_id).toBe(body.id);
    const [{ key, order_id: id }] = doubted.findings;
    expect((await run('order', 'journal', 'resume', key, '-o', 'id')).stdout.trim()).toBe(id);
  });

  test('a record of the chain that was changed is found', async () => {
    await made('test-success', {}, '--idempotency-key', 'k1');
    const database = new (loadSqlite())(join(workspace.folder, '.state', 'journal.db'));
    database.exec("DROP TRIGGER audit_keeps; UPDATE audit SET actor = 'eve@laptop' WHERE number = 1");
    database.close();
    const changed = await reconciled();
    expect(changed).toMatchObject({ code: 7, audit: { intact: false } });
    expect(findings(changed)).toEqual(['chain']);
  });

  test('an intent whose record is lost is found, as the repaired journal knows it', async () => {
    losses.faults = ['reset-before', 'reset-before'];
    const file = join(workspace.folder, 'order.json');
    writeFileSync(file, JSON.stringify(orderBody(service.product('test-success'))));
    await run('order', 'create', '--file', file, '--retries', '0', '--idempotency-key', 'k1');
    losses.faults = [];
    const database = new (loadSqlite())(join(workspace.folder, '.state', 'journal.db'));
    database.exec('DELETE FROM intents; DELETE FROM tally');
    database.close();
    expect((await run('reconcile')).code).not.toBe(0);
    expect((await run('order', 'journal', 'repair')).code).toBe(0);
    expect(await reconciled()).toMatchObject({ code: 7, findings: [{ finding: 'damaged', key: 'k1' }] });
  });

  test('what the policy has reserved is settled, of a batch too', async () => {
    mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
    const policy = join(workspace.folder, '.config', 'policy.yaml');
    writeFileSync(policy, 'version: 1\nlimits:\n  per_day: $500\n', { mode: 0o600 });
    await made('test-success', { po_number: '1' });
    expect((await upload(['test-success', 'test-out-of-stock'])).code).toBe(0);
    service.pass(60_000);
    expect(await reconciled()).toMatchObject({ code: 0, orders: 3 });
    const [usage] = JSON.parse((await run('policy', 'usage', '-o', 'json')).stdout);
    expect(usage).toMatchObject({ used_cents: 2 * 2_099, open_cents: 0 });
  });

  test('--since leaves out what is older, and nothing where nothing was ordered here', async () => {
    await made('test-success');
    expect(await reconciled('--since', '2100-01-01')).toMatchObject({ code: 0, orders: 0 });
    const { code, stderr } = await run('reconcile', '--since', 'soon');
    expect(code).toBe(2);
    expect(stderr).toContain('--since');
  });
});
