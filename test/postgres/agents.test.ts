import { describe, expect, onTestFinished, test } from 'vitest';
import { Agent } from '../integrations/mcp/agent.ts';
import { clients } from '../integrations/mcp/client-lines.ts';
import { Scene } from '../integrations/mcp/scene.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { makeWorkspace } from '../support/workspace.ts';

describe.skipIf(!hasPostgres)('agents on machines that share a database', () => {
  const server = useServer();

  /** Two machines with their own folders, using the same service and database. */
  async function begin(): Promise<{ scene: Scene; agents: readonly [Agent, Agent] }> {
    const scene = await Scene.begin(clients[0], {});
    onTestFinished(() => scene.end());
    const database = await server().newDatabase();
    const start = (): Promise<Agent> => {
      const machine = makeWorkspace(
        { ...scene.workspace.environment, ERRAND_DATABASE_URL: database.url },
        { oddService: true },
      );
      onTestFinished(() => machine.remove());
      return Agent.start(machine, { line: scene.line });
    };
    return { scene, agents: [await start(), await start()] };
  }

  test('order once, whichever of them quotes again, and at once', async () => {
    const { scene, agents } = await begin();
    const [first, second] = agents;
    const quotes = [await scene.quote(first), await scene.quote(second, 5100)] as const;
    const told = await Promise.all([
      first.call('order_place', { quote: quotes[0] }),
      second.call('order_place', { quote: quotes[1] }),
    ]);
    expect(told.filter(({ isError }) => !isError)).toHaveLength(1);
    const [order, ...more] = await scene.orders();
    expect(more).toEqual([]);
    for (const agent of agents) {
      const quoted = await agent.get('order_quote', scene.order(4900));
      expect(quoted.existing).toMatchObject([{ order_id: order?.id, state: 'placed' }]);
      expect(await agent.refused('order_place', { quote: quoted.quote })).toMatchObject({
        code: 'repeated_order',
      });
    }
  });

  test('settle what another has left in doubt', async () => {
    const { scene, agents } = await begin();
    const [first, second] = agents;
    const quote = await scene.quote(first);
    scene.between.trouble = (request) => (request === 'POST /orders' ? { dropsResponse: true } : undefined);
    expect(await first.refused('order_place', { quote })).toMatchObject({ category: 'in_doubt' });
    const quoted = await second.get('order_quote', scene.order(5100, { new: true }));
    const [{ state, settled_by: settling }] = quoted.existing;
    expect(state).toBe('in_doubt');
    await second.refused('order_place', { quote: quoted.quote });
    scene.between.trouble = () => undefined;
    const { order } = await second.get('order_place', { quote: settling.quote });
    expect((await first.get('order_place', { quote })).order.id).toBe(order.id);
    expect(await scene.orders()).toHaveLength(1);
  });
});
