import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeKey } from '../../support/approval-workspace.ts';
import { address } from '../../support/order-body.ts';
import type { Agent } from './agent.ts';
import { type ClientLine, clients, inTurn } from './client-lines.ts';
import { Scene } from './scene.ts';

async function begin(line: ClientLine = clients[0], policy?: string): Promise<Scene> {
  const scene = await Scene.begin(line, policy === undefined ? {} : { policy });
  onTestFinished(() => scene.end());
  return scene;
}

/** An order as an agent writes it that no longer knows what it wrote before. */
type Order = ReturnType<Scene['order']>;
const withUrl = (order: Order, change: (url: string) => string): object => ({
  ...order,
  products: order.products.map(({ url }) => ({ url: change(url) })),
});

/** Ways to quote the same need again. */
const ways: Readonly<Record<string, (order: Order) => object>> = {
  'a lower ceiling': (order) => ({ ...order, max_price: 4900 }),
  'a higher ceiling': (order) => ({ ...order, max_price: 5001 }),
  'other metadata': (order) => ({ ...order, metadata: { cost_centre: '7' } }),
  'a PO number': (order) => ({ ...order, po_number: '4711' }),
  'a quantity': (order) => ({ ...order, products: order.products.map(({ url }) => ({ url, quantity: 2 })) }),
  '?utm=1': (order) => withUrl(order, (url) => `${url}?utm=1`),
  '?utm_source=chat': (order) => withUrl(order, (url) => `${url}?utm_source=chat`),
  'another spelling of the URL': (order) => withUrl(order, (url) => `${url.replace('http', 'HTTP')}/#top`),
  'another spelling of the address': (order) => ({
    ...order,
    shipping_address: { ...address, last_name: 'BYRON', state: 'Texas', phone_number: '+1 (512) 555-0100' },
  }),
  'a gift text': (order) => ({ ...order, is_gift: true, gift_message: 'for you' }),
  'a reference that it had not before': (order) => ({ ...order, reference: 'REQ-1' }),
};

describe.each(clients)('an agent that loses every response orders once (%s)', (line) => {
  const testInTurn = inTurn(line);

  testInTurn('where the order was placed, however it is quoted again, and after a restart', async () => {
    const scene = await begin(line);
    let agent = await scene.agent();
    const { order } = await agent.get('order_place', { quote: await scene.quote(agent) });
    for (const [way, change] of Object.entries(ways)) {
      if (way === '?utm=1') {
        await agent.close();
        agent = await scene.agent();
      }
      const quoted = await agent.get('order_quote', { ...change(scene.order()) });
      expect(quoted.existing, way).toMatchObject([{ order_id: order.id, state: 'placed', settled_by: null }]);
      expect(quoted.existing[0].age, way).toMatch(/ago|now/);
      expect(quoted.blocked, way).toContain(order.id);
      expect(quoted.warnings[0], way).toContain('new: true');
      const error = await agent.refused('order_place', { quote: quoted.quote });
      expect(error, way).toMatchObject({ category: 'conflict', code: 'repeated_order', outcome: 'applied' });
      expect(error.details, way).toMatchObject({ order_id: order.id, existing: [{ order_id: order.id }] });
    }
    expect(await scene.orders()).toHaveLength(1);
  });

  for (const [what, trouble] of [
    ['the service has it', { dropsResponse: true }],
    ['it never arrived', { dropsRequest: true }],
  ] as const)
    testInTurn(`where it is in doubt and ${what}, until the order in doubt is settled`, async () => {
      const scene = await begin(line);
      let agent = await scene.agent();
      const quote = await scene.quote(agent);
      scene.between.trouble = (request) => (request === 'POST /orders' ? trouble : undefined);
      expect(await agent.refused('order_place', { quote })).toMatchObject({ category: 'in_doubt' });
      await agent.close();
      agent = await scene.agent();
      let settling: Record<string, unknown> = {};
      for (const [way, change] of [...Object.entries(ways), ['new: true', isNew] as const]) {
        const quoted = await agent.get('order_quote', { ...change(scene.order()) });
        expect(quoted.existing, way).toMatchObject([
          { order_id: null, state: 'in_doubt', settled_by: { tool: 'order_place' } },
        ]);
        const error = await agent.refused('order_place', { quote: quoted.quote });
        expect(error, way).toMatchObject({
          category: 'conflict',
          code: 'order_in_doubt',
          outcome: 'unknown',
        });
        const { tool, quote: settles } = error.details.existing[0].settled_by;
        expect(tool).toBe('order_place');
        expect(error.hint).toContain(settles);
        settling = { quote: settles };
      }
      scene.between.trouble = () => undefined;
      const { order } = await agent.get('order_place', settling);
      expect(order.max_price).toBe(5000);
      expect((await agent.get('order_place', settling)).order.id).toBe(order.id);
      expect((await agent.get('order_place', { quote })).order.id).toBe(order.id);
      const later = await agent.get('order_quote', scene.order(4900));
      expect(later.existing).toMatchObject([
        { order_id: order.id, state: 'placed', differences: [{ field: 'max_price', existing: 5000 }] },
      ]);
      await agent.refused('order_place', { quote: later.quote });
      expect(await scene.orders()).toHaveLength(1);
    });

  testInTurn('where the same words are quoted again, which settles what is in doubt', async () => {
    const scene = await begin(line);
    const agent = await scene.agent();
    scene.between.trouble = (request) => (request === 'POST /orders' ? { dropsResponse: true } : undefined);
    await agent.refused('order_place', { quote: await scene.quote(agent) });
    scene.between.trouble = () => undefined;
    const quoted = await agent.get('order_quote', scene.order());
    expect(quoted).toMatchObject({ blocked: null, existing: [{ state: 'in_doubt' }] });
    expect(await agent.get('order_place', { quote: quoted.quote })).toMatchObject({ existed: true });
    expect(await scene.orders()).toHaveLength(1);
  });
});

