import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Fault, readFault } from '../../../src/sandbox/server/faults.ts';
import { ApprovalWorkspace, errorOf, makeKey, requestIdIn } from '../../support/approval-workspace.ts';
import { begin, type Finished } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let places: Workspace[];

beforeEach(() => {
  places = [];
});
afterEach(() => {
  for (const workspace of places) workspace.remove();
});

/** A workspace whose policy lists ada as an approver. */
async function start(fault?: string): Promise<{ readonly at: ApprovalWorkspace; readonly ada: string }> {
  const faults =
    fault === undefined ? [] : [readFault(fault)].filter((one): one is Fault => one !== undefined);
  const service = await TestService.start({ now: Date.now(), faults });
  onTestFinished(() => service.stop());
  return machine(service);
}

function machine(service: TestService): { readonly at: ApprovalWorkspace; readonly ada: string } {
  const workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  places.push(workspace);
  const at = new ApprovalWorkspace(workspace, service);
  const ada = makeKey(workspace, 'ada');
  at.policy(undefined, ['ada']);
  return { at, ada };
}

const headings = 'url,quantity,name,address,city,state,zip,phone,max_price_cents';

/** A row for each house number, with its ceiling in cents. */
const csvOf = (
  at: ApprovalWorkspace,
  ...rows: readonly (readonly [house: number, cents: number])[]
): string =>
  [
    headings,
    ...rows.map(
      ([house, cents]) =>
        `${at.service.product('test-slow')},1,A B,${house} Main St,Austin,TX,78701,5125550100,${cents}`,
    ),
    '',
  ].join('\n');

const auditKinds = async (at: ApprovalWorkspace): Promise<string[]> =>
  (await at.run(['audit', 'log', '-o', 'csv', '--fields', 'kind'])).stdout.trim().split('\n').slice(1);

