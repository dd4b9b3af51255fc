import { describe, expect, onTestFinished, test } from 'vitest';
import { toolNames } from '../../../src/integrations/mcp/names.ts';
import { embeddedShop } from '../../support/run.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';
import { Agent } from './agent.ts';
import { clients } from './client-lines.ts';

const address = {
  first_name: 'Ada',
  last_name: 'Example',
  address_line1: '1 Test Street',
  city: 'Austin',
  state: 'TX',
  postal_code: '78701',
  country: 'US',
  phone_number: '5125550100',
};

async function shop(speed = 50): Promise<{ workspace: Workspace; product: (slug: string) => string }> {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  prefer(workspace, { 'sandbox-speed': speed });
  const base = await embeddedShop();
  return { workspace, product: (slug) => `${base}${slug}` };
}

describe.each(clients)('the tools, by the official client (%s)', (line) => {
  test('are listed, each with its schemas and hints', async () => {
    const { workspace } = await shop();
    const agent = await Agent.start(workspace, { line });
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(toolNames).toSorted());
    for (const { inputSchema, outputSchema, description, annotations } of tools) {
      expect(inputSchema.additionalProperties).toBe(false);
      expect(outputSchema?.type).toBe('object');
      expect(description?.length).toBeLessThan(600);
      expect(annotations?.openWorldHint).toBe(true);
    }
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(20_000);
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints.order_place).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
    });
    expect(hints.search).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  });

  test('lead from a search to an order, its story and its return', async () => {
    const { workspace, product } = await shop();
    const agent = await Agent.start(workspace, { line });
    const { results } = await agent.get('search', { q: 'coffee', limit: 3 });
    expect(results.results).toHaveLength(3);
    const [found] = results.results;
    expect(await agent.get('retailer_check', { url: found.url })).toMatchObject({
      check: { orderable: true },
    });
    const { product: details } = await agent.get('product_get', {
      product_id: found.url.split('/').at(-1),
      retailer: found.retailer,
    });
    expect(details.status).toBe('completed');
    const quoted = await agent.get('order_quote', {
      products: [{ url: product('test-success') }],
      shipping_address: address,
      max_price: 5000,
    });
    expect(quoted).toMatchObject({
      ceiling_cents: 5000,
      fee_cents: 100,
      total_cents: 5100,
      verdict: { outcome: 'allowed' },
    });
    const { order, existed } = await agent.get('order_place', { quote: quoted.quote });
    expect(existed).toBe(false);
    expect((await agent.get('order_place', { quote: quoted.quote })).order.id).toBe(order.id);
    const watched = await agent.get('order_watch', { order_id: order.id, wait_seconds: 20 });
    expect(watched).toMatchObject({ outcome: 'reached', order: { status: 'order_placed' } });
    expect((await agent.get('order_list')).orders).toMatchObject([{ id: order.id }]);
    expect((await agent.get('order_list', { reference: 'REQ-1', namespace: 'shop' })).orders).toEqual([]);
    const got = await agent.get('order_get', { order_id: order.id });
    const item = got.order.items[0].id;
    const returned = await agent.get('return_create', {
      order_id: order.id,
      items: [{ order_item_id: item }],
      reason: 'damaged',
    });
    expect(returned).toMatchObject({ return: { order_id: order.id }, existed: false });
    const story = await agent.get('order_explain', { id: order.id });
    expect(story).toMatchObject({ id: order.id, status: 'order_placed' });
    expect(await agent.get('wallet')).toMatchObject({ rehearsal: true, wallet: { order_fee_cents: 100 } });
    const { operations } = await agent.get('describe_operation');
    expect(operations.map(({ operation }: { operation: string }) => operation)).toContain('order.timeline');
    const timeline = await agent.get('call_operation', {
      operation: 'order.timeline',
      path: { order_id: order.id },
    });
    expect(timeline.body.milestones.length).toBeGreaterThan(1);
    expect(agent.strays).toEqual([]);
  });

  test('are described with every field, as are the operations', async () => {
    const { workspace } = await shop();
    const agent = await Agent.start(workspace, { line });
    for (const name of Object.keys(toolNames)) {
      const { response } = await agent.get('describe_operation', { tool: name });
      expect(response).toMatchObject({ type: 'object', properties: expect.any(Object) });
    }
    const { response } = await agent.get('describe_operation', { operation: 'order.get' });
    expect(response.properties.tracking_numbers.items.properties.carrier).toBeDefined();
    expect(await agent.refused('describe_operation', { tool: 'nosuch' })).toMatchObject({
      code: 'unknown_tool',
    });
  });

  test('ask the user with the price that was found, beside the ceiling', async () => {
    const { workspace } = await shop();
    const agent = await Agent.start(workspace, { line, says: 'no' });
    const { results } = await agent.get('search', { q: 'coffee', limit: 1 });
    const [{ url, price }] = results.results;
    const quoted = await agent.get('order_quote', {
      products: [{ url, quantity: 2 }],
      shipping_address: address,
      max_price: 9000,
    });
    await agent.refused('order_place', { quote: quoted.quote });
    const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`;
    expect(agent.asked).toEqual([expect.stringContaining(`2 x ${url}, ${dollars(price)} each\n`)]);
    expect(agent.asked[0]).toContain(
      `${dollars(2 * price)} when it was quoted, before shipping and tax; at most $90.00, and a fee of $1.00`,
    );
  });

  test('list retailers', async () => {
    const { workspace } = await shop();
    const agent = await Agent.start(workspace, { line });
    const { retailers } = await agent.get('retailers', { limit: 3 });
    expect(retailers).toHaveLength(3);
    expect((await agent.get('retailers', { name: retailers[0].display_name })).retailers).toMatchObject([
      { retailer: retailers[0].retailer },
    ]);
  });

  test('cancel an order that is pending', async () => {
    const { workspace, product } = await shop(1);
    const agent = await Agent.start(workspace, { line });
    const given = { shipping_address: address, max_price: 5000 };
    const quoted = await agent.get('order_quote', { ...given, products: [{ url: product('test-slow') }] });
    const { order } = await agent.get('order_place', { quote: quoted.quote });
    const cancelled = { order_id: order.id, status: 'cancelled' };
    expect(await agent.get('order_cancel', { order_id: order.id })).toEqual(cancelled);
    expect(await agent.get('order_cancel', { order_id: order.id })).toEqual(cancelled);
    const missing = { order_id: '00000000-0000-4000-8000-000000000000' };
    expect(await agent.refused('order_cancel', missing)).toMatchObject({ category: 'not_found' });
  });
});