const isNew = (order: Order): object => ({ ...order, new: true });

const place = async (agent: Agent, given: object) =>
  agent.get('order_place', { quote: (await agent.get('order_quote', { ...given })).quote });
const refusedPlace = async (agent: Agent, given: object) =>
  agent.refused('order_place', { quote: (await agent.get('order_quote', { ...given })).quote });

test('some of the same products are refused too; other people and variants are other orders', async () => {
  const scene = await begin();
  const agent = await scene.agent();
  const { order } = await place(agent, scene.order());
  const [product] = scene.order().products;
  const more = { products: [product, { url: scene.service.product('test-slow') }] };
  expect(await refusedPlace(agent, { ...scene.order(), ...more })).toMatchObject({
    code: 'order_overlaps',
    details: { order_id: order.id },
  });
  await place(agent, scene.orderFor('Annabella'));
  await place(agent, {
    ...scene.order(),
    products: [{ ...product, variant: [{ label: 'Size', value: 'L' }] }],
  });
  expect(await scene.orders()).toHaveLength(3);
});

test('what a row of an upload has ordered is not ordered again, before and after its order is known', async () => {
  const scene = await begin();
  const url = scene.service.product('test-success');
  const { first_name, last_name, address_line1, city, state, postal_code, phone_number } = address;
  const header = 'product_url,max_price,name,address_line1,city,state,postal_code,phone_number';
  const cells = [
    url,
    '$40',
    `${first_name} ${last_name}`,
    address_line1,
    city,
    state,
    postal_code,
    phone_number,
  ];
  writeFileSync(join(scene.workspace.folder, 'orders.csv'), `${header}\n${cells.join()}\n`);
  const agent = await scene.agent();
  scene.between.trouble = (request) => (request === 'POST /orders/bulk' ? { dropsRequest: true } : undefined);
  const lost = await scene.run(['bulk', 'upload', 'orders.csv', '--yes']);
  expect(lost.code, lost.stderr).toBe(10);
  const doubted = await agent.get('order_quote', scene.order(5000, { new: true }));
  expect(doubted.existing).toMatchObject([{ state: 'in_doubt', settled_by: null }]);
  const error = await agent.refused('order_place', { quote: doubted.quote });
  expect(error).toMatchObject({ code: 'order_in_doubt' });
  expect(error.for_a_person[0].command).toMatch(/^errand order journal resume \S+$/);
  scene.between.trouble = () => undefined;
  const settled = await scene.run(error.for_a_person[0].command.split(' ').slice(1));
  expect(settled.code, settled.stderr).toBe(0);
  expect(await refusedPlace(agent, scene.order())).toMatchObject({
    details: { existing: [{ order_id: null, state: 'unknown' }] },
  });
  scene.service.pass(60_000);
  const [order] = await scene.orders();
  expect(await refusedPlace(agent, scene.order())).toMatchObject({
    code: 'repeated_order',
    details: { existing: [{ order_id: order?.id, state: 'placed' }] },
  });
  expect(await scene.orders()).toHaveLength(1);
});

test('what a person has ordered is not ordered again by an agent, and the other way round', async () => {
  const scene = await begin();
  writeFileSync(join(scene.workspace.folder, 'order.json'), JSON.stringify(scene.order(5100)));
  const create = ['order', 'create', '--file', 'order.json', '-o', 'json'];
  const placed = await scene.run(create);
  expect(placed.code, placed.stderr).toBe(0);
  const agent = await scene.agent();
  expect(await refusedPlace(agent, scene.order())).toMatchObject({
    code: 'repeated_order',
    details: { order_id: JSON.parse(placed.stdout).id },
  });
  await place(agent, scene.orderFor('Annabella'));
  writeFileSync(
    join(scene.workspace.folder, 'order.json'),
    JSON.stringify(scene.orderFor('Annabella', 4000)),
  );
  expect(await scene.run(create)).toMatchObject({ code: 5 });
  expect(await scene.orders()).toHaveLength(2);
});