describe('one approval is one order', () => {
  test('though eight processes race for it, each meaning a new order', async () => {
    const { at, ada } = await start();
    const id = await at.approved(ada, 5000);
    const args = at.order(5000);
    const ended = await Promise.all(Array.from({ length: 8 }, () => at.run(args)));
    expect(ended.map(({ code }) => code)).toContain(0);
    expect(await at.ordersMade()).toBe(1);
    const { used_for: uses } = JSON.parse((await at.run(['approval', 'show', id, '-o', 'json'])).stdout);
    expect(uses).toHaveLength(1);
  });

  test('until an attempt at its need is live: a failure gives it back', async () => {
    const { at, ada } = await start();
    at.order(5000, {}, 'test-out-of-stock');
    const create = ['order', 'create', '--file', 'order.json', '--reference', 'R-1', '-o', 'json'];
    const id = requestIdIn(await at.run(create));
    expect((await at.run(['approval', 'approve', id, '--key', ada])).code).toBe(0);
    const first = await at.run(create);
    expect(first.code, first.stderr).toBe(0);
    const stateOf = async () =>
      JSON.parse((await at.run(['approval', 'show', id, '-o', 'json'])).stdout).state;
    expect(await stateOf()).toBe('used');
    at.service.pass(60_000);
    const second = await at.run(create);
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).toContain('attempt 2');
    expect(JSON.parse(second.stdout).id).not.toBe(JSON.parse(first.stdout).id);
    expect(await stateOf()).toBe('used');
    expect(JSON.parse((await at.run(create)).stdout).id).toBe(JSON.parse(second.stdout).id);
    expect(await at.ordersMade()).toBe(2);
  });

  test('whatever key is given: it is signed with one', async () => {
    const { at, ada } = await start();
    const id = await at.approved(ada, 5000);
    const { key } = JSON.parse((await at.run(['approval', 'show', id, '-o', 'json'])).stdout);
    const refused = await at.create(5000, { idempotency_key: 'mine-1' });
    expect([refused.code, errorOf(refused).message]).toEqual([
      11,
      expect.stringContaining(`approval ${id} is for the idempotency key ${key}: give that one, or none`),
    ]);
    // A request with a user-supplied key is separate and gets an approval for that key.
    const own = requestIdIn(refused);
    expect(own).not.toBe(id);
    expect(await at.create(5000, { idempotency_key: key })).toMatchObject({ code: 0 });
    expect(await at.run(['approval', 'approve', own, '--key', ada])).toMatchObject({ code: 0 });
    expect(await at.create(5000, { idempotency_key: 'mine-2' })).toMatchObject({ code: 11 });
    expect(await at.ordersMade()).toBe(1);
    expect(await at.create(5000, { idempotency_key: 'mine-1' })).toMatchObject({ code: 0 });
    expect(await at.ordersMade()).toBe(2);
  });

  test('the larger of two that are approved is found for what only it covers', async () => {
    const { at, ada } = await start();
    const large = await at.approved(ada, 6000);
    await at.run(['approval', 'deny', large]);
    await at.approved(ada, 5000);
    expect(await at.run(['approval', 'approve', large, '--key', ada])).toMatchObject({ code: 0 });
    expect(await at.create(6000)).toMatchObject({ code: 0 });
    expect(await at.create(5000)).toMatchObject({ code: 0 });
    expect(await at.create(5000)).toMatchObject({ code: 11 });
    expect(await at.ordersMade()).toBe(2);
  });

  test('though the same command runs twice at the same moment', async () => {
    const { at, ada } = await start();
    await at.approved(ada, 5000);
    const ended = await Promise.all([at.create(5000), at.create(5000)]);
    expect(ended.map(({ code }) => code)).toContain(0);
    expect(await at.ordersMade()).toBe(1);
  });

  test('though it is killed between the intent and the response', async () => {
    const { at, ada } = await start('delay=3s@POST /orders');
    const id = await at.approved(ada, 5000);
    const child = begin(at.workspace, 'errand', at.order(5000));
    const owed = async (): Promise<unknown[]> =>
      JSON.parse((await at.run(['order', 'journal', 'list', '-o', 'json'])).stdout);
    while ((await owed()).length === 0);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('close', resolve));
    // The approval is used up once the intent is recorded.
    const other = await at.create(5000);
    expect(requestIdIn(other)).not.toBe(id);
    expect(await at.run(['order', 'journal', 'resume', '--all'])).toMatchObject({ code: 0 });
    expect(await at.ordersMade()).toBe(1);
    expect(await at.create(5000)).toMatchObject({ code: 11 });
    expect(await at.ordersMade()).toBe(1);
    expect(await at.run(['audit', 'verify'])).toMatchObject({ code: 0 });
  });

  test('what was killed before it sent anything gives it back', async () => {
    const { at, ada } = await start('delay=3s@POST /agent/orders');
    const paid = ['agent', ...at.order(5000), '--yes'];
    const id = requestIdIn(await at.run(paid));
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 0 });
    const child = begin(at.workspace, 'errand', paid);
    const state = async (): Promise<string> =>
      JSON.parse((await at.run(['approval', 'show', id, '-o', 'json'])).stdout).state;
    while ((await state()) !== 'used');
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('close', resolve));
    expect(await at.run(paid)).toMatchObject({ code: 0 });
    expect(await at.run(paid)).toMatchObject({ code: 11 });
  });

  test('what the service surely refused gives it back', async () => {
    const { at, ada } = await start();
    await at.approved(ada, 5000, {}, 'test-invalid-address');
    const first = await at.create(5000, {}, 'test-invalid-address');
    expect([first.code, errorOf(first).outcome]).toEqual([expect.any(Number), 'rejected']);
    const second = await at.create(5000, {}, 'test-invalid-address');
    expect([second.code, errorOf(second).outcome]).toEqual([first.code, 'rejected']);
    const kinds = await auditKinds(at);
    expect(kinds).toEqual([
      ...['approval_asked', 'approved', 'policy'],
      ...['approval_used', 'intent', 'refused', 'approval_returned'],
      ...['approval_used', 'intent', 'refused', 'approval_returned'],
    ]);
    const log = (await at.run(['audit', 'log', '-o', 'json'])).stdout;
    expect(log).not.toContain('Main St');
  });

  test('an order that failed or was cancelled does not give it back', async () => {
    const { at, ada } = await start();
    at.policy('approve: { above: $20 }\nlimits:\n  per_day: $60', ['ada']);
    await at.approved(ada, 5000, {}, 'test-slow');
    const { id } = JSON.parse((await at.create(5000, {}, 'test-slow')).stdout);
    expect(await at.run(['order', 'cancel', id])).toMatchObject({ code: 0 });
    expect(await at.run(['policy', 'usage', '--refresh'])).toMatchObject({ code: 0 });
    expect(errorOf(await at.create(5000, {}, 'test-slow')).message).toContain('and works only once');
  });

  test('repairing a damaged journal takes approvals back to be asked about', async () => {
    const { at, ada } = await start();
    const id = await at.approved(ada, 5000);
    const whole = await at.approved(ada, 6000, { po_number: 'other' });
    const journal = join(at.workspace.folder, '.state', 'journal.db');
    const database = new DatabaseSync(journal);
    database.prepare(`UPDATE approvals SET decided_by = 'eve' WHERE id = ?`).run(id);
    database.close();
    const damaged = await at.create(5000);
    expect([damaged.code, damaged.stderr]).toEqual([
      1,
      expect.stringContaining(`approval ${id} is not as errand wrote it`),
    ]);
    expect(await at.run(['order', 'journal', 'repair'])).toMatchObject({ code: 0 });
    const listed = await at.run(['approval', 'list', '--all', '-o', 'csv', '--fields', 'id,state']);
    expect(listed.stdout).toBe(`id,state\n${whole},open\n`);
    expect(await at.create(6000, { po_number: 'other' })).toMatchObject({ code: 11 });
    expect(await at.ordersMade()).toBe(0);
  });
});

