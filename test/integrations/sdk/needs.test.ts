import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { makeKey } from '../../support/approval-workspace.ts';
import { orderBody } from '../../support/order-body.ts';
import { packedProject } from '../../support/packed.ts';
import { shell } from '../../support/run.ts';
import { type Shopping, shopping } from '../../support/shopping.ts';
import { type Ended, programsOf } from './programs.ts';

const project = packedProject();
afterAll(() => project.remove());
const runProgram = programsOf(project);

let shop: Shopping;
let environment: Record<string, string>;

beforeEach(async () => {
  shop = await shopping();
  environment = {
    SERVICE: shop.service.baseUrl,
    KEY: shop.service.key,
    FOLDER: join(shop.workspace.folder, '.journal'),
    ORDER: JSON.stringify(orderBody(shop.service.product('test-success'))),
  };
});

/** Functions of the programs below, which tell what became of a call. */
const placing = `
  const place = (body, options) => failure(placeOrder(client, journal, body, options));
  const outcome = ({ value, name, facts, orders, differences, exitCode }) => value
    ? [value.existed, value.order.id]
    : [name, exitCode, facts.code, orders?.map(({ id }) => id), differences?.map(({ field }) => field)];
`;
const run = (source: string, more: Record<string, string> = {}, until?: string): Promise<Ended> =>
  runProgram(placing + source, { ...shop.workspace.environment, ...environment, ...more }, until);
/** A machine with a journal of its own. */
const elsewhere = () => ({ FOLDER: join(shop.workspace.folder, '.elsewhere') });
const product = (slug: string) => ({ ORDER: JSON.stringify(orderBody(shop.service.product(slug))) });

describe('placeOrder by a reference', () => {
  test('is one order, from whichever machine and at whatever ceiling', async () => {
    const source = `tell(outcome(await place({ ...order, max_price: order.max_price + MORE }, { reference: ' REQ-1 ', namespace: 'shop' })));`;
    const first = await run(source.replace('MORE', '0'));
    expect([first.told, first.stderr]).toEqual([[[false, expect.any(String)]], '']);
    const again = await run(source.replace('MORE', '0'));
    const there = await run(source.replace('MORE', '100'), elsewhere());
    const [{ id } = { id: '' }, ...more] = await shop.orders();
    expect(more).toEqual([]);
    expect([again.told, there.told]).toEqual([[[true, id]], [[true, id]]]);
    const { body } = await shop.service.send('GET', `/orders/${id}`);
    expect(body.metadata).toEqual({ errand_reference: 'shop:REQ-1' });
  });

  test('with other products, quantities or recipient is refused with the differences', async () => {
    const source = `
      const more = { ...order, products: [{ ...order.products[0], quantity: 2 }] };
      const failed = await place(more, { reference: 'REQ-1' });
      tell(failed);
      tell(outcome(await place(order, { reference: 'REQ-1' })));`;
    await run(`await placeOrder(client, journal, order, { reference: 'REQ-1' });`);
    const [{ id } = { id: '' }] = await shop.orders();
    for (const more of [{}, elsewhere()]) {
      const { told } = await run(source, more);
      expect(told).toEqual([
        expect.objectContaining({
          name: 'DuplicateError',
          category: 'conflict',
          exitCode: 5,
          orders: [{ id, status: 'pending', createdAt: expect.any(String), ageMs: expect.any(Number) }],
          differences: [{ field: 'products.0.quantity', requested: 2, existing: 1 }],
          facts: expect.objectContaining({
            code: 'reference_differs',
            outcome: 'applied',
            hint: 'Another order takes another `reference`.',
          }),
        }),
        [true, id],
      ]);
    }
    expect(await shop.orders()).toHaveLength(1);
  });

  test('after a cancellation it is bought again only with `again`, and after a failure without', async () => {
    const { told, stderr } = await run(
      `
      const named = { reference: 'REQ-1' };
      const { order: first } = await placeOrder(client, journal, order, named);
      await client.call('order.cancel', { path: { order_id: first.id } });
      tell(outcome(await place(order, named)).slice(0, 3));
      const again = await placeOrder(client, journal, order, { ...named, again: true });
      tell([again.existed, again.order.id !== first.id, again.notes.some((note) => note.startsWith('attempt 2; '))]);
      tell((await placeOrder(client, journal, order, { ...named, again: true })).existed);`,
      product('test-slow'),
    );
    expect([told, stderr]).toEqual([
      [['DuplicateError', 5, 'reference_cancelled'], [false, true, true], true],
      '',
    ]);
    const failing = product('test-out-of-stock');
    const named = `tell((await placeOrder(client, journal, order, { reference: 'REQ-2' })).existed);`;
    expect((await run(named, failing)).told).toEqual([false]);
    shop.service.pass(3600 * 1000);
    expect((await run(named, { ...failing, ...elsewhere() })).told).toEqual([false]);
    expect(await shop.orders()).toHaveLength(4);
  });

  test('is one order for many calls at once, in one process and in several', async () => {
    const source = `
      const all = await Promise.all(Array.from({ length: 4 }, () => placeOrder(client, journal, order, { reference: 'REQ-1' })));
      tell([...new Set(all.map(({ order }) => order.id))]);
      await journal.close();`;
    const ended = await Promise.all([run(source), run(source), run(source, elsewhere())]);
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, '']));
    expect(new Set(ended.flatMap(({ told }) => told.flat())).size).toBe(1);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('killed between the request and its response it is one order, here and on another machine', async () => {
    const killed = await run(
      `placeOrder(deaf(() => { console.log('"sent"'); return new Promise(() => {}); }), journal, order, { reference: 'REQ-1' }); setInterval(() => {}, 1000);`,
      {},
      'sent',
    );
    expect(killed.told).toEqual(['sent']);
    const source = `tell(outcome(await place(order, { reference: 'REQ-1' }))); tell(journal.unsettled().length);`;
    const there = await run(source, elsewhere());
    const here = await run(source);
    const [{ id } = { id: '' }, ...more] = await shop.orders();
    expect([there.told, here.told, more]).toEqual([[[true, id], 0], [[true, id], 0], []]);
  });
});