describe('an order by reference', () => {
  const named = { reference: 'REQ-1', namespace: 'shop' };

  test('is found at the service, whoever placed it, with what differs', async () => {
    const scene = await begin();
    const made = await scene.service.send('POST', '/orders', {
      ...scene.order(),
      metadata: { errand_reference: 'shop:REQ-1' },
    });
    const agent = await scene.agent();
    expect(await refusedPlace(agent, scene.order(5000, named))).toMatchObject({
      code: 'order_exists',
      details: { order_id: made.body.id, existing: [{ reference: 'shop:REQ-1', state: 'placed' }] },
    });
    const two = { products: [{ url: scene.service.product('test-success'), quantity: 2 }], ...named };
    expect(await refusedPlace(agent, { ...scene.order(), ...two })).toMatchObject({
      code: 'order_differs',
      details: { existing: [{ differences: [{ field: 'products.0.quantity', requested: 2, existing: 1 }] }] },
    });
    const elsewhere = { reference: 'REQ-1', namespace: 'other' };
    expect(await refusedPlace(agent, scene.order(5000, elsewhere))).toMatchObject({
      code: 'order_other_namespace',
    });
    await place(agent, scene.order(5000, { ...elsewhere, new: true }));
    expect(await scene.orders()).toHaveLength(2);
  });

  test('is one order where it is quoted twice before it is placed, by two servers at once too', async () => {
    const scene = await begin();
    const [agent, other] = await Promise.all([scene.agent(), scene.agent()]);
    const quotes = [
      await scene.quote(agent, 5000, named),
      await scene.quote(other, 5100, named),
      await scene.quote(agent, 5200, named),
    ];
    const told = await Promise.all([
      agent.call('order_place', { quote: quotes[0] }),
      other.call('order_place', { quote: quotes[1] }),
    ]);
    expect(told.filter(({ isError }) => !isError)).toHaveLength(1);
    expect(await agent.refused('order_place', { quote: quotes[2] })).toMatchObject({
      code: 'order_exists',
    });
    const [order] = await scene.orders();
    expect(order).toMatchObject({ metadata: { errand_reference: 'shop:REQ-1' } });
    expect(await scene.orders()).toHaveLength(1);
  });

  test('is ordered on a command line, whatever an agent has quoted', async () => {
    const scene = await begin();
    const agent = await scene.agent();
    const quote = await scene.quote(agent, 5000, named);
    writeFileSync(join(scene.workspace.folder, 'order.json'), JSON.stringify(scene.order(5100)));
    const create = ['order', 'create', '--file', 'order.json', '-o', 'json'];
    const { code, stdout, stderr } = await scene.run([
      ...create,
      ...['--reference', 'REQ-1', '--namespace', 'shop'],
    ]);
    expect(code, stderr).toBe(0);
    expect(await agent.refused('order_place', { quote })).toMatchObject({
      code: 'order_exists',
      details: { order_id: JSON.parse(stdout).id },
    });
    expect(await scene.orders()).toHaveLength(1);
  });

  test('that was cancelled is ordered again only where that is said', async () => {
    const scene = await begin();
    const agent = await scene.agent();
    const slow = (more: object) => scene.order(5000, more, 'test-slow');
    for (const reference of [{}, named]) {
      const first = await place(agent, slow(reference));
      await agent.get('order_cancel', { order_id: first.order.id });
      const error = await refusedPlace(agent, slow(reference));
      expect(error).toMatchObject({ category: 'conflict', code: 'order_cancelled' });
      expect(error.hint).toContain('again: true');
      const again = await place(agent, slow({ ...reference, again: true }));
      expect(again).toMatchObject({ existed: false });
      await agent.get('order_cancel', { order_id: again.order.id });
    }
    expect(await scene.orders()).toHaveLength(4);
  });

  test('that has failed is the next attempt, and the quote says so', async () => {
    const scene = await begin();
    const agent = await scene.agent();
    const failing = scene.order(5000, named, 'test-price-exceeded');
    await place(agent, failing);
    scene.service.pass(60_000);
    const quoted = await agent.get('order_quote', failing);
    expect(quoted).toMatchObject({ existing: [], blocked: null });
    expect(quoted.warnings[0]).toMatch(/^attempt 2; the first .+ failed: price/);
    await agent.get('order_place', { quote: quoted.quote });
    expect(await scene.orders()).toHaveLength(2);
  });

  test.each([
    [{ reference: ' ' }, 'reference is empty'],
    [{ namespace: 'shop' }, 'namespace needs reference'],
    [{ reference: 'R', namespace: 'a:b' }, 'namespace takes letters, digits'],
    [{ metadata: { errand_reference: 'R' } }, 'give it as reference'],
  ])('is refused as %j', async (more, message) => {
    const scene = await begin();
    const error = await (await scene.agent()).refused('order_quote', scene.order(5000, more));
    expect(error).toMatchObject({ category: 'usage', message: expect.stringContaining(message) });
  });
});