describe('an approval is carried to another machine', () => {
  /** Exports an approval on one machine and copies it to the other. */
  async function carried(at: ApprovalWorkspace, there: ApprovalWorkspace, id: string): Promise<string[]> {
    const exported = await at.run(['approval', 'export', id]);
    expect(exported).toMatchObject({ code: 0 });
    expect(exported.stdout).not.toContain('Main St');
    writeFileSync(join(there.workspace.folder, 'approval.json'), exported.stdout);
    return ['--approval', 'approval.json'];
  }

  async function both(): Promise<{ at: ApprovalWorkspace; there: ApprovalWorkspace; ada: string }> {
    const { at, ada } = await start();
    const { at: there } = machine(at.service);
    writeFileSync(join(there.workspace.folder, '.config', 'ada.pub'), at.text('ada.pub'));
    return { at, there, ada };
  }

  test('and both machines together order once', async () => {
    const { at, there, ada } = await both();
    const id = await at.approved(ada, 5000);
    const flag = await carried(at, there, id);
    const args = there.order(5000).filter((word) => word !== '--new');
    const first = await there.run([...args, ...flag]);
    expect(first).toMatchObject({ code: 0 });
    // A repeated job returns the same order.
    const again = await there.run([...args, ...flag]);
    expect([again.code, JSON.parse(again.stdout).id]).toEqual([0, JSON.parse(first.stdout).id]);
    const here = await at.create(5000);
    expect([here.code, JSON.parse(here.stdout).id]).toEqual([0, JSON.parse(first.stdout).id]);
    expect(await there.run([...there.order(5000), ...flag])).toMatchObject({ code: 11 });
    expect(await at.ordersMade()).toBe(1);
  });

  test.each([
    ['no key of the asker', {}],
    ['a key of the asker', { idempotency_key: 'asked-with' }],
  ])('and many machines order once, by --new and by keys of their own: %s', async (_, more) => {
    const { at, there, ada } = await both();
    const flag = await carried(at, there, await at.approved(ada, 5000, more));
    const foreign = await there.run([...there.order(5000, { idempotency_key: 'mine-1' }), ...flag]);
    expect([foreign.code, errorOf(foreign).message]).toEqual([
      11,
      expect.stringContaining('give that one, or none'),
    ]);
    expect(await at.ordersMade()).toBe(0);
    expect(await there.run([...there.order(5000), ...flag])).toMatchObject({ code: 0 });
    const { at: third } = machine(at.service);
    writeFileSync(join(third.workspace.folder, '.config', 'ada.pub'), at.text('ada.pub'));
    writeFileSync(join(third.workspace.folder, 'approval.json'), there.text('approval.json'));
    expect(await third.run([...third.order(5000), ...flag])).toMatchObject({ code: 0 });
    expect(await third.run([...third.order(5000, { idempotency_key: 'mine-2' }), ...flag])).toMatchObject({
      code: 11,
    });
    expect(await at.create(5000, more)).toMatchObject({ code: 0 });
    expect(await at.ordersMade()).toBe(1);
  });

  test('and not once it was used', async () => {
    const { at, ada } = await start();
    const id = await at.approved(ada, 5000);
    const order = JSON.parse((await at.create(5000)).stdout).id;
    const exported = await at.run(['approval', 'export', id]);
    expect([exported.code, exported.stdout, exported.stderr]).toEqual([
      11,
      '',
      expect.stringContaining(`approval ${id} was already used for ${order}, and works only once`),
    ]);
  });

  test('an upload orders once on all machines, also under another --run', async () => {
    const { at, there, ada } = await both();
    const text = csvOf(at, [1, 5000], [2, 900]);
    for (const { workspace } of [at, there]) writeFileSync(join(workspace.folder, 'orders.csv'), text);
    const args = ['bulk', 'upload', 'orders.csv', '-o', 'json'];
    const id = requestIdIn(await at.run(args));
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 0 });
    const flag = await carried(at, there, id);
    expect(await at.run(args)).toMatchObject({ code: 0 });
    const second = await there.run([...args, '--run', 'two', ...flag]);
    expect([second.code, errorOf(second).message]).toEqual([
      11,
      expect.stringContaining(`approval ${id} is for other idempotency keys (another --run?)`),
    ]);
    // The service deduplicates the rows by their keys.
    await there.run([...args, ...flag]);
    at.service.pass(60_000);
    expect(await at.ordersMade()).toBe(2);
  });

  test.each([
    ['another total', (text: string) => text.replace('5100', '9100'), 'something else was signed'],
    ['no signature', (text: string) => JSON.stringify(JSON.parse(text).request), 'nobody has signed'],
    ['nothing', () => 'yes', 'holds no approval'],
  ])('and not with %s', async (_, change, why) => {
    const { at, there, ada } = await both();
    await carried(at, there, await at.approved(ada, 5000));
    writeFileSync(join(there.workspace.folder, 'approval.json'), change(there.text('approval.json')));
    const refused = await there.run([...there.order(5000), '--approval', 'approval.json']);
    expect([[2, 11].includes(Number(refused.code)), refused.stderr]).toEqual([
      true,
      expect.stringContaining(why),
    ]);
    expect(await at.ordersMade()).toBe(0);
  });

  test('and not for another order', async () => {
    const { at, there, ada } = await both();
    const id = await at.approved(ada, 5000);
    const flag = await carried(at, there, id);
    const refused = await there.run([...there.order(5001), ...flag]);
    expect([refused.code, errorOf(refused).message]).toEqual([
      11,
      expect.stringContaining(`approval ${id} covers $51.00, and this takes $51.01`),
    ]);
  });
});

