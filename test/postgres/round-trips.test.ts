import { describe, expect, onTestFinished, test } from 'vitest';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { orderOf } from '../support/run.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { DatabaseProxy } from './proxy.ts';

describe.skipIf(!hasPostgres)('what the database costs an order', () => {
  const server = useServer();

  test('six round trips before it is sent, and a commit each for its response and its report', async () => {
    const proxy = await DatabaseProxy.start(server().port);
    onTestFinished(() => proxy.close());
    const { url } = await server().newDatabase();
    const workspace = makeWorkspace({ ERRAND_DATABASE_URL: proxy.url(url) });
    onTestFinished(workspace.remove);
    await orderOf(workspace, 'test-success');
    proxy.reset();
    await orderOf(workspace, 'test-slow');
    const written = proxy.statements.map((statement) =>
      statement.includes('INSERT INTO errand.intents') ? 'record' : 'other',
    );
    // Others' writes, the table's secret and accounts, the attempts at the need, the claim with its commit; then the intent.
    expect(written.slice(0, 6)).toEqual([...Array.from({ length: 5 }, () => 'other'), 'record']);
    expect(written.filter((kind) => kind === 'record')).toHaveLength(3);
    expect(proxy.connections).toBe(2);
  });
});
