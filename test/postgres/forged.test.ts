import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { fingerprintOf, makeKey } from '../support/approval-workspace.ts';
import { forge, like } from '../support/forge.ts';
import { orderBody } from '../support/order-body.ts';
import { json, peer } from '../support/peer.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { errorOf } from '../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

describe.skipIf(!hasPostgres)('whoever has the role of the database, and no key', () => {
  const server = useServer();
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ now: Date.now() });
  });
  afterAll(() => service.stop());

  function machine(environment: Record<string, string>): Workspace {
    const workspace = makeWorkspace(environment);
    onTestFinished(workspace.remove);
    return workspace;
  }

  /**
   * A team with a published limit of $200 per order and one order placed, and an intruder who only has access to the
   * database.
   */
  async function team(): Promise<{ readonly buyer: Workspace; readonly intruder: Workspace }> {
    const { url: ERRAND_DATABASE_URL } = await server().newDatabase();
    const buyer = machine({
      ERRAND_DATABASE_URL,
      ERRAND_BASE_URL: service.baseUrl,
      ERRAND_API_KEY: await service.mint(),
    });
    writeFileSync(join(buyer.folder, 'policy.yaml'), 'version: 1\nlimits: { per_order: $200 }\n', {
      mode: 0o600,
    });
    const key = makeKey(buyer, 'publisher');
    buyer.environment.ERRAND_POLICY_SIGNER = fingerprintOf(key);
    const published = await errand(buyer, ['policy', 'publish', 'policy.yaml', '--key', key]);
    expect(published.code, published.stderr).toBe(0);
    writeFileSync(
      join(buyer.folder, 'order.json'),
      JSON.stringify(orderBody(service.product('test-success'))),
    );
    const first = await errand(buyer, ['order', 'create', '--file', 'order.json']);
    expect(first.code, first.stderr).toBe(0);
    return { buyer, intruder: machine({ ERRAND_DATABASE_URL }) };
  }

  const resume = (workspace: Workspace) =>
    errand(workspace, ['order', 'journal', 'resume', '--all', '-o', 'json']);

  const ceilings = async ({ environment: { ERRAND_API_KEY: key = '' } }: Workspace): Promise<number[]> => {
    const { body } = await service.send('GET', '/orders', undefined, key);
    return body.orders.map(({ max_price: cents }: { readonly max_price: number }) => cents);
  };

  test.each([
    ['a row', false, 'the audit chain does not have forged-0000'],
    ['a row with its entry in the chain', true, 'forged-0000 is not signed under the API key in use'],
  ])('places nothing past the policy by %s, on any machine', async (_, isEntered, message) => {
    const { buyer, intruder } = await team();
    await forge(intruder, (it) => {
      const intent = like(it.rows()[0], {});
      const dear = { ...intent, body: { ...intent.body, max_price: 90_000 } };
      it.insert(dear);
      if (isEntered) it.enterWhole(dear);
    });
    const other = machine(Object.fromEntries(teamOf(buyer)));
    for (const workspace of [buyer, other]) {
      const ended = await resume(workspace);
      expect([ended.code, errorOf(ended).message]).toEqual([5, expect.stringContaining(message)]);
    }
    expect(await ceilings(buyer)).toEqual([5000]);
  });

  test('has no key sent to a host of their own', async () => {
    const { buyer, intruder } = await team();
    const foreign = await peer(json({ orders: [], total: 0 }));
    await forge(intruder, (it) => it.insert(like(it.rows()[0], { baseUrl: foreign.url })));
    const { stdout, stderr } = await resume(buyer);
    for (const [command] of `${stdout}\n${stderr}`.matchAll(/errand order journal resume [^\n;`]*/g))
      await errand(buyer, command.trim().split(' ').slice(1));
    expect(foreign.received).toEqual([]);
    expect(stdout + stderr).not.toContain(foreign.url);
    expect(stderr).toContain('a record names a service that no profile');
  });

  const teamOf = ({ environment }: Workspace) =>
    Object.entries(environment).filter(([name]) =>
      ['ERRAND_DATABASE_URL', 'ERRAND_BASE_URL', 'ERRAND_API_KEY', 'ERRAND_POLICY_SIGNER'].includes(name),
    );
});