describe('a command that waits', () => {
  test('goes on once it is approved', async () => {
    const { at, ada } = await start();
    const waiting = at.run([...at.order(5000), '--wait-approval', '10m']);
    const id = await openId(at);
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 0 });
    expect(await waiting).toMatchObject({ code: 0 });
    expect(await at.ordersMade()).toBe(1);
  });

  test('ends when it is denied, when nobody decides, and on Ctrl-C', async () => {
    const { at } = await start();
    const late = await at.run([...at.order(4000), '--wait-approval', '600ms']);
    expect([late.code, late.stderr]).toEqual([8, expect.stringContaining('nobody has decided')]);
    const waiting = at.run([...at.order(5000), '--wait-approval', '10m']);
    expect(await at.run(['approval', 'deny', await openId(at, 5100)])).toMatchObject({ code: 0 });
    expect(await waiting).toMatchObject({ code: 11, stderr: expect.stringContaining('was denied') });
    const child = begin(at.workspace, 'errand', [
      ...at.order(6000, { po_number: 'other' }),
      '--wait-approval',
      '10m',
    ]);
    await openId(at, 6100);
    const err: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(130);
    expect(Buffer.concat(err).toString()).toContain('waits for a decision; nothing was sent');
    expect(await at.ordersMade()).toBe(0);
  });

  async function openId(at: ApprovalWorkspace, cents = 5100): Promise<string> {
    for (;;) {
      const { stdout }: Finished = await at.run(['approval', 'list', '-o', 'json']);
      const found = JSON.parse(stdout).find((one: { total_cents: number }) => one.total_cents === cents);
      if (found) return found.id;
    }
  }
});

