import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { FaultProxy } from '../faults/proxy.ts';
import { fingerprintOf, makeKey } from '../support/approval-workspace.ts';
import { orderBody } from '../support/order-body.ts';
import type { PostgresServer, TeamDatabase } from '../support/postgres.ts';
import { errand, type Finished } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

/** Machines that share a database and a service, through a proxy that can lose responses. */
export class Team {
  service!: TestService;
  proxy!: FaultProxy;
  database!: TeamDatabase;
  environment: Record<string, string> = {};

  static async begin(server: PostgresServer): Promise<Team> {
    const it = new Team();
    it.database = await server.newDatabase();
    it.service = await TestService.start({ now: Date.now() });
    it.proxy = new FaultProxy(it.service.baseUrl);
    it.environment = {
      ERRAND_NO_INPUT: '1',
      ERRAND_DATABASE_URL: it.database.url,
      ERRAND_BASE_URL: await it.proxy.start(),
      ERRAND_API_KEY: it.service.key,
    };
    onTestFinished(async () => {
      await it.proxy.stop();
      await it.service.stop();
    });
    return it;
  }

  /** A machine with an order to place. */
  machine(cents = 5000): Workspace {
    const workspace = makeWorkspace(this.environment);
    onTestFinished(workspace.remove);
    writeFileSync(
      join(workspace.folder, 'order.json'),
      JSON.stringify({ ...orderBody(this.service.product('test-success')), max_price: cents }),
    );
    return workspace;
  }

  async publish(workspace: Workspace, text: string): Promise<void> {
    writeFileSync(join(workspace.folder, 'policy.yaml'), `version: 1\n${text}\n`, { mode: 0o600 });
    const key = makeKey(workspace, 'publisher');
    this.environment.ERRAND_POLICY_SIGNER = fingerprintOf(key);
    workspace.environment.ERRAND_POLICY_SIGNER = fingerprintOf(key);
    const { code, stderr } = await errand(workspace, ['policy', 'publish', 'policy.yaml', '--key', key]);
    if (code !== 0) throw new Error(stderr);
  }

  /** Always the same order. */
  order = (workspace: Workspace, ...more: string[]): Promise<Finished> =>
    errand(workspace, ['order', 'create', '--file', 'order.json', '--retries', '0', '-o', 'json', ...more]);

  /** Number of orders that the service has. */
  count = async (): Promise<number> =>
    (await this.service.send('GET', '/orders?limit=500')).body.orders.length;

  /** Changes rows as the role may, so that every copy reads them. */
  change = (table: string, set: string, where = 'true') =>
    this.database.run(`UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
      UPDATE errand.${table} SET ${set}, seq = (SELECT seq FROM errand.heads WHERE name = 'journal') WHERE ${where}`);
}
