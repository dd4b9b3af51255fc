import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { hashKey } from '../../../src/sandbox/server/caller.ts';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { FaultProxy } from '../../faults/proxy.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const address = ['--first-name', 'A', '--last-name', 'B', '--address-line1', '1 Main St', '--city', 'Austin'];
const rest = ['--state', 'TX', '--postal-code', '78701', '--country', 'US', '--phone-number', '+15125550100'];

interface Accounts {
  readonly workspace: Workspace;
  readonly service: TestService;
  readonly keys: readonly string[];
  /** Runs a command with the key of the first or second account. */
  as(account: 0 | 1, ...args: string[]): ReturnType<typeof errand>;
  /** Number of orders per account. */
  counts(): Promise<number[]>;
  readonly order: readonly string[];
}

/** Two accounts of one service on one machine. */
async function twoAccounts(faulty = '', file = ':memory:'): Promise<Accounts> {
  const fault = faulty === '' ? undefined : readFault(faulty);
  const service = await TestService.start({
    seed: 3,
    file,
    now: Date.now(),
    faults: fault ? [fault] : [],
  });
  const workspace = makeWorkspace({ ERRAND_NO_INPUT: '1', ERRAND_BASE_URL: service.baseUrl });
  onTestFinished(async () => {
    await service.stop();
    workspace.remove();
  });
  const keys = [service.key, await service.mint()];
  return {
    workspace,
    service,
    keys,
    as(account, ...args) {
      const environment = { ...workspace.environment, ERRAND_API_KEY: keys[account] ?? '' };
      return errand({ ...workspace, environment }, args);
    },
    counts: () =>
      Promise.all(
        keys.map(async (key) => (await service.send('GET', '/orders', undefined, key)).body.orders.length),
      ),
    order: [
      ...['order', 'create', '--product', service.product('test-success'), '--max-price', '$50'],
      ...['--retries', '0', '-o', 'id', ...address, ...rest],
    ],
  };
}

/** Places orders with the first key until a response is lost. @returns the account's number of orders. */
async function untilInDoubt({ as, order }: Accounts): Promise<number> {
  for (let made = 1; made < 50; made += 1) {
    if ((await as(0, ...order, '--new')).code === 10) return made;
  }
  throw new Error('no response was lost');
}