describe('every door', () => {
  test('an upload is approved as a whole, and goes on under the same approval', async () => {
    const { at, ada } = await start();
    const row = (n: number, cents: number): [number, number] => [n, cents];
    const csv = (...rows: [number, number][]): string[] => {
      writeFileSync(join(at.workspace.folder, 'orders.csv'), csvOf(at, ...rows));
      return ['bulk', 'upload', 'orders.csv', '--batch-size', '1', '-o', 'json'];
    };
    const id = requestIdIn(await at.run(csv(row(1, 5000), row(2, 900))));
    const shown = JSON.parse((await at.run(['approval', 'show', id, '-o', 'json'])).stdout);
    expect(shown).toMatchObject({
      subject: 'upload',
      total_cents: 6100,
      summary: {
        file: 'orders.csv',
        orders: 2,
        highest_ceiling_cents: 5000,
        products: [{ url: at.service.product('test-slow'), quantity: 2 }],
      },
    });
    expect((await at.run(['approval', 'show', id])).stdout).toMatch(
      /2 x http.*test-slow; .*file: orders\.csv; highest ceiling: \$50\.00; orders: 2;/,
    );
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 0 });
    expect(await at.run(csv(row(1, 5000), row(3, 900)))).toMatchObject({ code: 11 });
    // The same total, but one row exceeds its approved ceiling.
    const moved = await at.run(csv(row(1, 5800), row(2, 100)));
    expect([moved.code, errorOf(moved).message]).toEqual([
      11,
      expect.stringContaining(`approval ${id} is for other ceilings`),
    ]);
    expect((await at.service.send('GET', '/orders/bulk')).body.batches).toEqual([]);
    expect(await at.run(csv(row(1, 5000), row(2, 900)))).toMatchObject({ code: 0 });
    expect(await at.run(csv(row(1, 5000), row(2, 900)))).toMatchObject({ code: 0 });
    expect(await at.run([...csv(row(1, 5000), row(2, 900)), '--run', 'again'])).toMatchObject({ code: 11 });
    expect((await at.service.send('GET', '/orders/bulk')).body.batches).toHaveLength(2);
  });

  test('a request by hand, and an order without an account', async () => {
    const { at, ada } = await start();
    at.order(5000, { idempotency_key: 'by-hand' });
    const byHand = ['api', 'POST', '/orders', '--input', 'order.json', '-o', 'json'];
    const id = requestIdIn(await at.run(byHand));
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 0 });
    expect(await at.run(byHand)).toMatchObject({ code: 0 });
    const paid = ['agent', ...at.order(5000), '--yes'];
    const asked = requestIdIn(await at.run(paid));
    expect(await at.run(['approval', 'approve', asked, '--key', ada])).toMatchObject({ code: 0 });
    expect(await at.run(paid)).toMatchObject({ code: 0 });
    expect(await at.run(paid)).toMatchObject({ code: 11 });
    expect(await at.ordersMade()).toBe(1);
  });

  test('policy check and --dry-run show how it stands, and ask nobody', async () => {
    const { at, ada } = await start();
    const args = at.order(5000);
    const check = ['policy', 'check', '--file', 'order.json'];
    const first = await at.run(check);
    expect([first.code, first.stderr]).toEqual([
      11,
      expect.stringContaining('placing it asks for an approval'),
    ]);
    expect((await at.run([...args, '--dry-run'])).stderr).toContain('placing it asks for an approval');
    expect(await at.run(['approval', 'list', '--all', '-o', 'id'])).toMatchObject({ stdout: '' });
    const id = requestIdIn(await at.run(args));
    expect((await at.run(check)).stderr).toContain(`errand approval show ${id}`);
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 0 });
    expect(await at.run(check)).toMatchObject({ code: 0 });
    expect((await at.run([...args, '--dry-run'])).stderr).toContain(`policy: allowed; approved as ${id}`);
  });

  test('an override is signed where there are approvers', async () => {
    const { at, ada } = await start();
    at.policy('limits:\n  per_order: $30', ['ada']);
    const plain = at.order(5000);
    expect(errorOf(await at.run(plain))).toMatchObject({ code: 'policy_refused' });
    const args = [...plain, '--override-policy', 'the office moves'];
    const asked = await at.run(args);
    const id = requestIdIn(asked);
    expect(errorOf(asked).details.approval).toMatchObject({ override: 'the office moves' });
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 0 });
    at.policy('limits:\n  per_order: $30\n  quantity_per_line: 0', ['ada']);
    const more = await at.run(args);
    expect([more.code, errorOf(more).message]).toEqual([
      11,
      expect.stringContaining('and not limits.quantity_per_line'),
    ]);
    at.policy('overrides: never\nlimits:\n  per_order: $30', ['ada']);
    const never = await at.run(args);
    expect([never.code, errorOf(never).message]).toEqual([11, expect.stringContaining('overrides: never')]);
    at.policy('limits:\n  per_order: $30', ['ada']);
    expect(errorOf(await at.run(plain))).toMatchObject({ code: 'policy_refused' });
    expect(await at.run(args)).toMatchObject({ code: 0 });
    expect(await auditKinds(at)).toEqual(expect.arrayContaining(['override', 'approval_used', 'intent']));
    expect(errorOf(await at.run(args)).message).toContain('and works only once');
    expect(await at.ordersMade()).toBe(1);
  });
});