describe('another order with real money', () => {
  const limits = 'limits: { per_order: $100, per_day: $300 }';

  test('is refused where nobody can be asked', async () => {
    const scene = await begin(clients[0], limits);
    const agent = await scene.liveAgent();
    const { order } = await place(agent, scene.order());
    const error = await refusedPlace(agent, scene.order(5000, { new: true }));
    expect(error).toMatchObject({ category: 'policy', code: 'person_required', outcome: 'not_sent' });
    expect(error.message).toContain(order.id);
    expect(await scene.orders()).toHaveLength(1);
  });

  test.each(clients)('is placed once its user agrees, who sees the first one (%s)', async (line) => {
    const scene = await begin(line, limits);
    const agent = await scene.liveAgent({ says: 'yes' });
    const { order } = await place(agent, scene.order());
    expect(agent.asked[0]).toContain('Place this order with real money?');
    await refusedPlace(agent, scene.order());
    expect(agent.asked).toHaveLength(1);
    await place(agent, scene.order(5000, { new: true }));
    expect(agent.asked[1]).toContain('Place ANOTHER order with real money?');
    expect(agent.asked[1]).toContain(order.id);
    const unwilling = await scene.liveAgent({ says: 'no' });
    expect(await refusedPlace(unwilling, scene.order(5000, { new: true }))).toMatchObject({
      code: 'declined',
    });
    expect(await scene.orders()).toHaveLength(2);
  });

  test('is placed once a person has approved it', async () => {
    const duplicates = 'duplicates: { same: [product, address], within: 7d, then: approve }';
    const scene = await begin(clients[0], `${limits}\n${duplicates}\napprovers: [ada.pub]`);
    const key = makeKey(scene.workspace, 'ada');
    const folder = join(scene.workspace.folder, '.config');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'ada.pub'), readFileSync(`${key}.pub`, 'utf8'), { mode: 0o600 });
    const agent = await scene.liveAgent();
    await place(agent, scene.order());
    const { quote } = await agent.get('order_quote', scene.order(5000, { new: true }));
    const { details } = await agent.refused('order_place', { quote });
    const approved = await scene.runLive(['approval', 'approve', details.approval.id, '--key', key]);
    expect(approved.code, approved.stderr).toBe(0);
    await agent.get('order_place', { quote });
    expect(await scene.orders()).toHaveLength(2);
  });
});

describe('an agent whose order is in doubt, and quotes it again', () => {
  async function inDoubt(policy?: string): Promise<{ scene: Scene; agent: Agent }> {
    const scene = await begin(clients[0], policy);
    const agent = await scene.agent();
    const quote = await scene.quote(agent);
    scene.between.trouble = (request) => (request === 'POST /orders' ? { dropsResponse: true } : undefined);
    expect(await agent.refused('order_place', { quote })).toMatchObject({ category: 'in_doubt' });
    scene.between.trouble = () => undefined;
    return { scene, agent };
  }

  test('is told so under a limit that has no room for another, and settles it', async () => {
    const { scene, agent } = await inDoubt('limits: { per_day: $60 }');
    const { quote, existing, blocked } = await agent.get('order_quote', scene.order());
    expect([existing, blocked]).toEqual([[expect.objectContaining({ state: 'in_doubt' })], null]);
    const [{ id } = { id: '' }, ...more] = await scene.orders();
    expect(more).toEqual([]);
    expect((await agent.get('order_place', { quote })).order.id).toBe(id);
    expect(await scene.orders()).toHaveLength(1);
  });

  test('is told that it was cancelled since, and orders nothing', async () => {
    const { scene, agent } = await inDoubt();
    const [{ id } = { id: '' }] = await scene.orders();
    const { quote } = await agent.get('order_quote', scene.order());
    expect((await scene.service.send('POST', `/orders/${id}/cancel`)).status).toBe(204);
    expect(await agent.refused('order_place', { quote })).toMatchObject({
      category: 'conflict',
      details: { existing: [{ order_id: id, state: 'cancelled' }] },
    });
    expect(await scene.orders()).toHaveLength(1);
  });
});