describe('another key on the same machine', () => {
  test('an order in doubt is not resumed with it: its account would order a second time', async () => {
    const accounts = await twoAccounts('reset-after:60%@POST /orders');
    const { as, counts, order } = accounts;
    const made = await untilInDoubt(accounts);
    const all = await as(1, 'order', 'journal', 'resume', '--all');
    expect(all.stderr).toMatch(/more is in doubt that was sent with another key, \w+_test_…\w{4}/);
    const [key = ''] = (await as(1, 'order', 'journal', 'list', '-o', 'id')).stdout.trim().split('\n');
    expect((await as(1, 'order', 'journal', 'resume', key)).code).toBe(5);
    const again = await as(1, ...order);
    expect(again.code).toBe(5);
    expect(again.stderr).toContain('sent with another key');
    expect((await as(1, ...order, '--idempotency-key', key)).code).toBe(5);
    expect(await counts()).toEqual([made, 0]);
    expect((await as(0, 'order', 'journal', 'resume', '--all', '--retries', '9')).code).toBe(0);
    expect(await counts()).toEqual([made, 0]);
  });

  test('an idempotency key is the account’s own: the other account orders with it too', async () => {
    const { as, counts, order } = await twoAccounts();
    const first = await as(0, ...order, '--idempotency-key', 'monday');
    const other = await as(1, ...order, '--idempotency-key', 'monday');
    expect(other.code, other.stderr).toBe(0);
    expect(other.stdout).not.toBe(first.stdout);
    const back = await as(0, ...order, '--idempotency-key', 'monday');
    expect(back.stdout).toBe(first.stdout);
    expect(await counts()).toEqual([1, 1]);
  });

  test('a file that one account has uploaded is uploaded for the other too, once', async () => {
    const { as, workspace, service } = await twoAccounts();
    const columns =
      'product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number';
    const cells = `${service.product('a')},5000,A B,1 Main St,Austin,TX,78701,US,+15125550100`;
    const file = join(workspace.folder, 'orders.csv');
    writeFileSync(file, `${columns}\n${cells}\n`);
    const upload = async (account: 0 | 1) => {
      const { stdout, stderr } = await as(account, 'bulk', 'upload', file, '-o', 'json');
      expect(stderr).not.toContain('error:');
      return JSON.parse(stdout)[0];
    };
    const first = await upload(0);
    const other = await upload(1);
    expect(other).toMatchObject({ existed: false });
    expect(other.id).not.toBe(first.id);
    expect(await upload(1)).toEqual({ ...other, existed: true });
  });

  describe('of the same user', () => {
    /** Gives the second key to the user of the first. */
    async function oneUser(faulty = ''): Promise<Accounts> {
      const folder = mkdtempSync(join(tmpdir(), 'errand-keys-'));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const file = join(folder, 'sandbox.db');
      const accounts = await twoAccounts(faulty, file);
      const database = new (loadSqlite())(file);
      const user = '(SELECT user_id FROM api_keys WHERE hash = ?)';
      const [first, second] = accounts.keys.map(hashKey);
      database.prepare(`UPDATE api_keys SET user_id = ${user} WHERE hash = ?`).run(first ?? '', second ?? '');
      database.close();
      return accounts;
    }
    const ordered = async ({ service }: Accounts): Promise<number> =>
      (await service.send('GET', '/orders')).body.orders.length;

    test('an order of the one key is known to the other, however it is spelled', async () => {
      const accounts = await oneUser();
      const { as, order } = accounts;
      const { stdout } = await as(0, ...order);
      const again = await as(1, ...order, '--po-number', 'PO-7');
      expect([again.code, again.stdout], again.stderr).toEqual([5, '']);
      expect(again.stderr).toContain(stdout.trim());
      expect((await as(0, ...order)).code).toBe(5);
      expect((await as(1, ...order, '--new')).code).toBe(0);
      expect(await ordered(accounts)).toBe(2);
    });

    test('while the service does not say whose the other is, nothing is ordered with it', async () => {
      const accounts = await oneUser('500@GET /wallet/me');
      const { as, order } = accounts;
      expect((await as(0, ...order)).code).toBe(0);
      const other = await as(1, ...order);
      expect(other.code).toBe(9);
      expect(other.stderr).toContain('whose this one is cannot be read');
      expect(other.stderr).toContain('; nothing was sent');
      expect(await ordered(accounts)).toBe(1);
    });

    test('what the one left in doubt is never sent by the other: it is looked for, then ordered anew', async () => {
      const accounts = await oneUser();
      const { order, service, workspace, keys } = accounts;
      const losses = new FaultProxy(service.baseUrl);
      const baseUrl = await losses.start();
      onTestFinished(() => losses.stop());
      const as = (account: 0 | 1, ...line: string[]) => {
        const named = { ERRAND_BASE_URL: baseUrl, ERRAND_API_KEY: keys[account] ?? '' };
        return errand({ ...workspace, environment: { ...workspace.environment, ...named } }, line);
      };
      losses.faults = ['reset-before'];
      expect((await as(0, ...order)).code).toBe(10);
      const [key = ''] = (await as(1, 'order', 'journal', 'list', '-o', 'id')).stdout.trim().split('\n');
      const early = await as(1, ...order);
      expect([early.code, early.stderr], early.stderr).toEqual([
        5,
        expect.stringMatching(/sent with another key[\s\S]*Run this again in \d min/),
      ]);
      service.pass(6 * 60_000);
      const resumed = await as(1, 'order', 'journal', 'resume', key);
      expect([resumed.code, resumed.stderr], resumed.stderr).toEqual([
        5,
        expect.stringContaining('was sent with another key of this user; it is not sent'),
      ]);
      expect(await ordered(accounts)).toBe(0);
      const later = await as(1, ...order);
      expect(later.code, later.stderr).toBe(0);
      expect(later.stderr).toContain('it is given up');
      expect((await as(0, ...order)).code).toBe(5);
      expect(await ordered(accounts)).toBe(1);
    });

    test('both at once order once', async () => {
      const accounts = await oneUser();
      const { as, order } = accounts;
      const ended = await Promise.all([as(0, ...order), as(1, ...order)]);
      expect(ended.map(({ code }) => code).toSorted()).toEqual([0, 5]);
      expect(await ordered(accounts)).toBe(1);
    });
  });
});
