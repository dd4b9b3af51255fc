import { expect, onTestFinished, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { Agent } from './agent.ts';

test('what an agent left in doubt can be settled by a person while the server runs', async () => {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  const { url } = await serveAt(workspace, '--fault', 'reset-after@POST /orders');
  const minted = await fetch(`${url}/sandbox/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { api_key: key, example_order: order } = JSON.parse(await minted.text());
  const environment = { ERRAND_BASE_URL: url, ERRAND_API_KEY: key };
  const agent = await Agent.start(workspace, { environment });
  const { quote } = await agent.get('order_quote', {
    products: order.products,
    shipping_address: order.shipping_address,
    max_price: order.max_price,
  });
  expect(await agent.refused('order_place', { quote })).toMatchObject({ category: 'in_doubt' });
  const ours = { ...workspace, environment: { ...workspace.environment, ...environment } };
  const { stdout } = await errand(ours, ['order', 'journal', 'list', '-o', 'json']);
  const [{ key: idempotencyKey }] = JSON.parse(stdout);
  // The fault persists, so the order stays in doubt; exit code 10 shows that it was resent and is owned by no other
  // process.
  await expect
    .poll(async () => (await errand(ours, ['order', 'journal', 'resume', idempotencyKey])).code)
    .toBe(10);
});