describe('placeOrder by likeness', () => {
  test('refuses what was ordered within the window, with the earlier order and what differs', async () => {
    const { told, stderr } = await run(`
      tell(outcome(await place(order)));
      tell(await place(order));
      tell(outcome(await place({ ...order, max_price: order.max_price + 100 })));
      tell(outcome(await place({ ...order, products: [{ url: order.products[0].url + '?utm_source=x', quantity: 2 }], po_number: '7' })));
      tell(outcome(await place({ ...order, shipping_address: { ...order.shipping_address, first_name: 'ADA', phone_number: '+1 (512) 555-0100' } })));
      tell(outcome(await place({ ...order, shipping_address: { ...order.shipping_address, first_name: 'Grace' } })));
      tell(outcome(await place(order, { new: true })));
      tell(outcome(await place(order, { reference: 'REQ-1' })));`);
    const id = String(Object(told[0])[1]);
    expect(stderr).toBe('');
    expect(told).toEqual([
      [false, id],
      expect.objectContaining({
        name: 'DuplicateError',
        category: 'conflict',
        exitCode: 5,
        message: expect.stringContaining(`: ${id} (waiting); no`),
        orders: [{ id, status: 'pending', createdAt: expect.any(String), ageMs: expect.any(Number) }],
        differences: [],
        facts: expect.objectContaining({
          code: 'duplicate_alike',
          outcome: 'applied',
          hint: expect.stringContaining('`new: true`'),
        }),
      }),
      ['DuplicateError', 5, 'duplicate_alike', [id], ['max_price']],
      ['DuplicateError', 5, 'duplicate_alike', [id], expect.arrayContaining(['products.0.quantity'])],
      ['DuplicateError', 5, 'duplicate_alike', [id], []],
      [false, expect.any(String)],
      [false, expect.any(String)],
      [false, expect.any(String)],
    ]);
    expect(await shop.orders()).toHaveLength(4);
    shop.service.pass(11 * 60_000);
    expect((await run(`tell((await placeOrder(client, journal, order)).existed);`)).told).toEqual([false]);
  });

  test('a key of the caller’s own is a name, and no order of another key is compared with it', async () => {
    const { told } = await run(`
      for (const idempotency_key of ['a', 'b', 'a']) tell((await placeOrder(client, journal, { ...order, idempotency_key })).existed);
      tell(outcome(await place(order))[2]);`);
    expect(told).toEqual([false, false, true, 'duplicate_alike']);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('after a cancellation it is bought again only with `again`, and after a failure without', async () => {
    const { told } = await run(
      `
      const { order: first } = await placeOrder(client, journal, order);
      await client.call('order.cancel', { path: { order_id: first.id } });
      tell(outcome(await place(order)).slice(0, 4).concat(first.id));
      tell((await placeOrder(client, journal, order, { again: true })).existed);`,
      product('test-slow'),
    );
    const [refused] = told.map((one) => Object(one));
    expect(told).toEqual([['DuplicateError', 5, 'duplicate_cancelled', [refused[4]], refused[4]], false]);
    const failing = product('test-out-of-stock');
    await run('await placeOrder(client, journal, order);', failing);
    shop.service.pass(5 * 60_000);
    expect((await run(`tell((await placeOrder(client, journal, order)).existed);`, failing)).told).toEqual([
      false,
    ]);
  });

  test('the same call settles what is in doubt, and other content finds it there', async () => {
    const { told, stderr } = await run(`
      const doubt = await placeOrder(deaf(), journal, order).catch((error) => error);
      const { idempotencyKey: key, outcome: unknown } = doubt.facts;
      tell([doubt instanceof InDoubtError, unknown, journal.unsettled().length === 1, journal.unsettled()[0].key === key]);
      const other = await placeOrder(client, journal, { ...order, max_price: order.max_price + 100 }).catch((error) => error);
      tell([other instanceof InDoubtError, other.facts.idempotencyKey === key, other.facts.outcome]);
      const settled = await placeOrder(client, journal, order);
      tell([settled.existed, journal.unsettled().length]);
      tell(outcome(await place(order)).slice(2, 4).concat(settled.order.id));`);
    expect(stderr).toBe('');
    const id = String(Object(told[3])[2]);
    expect(told).toEqual([
      [true, 'unknown', true, true],
      [true, true, 'unknown'],
      [true, 0],
      ['duplicate_alike', [id], id],
    ]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('killed between the request and its response it is one order, by the same call or by its key', async () => {
    const killed = () =>
      run(
        `placeOrder(deaf(() => { console.log('"sent"'); return new Promise(() => {}); }), journal, order, { new: true }); setInterval(() => {}, 1000);`,
        {},
        'sent',
      );
    await killed();
    const again = await run(
      `tell([(await placeOrder(client, journal, order)).existed, journal.unsettled().length]);`,
    );
    expect(again.told).toEqual([[true, 0]]);
    await killed();
    const resumed = await run(
      `const [{ key }] = journal.unsettled(); tell([(await resumeOrder(client, journal, key)).existed, journal.unsettled().length]);`,
    );
    expect(resumed.told).toEqual([[true, 0]]);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('of many calls at once one is placed, and the others learn of it', async () => {
    const source = `
      const all = await Promise.all(Array.from({ length: 4 }, () => place(order)));
      for (const one of all) tell(outcome(one).slice(0, 3));
      await journal.close();`;
    const ended = await Promise.all([run(source), run(source), run(source)]);
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, '']));
    const told = ended.flatMap((one) => one.told.map(Object));
    expect(told.filter(([existed]) => existed === false)).toHaveLength(1);
    expect(
      told.filter(([name, , code]) => name === 'DuplicateError' && code === 'duplicate_alike'),
    ).toHaveLength(11);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('an approval is the order’s, and the same call goes through once it was said', async () => {
    const key = makeKey(shop.workspace, 'ada');
    const file = join(shop.workspace.folder, 'policy.yaml');
    writeFileSync(file, 'version: 1\napprove: { above: $1 }\napprovers: [ada.pub]\n', { mode: 0o600 });
    for (const options of ['{}', "{ reference: 'REQ-1' }"]) {
      const source = `tell(await failure(placeOrder(client, journal, order, ${options})));`;
      const [error] = (await run(source, { POLICY: file })).told;
      expect(error).toMatchObject({ name: 'PolicyError', verdict: 'needs_approval' });
      const commands = error?.facts?.next.map(({ command }) => command) ?? [];
      const approve = commands.find((command) => command.includes('approval approve')) ?? '';
      const approved = await shell(shop.workspace, approve.replace('~/.ssh/id_ed25519', key));
      expect(approved.code, approved.stderr).toBe(0);
      const [placed] = (await run(source, { POLICY: file })).told;
      expect(placed).toMatchObject({ value: { existed: false } });
    }
    expect(await shop.orders()).toHaveLength(2);
  });
});

describe('options of placeOrder', () => {
  test.each([
    [{ reference: ' ' }, {}, /^reference is empty/],
    [{ reference: 'R', new: true }, {}, /^new and reference exclude each other/],
    [{ again: true, new: true }, {}, /^again and new exclude each other/],
    [{ namespace: 'shop' }, {}, /^namespace needs a reference/],
    [{ reference: 'R', namespace: 'a:b' }, {}, /^namespace takes letters/],
    [{ reference: 'R' }, { idempotency_key: 'k' }, /^idempotency_key and reference exclude each other/],
    [{ again: true }, { idempotency_key: 'k' }, /^idempotency_key and again exclude each other/],
    [{ new: true }, { idempotency_key: 'k' }, /^idempotency_key and new exclude each other/],
    [{ reference: 5 }, {}, /^reference of placeOrder takes the name/],
    [{ refrence: 'R' }, {}, /did you mean "reference"/],
    [
      {},
      { metadata: { errand_reference: 'R' } },
      /^metadata: errand_reference is where the reference travels/,
    ],
  ])('%j with %j', async (options, more, message) => {
    const { told } = await run(
      `tell(await place({ ...order, ...${JSON.stringify(more)} }, ${JSON.stringify(options)}));`,
    );
    expect(told).toEqual([
      expect.objectContaining({ name: 'UsageError', message: expect.stringMatching(message) }),
    ]);
    expect(await shop.orders()).toEqual([]);
  });
});

describe('a sandbox of the same process', () => {
  test.each(['0', 'false'])('takes one order fifty times (port: %s), at once too', async (port) => {
    const { told, stderr } = await run(`
      import { startSandbox } from 'errand/sandbox';
      const sandbox = await startSandbox({ port: ${port}, clock: new Date('2026-03-01T12:00:00Z') });
      const here = createClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey, transport: sandbox.fetch });
      await sandbox.trigger('wallet-funded', { amount: 1_000_000 });
      const { idempotency_key: _, ...body } = sandbox.exampleOrder;
      for (let at = 0; at < 25; at += 1) await placeOrder(here, journal, body);
      await Promise.all(Array.from({ length: 25 }, () => placeOrder(here, journal, body)));
      const { body: { total } } = await here.call('order.list', { query: {} });
      tell(total);
      const named = async () => placeOrder(here, journal, body, { reference: 'REQ-1' });
      tell([(await named()).existed, (await named()).existed]);
      await sandbox.advance('31d');
      tell(outcome(await failure(named())).slice(0, 3));
      await sandbox.close();`);
    expect([told, stderr]).toEqual([[50, [false, true], ['DuplicateError', 5, 'reference_old']], '']);
  });

  test('and raw calls of any client stay raw', async () => {
    const { told } = await run(`
      await placeOrder(client, journal, order);
      for (let at = 0; at < 2; at += 1) tell((await client.call('order.create', { body: order })).body.status);`);
    expect(told).toHaveLength(2);
    expect(await shop.orders()).toHaveLength(3);
  });
});
