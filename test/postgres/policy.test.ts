import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Journal } from '../../src/journal/journal.ts';
import { fingerprintOf, makeKey } from '../support/approval-workspace.ts';
import { intent } from '../support/intents.ts';
import { orderBody } from '../support/order-body.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { errand, type Finished } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

describe.skipIf(!hasPostgres)('a policy that is published in the database', () => {
  const server = useServer();
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ now: Date.now() });
  });
  afterAll(() => service.stop());

  function machine({ url }: TeamDatabase): Workspace {
    const environment = {
      ERRAND_DATABASE_URL: url,
      ERRAND_BASE_URL: service.baseUrl,
      ERRAND_API_KEY: service.key,
    };
    const workspace = makeWorkspace(environment);
    onTestFinished(workspace.remove);
    return workspace;
  }

  function policyOf({ folder }: Workspace, text: string): string {
    const file = join(folder, '.config', 'policy.yaml');
    mkdirSync(join(folder, '.config'), { recursive: true, mode: 0o700 });
    writeFileSync(file, `version: 1\n${text}\n`, { mode: 0o600 });
    return file;
  }

  /** Publishes with a new key, which the other machines are told of. */
  async function publish(
    workspace: Workspace,
    others: readonly Workspace[] = [],
    ...args: readonly string[]
  ): Promise<Finished> {
    const key = join(workspace.folder, 'publisher');
    if (!existsSync(key)) makeKey(workspace, 'publisher');
    for (const { environment } of others) environment.ERRAND_POLICY_SIGNER = fingerprintOf(key);
    return errand(workspace, ['policy', 'publish', ...args, '--key', key, '-o', 'json']);
  }

  function order(workspace: Workspace, cents: number): Promise<Finished> {
    const body = { ...orderBody(service.product('test-success')), max_price: cents };
    writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(body));
    return errand(workspace, ['order', 'create', '--file', 'order.json', '--new', '-o', 'json']);
  }

  const errorOf = ({ stderr }: Finished) =>
    JSON.parse(stderr.split('\n').find((line) => line.startsWith('{"error"')) ?? '{}').error;

  const ordersMade = async (): Promise<number> => (await service.send('GET', '/orders')).body.orders.length;

  test('one limit a day holds over all machines, also over one that has no file of its own', async () => {
    const database = await server().newDatabase();
    const [one, other] = [machine(database), machine(database)];
    policyOf(one, 'limits:\n  per_day: $100');
    const published = await publish(one, [other]);
    expect(published.code, published.stderr).toBe(0);
    const signer = fingerprintOf(join(one.folder, 'publisher'));
    expect(JSON.parse(published.stdout)).toMatchObject({
      ...{ rules: 1, time_zone: 'UTC', number: 1, signer, replaced: null },
    });
    expect((await order(one, 5000)).code).toBe(0);
    const before = await ordersMade();
    const refused = await order(other, 5000);
    expect(refused.code).toBe(11);
    expect(errorOf(refused).message).toContain('limits.per_day');
    expect(await ordersMade()).toBe(before);
    const used = await errand(other, ['policy', 'usage', '-o', 'json']);
    expect(JSON.parse(used.stdout)).toMatchObject([{ used_cents: 5100, left_cents: 4900 }]);
    const chain = await errand(other, ['audit', 'log', '-o', 'json']);
    expect(JSON.parse(chain.stdout)).toContainEqual(
      expect.objectContaining({
        kind: 'policy_published',
        detail: expect.objectContaining({ time_zone: 'UTC', before: null, number: 1, signer }),
      }),
    );
  });

  test('an order that another machine paid for stays reserved, and what others cost is learned all the same', async () => {
    const database = await server().newDatabase();
    const [one, other] = [machine(database), machine(database)];
    policyOf(one, 'limits:\n  per_day: $152.99');
    expect((await publish(one, [other])).code).toBe(0);
    const body = { ...orderBody(service.product('test-success')), max_price: 5000 };
    for (const by of [one, other, other]) {
      writeFileSync(join(by.folder, 'order.json'), JSON.stringify(body));
      const paying = ['agent', 'order', 'create', '--file', 'order.json', '--new', '-o', 'id'];
      const { code, stdout, stderr } = await errand(by, paying);
      expect(code, stderr).toBe(0);
      service.pass(60_000);
      expect((await errand(by, ['order', 'get', stdout.trim(), '--query', 'status'])).stdout).toBe(
        'order_placed\n',
      );
    }
  });

  test('a file of one machine alone stops its orders until it is published', async () => {
    const database = await server().newDatabase();
    const workspace = machine(database);
    const file = policyOf(workspace, 'limits:\n  per_day: $100');
    const before = await ordersMade();
    const refused = await order(workspace, 1000);
    expect(refused.code).toBe(11);
    expect(errorOf(refused)).toMatchObject({
      code: 'policy_not_published',
      outcome: 'not_sent',
      next: [
        { command: 'errand policy show' },
        { command: `errand policy publish ${file} --key ~/.ssh/id_ed25519` },
      ],
    });
    expect(await ordersMade()).toBe(before);
    expect(await errand(workspace, ['policy', 'publish', file])).toMatchObject({ code: 2, stdout: '' });
    await publish(workspace, [], file);
    expect((await order(workspace, 1000)).code).toBe(0);
  });

  test('a machine whose file differs orders nothing, is shown what holds, and may publish its own', async () => {
    const database = await server().newDatabase();
    const [one, other] = [machine(database), machine(database)];
    policyOf(one, 'limits:\n  per_day: $100');
    await publish(one, [other]);
    // The same limit with days in another time zone is a different limit.
    const file = policyOf(other, 'limits:\n  per_day: $100\ntime_zone: Asia/Tokyo');
    const refused = await order(other, 1000);
    expect(refused.code).toBe(11);
    expect(errorOf(refused)).toMatchObject({ code: 'policy_differs', outcome: 'not_sent' });
    const shown = await errand(other, ['policy', 'show']);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('$100.00');
    expect(shown.stderr).toContain(`warning: ${file} differs from the policy that`);
    expect(shown.stderr).toContain('days and months are those of UTC');
    const doctor = await errand(other, ['doctor', '-o', 'json']);
    expect(JSON.parse(doctor.stdout)).toContainEqual(
      expect.objectContaining({ check: 'policy', status: 'trouble' }),
    );
    const published = await publish(other, [one, other]);
    expect(JSON.parse(published.stdout)).toMatchObject({
      ...{ time_zone: 'Asia/Tokyo', number: 2 },
      replaced: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), number: 1 },
    });
    expect((await order(other, 1000)).code).toBe(0);
    expect(errorOf(await order(one, 1000)).code).toBe('policy_differs');
    rmSync(join(one.folder, '.config', 'policy.yaml'));
    expect((await order(one, 1000)).code).toBe(0);
    const again = await publish(other);
    expect(JSON.parse(again.stdout)).toMatchObject({ number: 2, replaced: null });
  });

  test('the keys of its approvers are published with it', async () => {
    const database = await server().newDatabase();
    const [one, other] = [machine(database), machine(database)];
    const key = makeKey(one, 'id');
    policyOf(one, `approve: { above: $10 }\napprovers: [${key}.pub]`);
    execFileSync('chmod', ['600', `${key}.pub`]);
    expect((await publish(one, [other])).code).toBe(0);
    rmSync(`${key}.pub`);
    const asked = await order(other, 2000);
    expect(asked.code).toBe(11);
    const id = /approval show ([0-9a-f]+)/.exec(asked.stderr)?.[1] ?? '';
    const approved = await errand(one, ['approval', 'approve', id, '--key', key]);
    expect(approved).toMatchObject({ code: 0 });
    const placed = await order(other, 2000);
    expect(placed).toMatchObject({ code: 0 });
  });

  test('one that is published while a command is at work stops what the command has not recorded', async () => {
    const { url } = await server().newDatabase();
    const shared = { address: { url, shown: 'team' } };
    const folders = [makeWorkspace(), makeWorkspace()].map((workspace) => {
      onTestFinished(workspace.remove);
      return workspace.folder;
    });
    const [one, other] = await Promise.all(
      folders.map((folder) => Journal.open(folder, Date.now, { shared })),
    );
    if (!one || !other) return expect.fail('there are two');
    const { policies } = one.reservations;
    expect(policies.stored()).toBeUndefined();
    policies.follow(undefined);
    await one.record(intent('k1'));
    const made = { text: 'version: 1\n', keys: {}, timeZone: 'UTC', by: 'ada@laptop' };
    const policy = { ...made, at: '2026-03-01T12:00:00.000Z', database: policies.databaseId, number: 1 };
    const signed = { signature: 'signature', signer: 'SHA256:ada' };
    await other.reservations.policies.publish(policy, signed, undefined);
    await expect(one.record(intent('k2'))).rejects.toMatchObject({
      category: 'policy',
      facts: { code: 'policy_changed', outcome: 'not_sent' },
    });
    const stored = policies.stored();
    expect(stored).toMatchObject({ kind: 'signed', policy });
    policies.follow(stored?.stored);
    await one.record(intent('k2'));
    expect(one.list().map(({ key }) => key)).toEqual(['k1', 'k2']);
    await Promise.all([one.close(), other.close()]);
  });

  test('without a database there is nowhere to publish it', async () => {
    const workspace = makeWorkspace();
    onTestFinished(workspace.remove);
    policyOf(workspace, 'limits:\n  per_day: $100');
    const refused = await errand(workspace, ['policy', 'publish']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('no database is named, so there is nowhere to publish a policy');
  });
});
