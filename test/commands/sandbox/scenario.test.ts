import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { errand, type Finished, shell } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const now = '2026-11-02T09:00:00.000Z';
const key = 'sbx_test_spelledInTheScenario';
const order = { ...orderBody('{shop_url}/test-success'), max_price: 2500 };

/** JSON is a subset of YAML. */
function write(scenario: object, name = 'shop.yaml'): string {
  writeFileSync(join(workspace.folder, name), JSON.stringify({ version: 1, ...scenario }, null, 1));
  return name;
}

const still = { clock: { now, frozen: true } };
const states = [
  'pending',
  'in_progress',
  'order_placed',
  'in_transit',
  'delivered',
  'available_for_pickup',
  'undeliverable',
  'order_failed',
  'cancelled',
  'cancelled_by_retailer',
];

const exec = (file: string, ...args: readonly string[]): Promise<Finished> =>
  errand(workspace, ['sandbox', 'exec', '--scenario', file, ...args]);

/** Runs a command within a scenario and parses its output. */
async function read(file: string, ...args: readonly string[]): Promise<unknown> {
  const { stdout, stderr, code } = await exec(file, '--', 'errand', ...args, '-o', 'json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

test('orders stand in their states, each with the history, the parcels and the ledger of its own life', async () => {
  const file = write({
    ...still,
    keys: [{ name: 'buyer', balance: 500_000 }],
    orders: states.flatMap((state) => [
      { order, state },
      { order, state, created: '-2d' },
    ]),
  });
  const orders = (await read(file, 'order', 'list', '--limit', '50', '--include', 'tracking_events')) as {
    status: string;
    created_at: string;
    job_result: { success: boolean } | null;
    tracking_numbers: { status: string; checkpoints: { checkpoint_time: string }[] }[];
  }[];
  const stateOf = ({ status, tracking_numbers: [parcel] }: (typeof orders)[number]): string =>
    status === 'order_placed' && parcel && parcel.status !== 'pending' ? parcel.status : status;
  expect(orders.map(stateOf).toSorted()).toEqual([...states, ...states].toSorted());
  expect(orders.filter((one) => one.created_at === '2026-10-31T09:00:00.000Z')).toHaveLength(states.length);
  for (const one of orders) {
    const times = one.tracking_numbers.flatMap(({ checkpoints }) =>
      checkpoints.map((checkpoint) => checkpoint.checkpoint_time),
    );
    expect(times.every((time) => time >= one.created_at && time <= now)).toBe(true);
  }
  const { balance, spendable_balance: spendable } = (await read(file, 'wallet')) as {
    balance: number;
    spendable_balance: number;
  };
  const bought = orders.filter(
    ({ job_result: result, status }) => result?.success && status === 'order_placed',
  );
  const back = orders.filter(({ status }) => status === 'cancelled_by_retailer');
  const open = orders.filter(({ status }) => status === 'pending' || status === 'in_progress');
  expect(balance).toBe(500_000 - bought.length * (1999 + 100) - back.length * 100);
  expect(balance - spendable).toBe(open.length * (2500 + 100));
});

test('a scenario has returns, accounts, batches, listings, funding, webhooks, faults and a clock that goes on', async () => {
  const file = write({
    clock: { now, speed: 50 },
    faults: ['503@GET /usage'],
    keys: [
      { name: 'buyer', key, email: 'ada@example.com', balance: 0, funded: [{ at: '-3d', amount: 90_000 }] },
      { name: 'other', balance: 1_234 },
    ],
    listings: [{ retailer: 'harborgoods', title: 'Blue Enamel Kettle', price: 3900, stock: 2 }],
    accounts: [
      { name: 'mine', email: 'ada@example.com', retailer: 'membersbarn', password: 'x', forwarded: '-1h' },
    ],
    orders: [{ name: 'first', order, created: '-1d', state: 'delivered' }],
    returns: [{ name: 'back', order: 'first', reason: 'damaged', state: 'credited' }],
    batches: [
      {
        created: '-1h',
        rows: [
          {
            product_url: '{shop_url}/test-success',
            max_price: 2500,
            name: 'Ada Example',
            address1: '1 Main Street',
            city: 'Austin',
            state: 'TX',
            zip: '78701',
            phone: '5125550100',
          },
          { product_url: 'nowhere' },
        ],
      },
    ],
  });
  const line = [
    'echo $ERRAND_API_KEY',
    'errand return list -o json --query [].[status,credited_amount]',
    'errand account list -o json --query [].[retailer,has_forwarding]',
    'errand bulk list -o json --query [].[status,placed_count,failed_count]',
    "errand search 'enamel kettle' -o json --query [0].[title,price]",
    'errand wallet -o json --query balance',
    'errand usage --retries 0 || echo $?',
  ].join('; ');
  const { stdout } = await exec(file, '--', 'sh', '-c', line);
  expect(stdout.replaceAll(/\s+/g, '')).toBe(
    `${key}[["credited",1999]][["membersbarn",true]][["completed",1,1]]["BlueEnamelKettle",3900]${90_000 - 2 * 2099 + 1999}9`,
  );
});

test('sandbox serve begins with it, says its keys, and keeps it where --data names a new file', async () => {
  const file = write({
    ...still,
    keys: [{ name: 'buyer', key }],
    orders: [{ name: 'first', order, state: 'delivered' }],
  });
  const kept = ['--scenario', file, '--data', 'kept.db'];
  const { url, pid } = await serveAt(workspace, ...kept);
  const list = async (base: string): Promise<unknown> =>
    (await fetch(`${base}/orders`, { headers: { authorization: `Bearer ${key}` } })).json();
  const before = await list(url);
  expect(before).toMatchObject({ total: 1, orders: [{ status: 'order_placed' }] });
  process.kill(pid, 'SIGTERM');
  const again = await serveAt(workspace, '--data', 'kept.db');
  expect(JSON.stringify(await list(again.url)).replaceAll(again.url, url)).toBe(JSON.stringify(before));
  const refused = await errand(workspace, ['sandbox', 'serve', '--port', '0', ...kept]);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('kept.db has keys and orders already; nothing was changed');
});

test('sandbox serve that refuses it leaves no file behind', async () => {
  const file = write({ ...still, orders: [{ order, state: 'delivered', created: now }] });
  const before = readdirSync(workspace.folder);
  const refused = await errand(workspace, [
    ...['sandbox', 'serve', '--port', '0', '--scenario', file, '--data', 'new.db'],
  ]);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('is delivered, but by its own life it is pending');
  expect(readdirSync(workspace.folder).filter((name) => !before.includes(name))).toEqual([]);
});

describe('what is wrong is told with its line and its field', () => {
  const wrong = (text: string): Promise<Finished> => {
    writeFileSync(join(workspace.folder, 'wrong.yaml'), text);
    return exec('wrong.yaml', '--', 'true');
  };

  test.each([
    ['version: 2\n', 'wrong.yaml, line 1, version: '],
    ['version: 1\ntitel: x\n', 'wrong.yaml, line 2, titel: is not known here'],
    ['version: 1\nclock:\n  frozen: true\n', 'line 3, clock.frozen: needs clock.now'],
    ['version: 1\nkeys:\n  - name: a\n    balance: 12.50\n', 'line 4, keys[1].balance: write whole cents'],
    [
      'version: 1\nkeys:\n  - name: a\n  - name: a\n',
      'line 4, keys[2].name: "a" names something else already',
    ],
    ['version: 1\nfaults:\n  - explode\n', 'line 3, faults[1]: is not a fault'],
    [
      'version: 1\nlistings:\n  - { retailer: nobody, title: x, price: 1 }\n',
      'line 3, listings[1].retailer: there is no retailer "nobody"',
    ],
    ['version: 1\nexpect:\n  - { order: a, return: b }\n', 'line 3, expect[1]: a check is one of'],
    [
      'version: 1\nkeys:\n  - { name: a, id: 11111111-1111-4111-8111-11111111111a }\n  - { name: b, id: 11111111-1111-4111-8111-11111111111A }\n',
      'line 4, keys[2].id: is that of another of the keys already',
    ],
    [
      'version: 1\nsteps:\n  - { cancel: ghost }\n',
      'line 3, steps[1].cancel: no order is called "ghost" by then',
    ],
    [
      'version: 1\nsteps:\n  - { request: "GET /usage", as: use }\n  - { request: "GET /orders/{nope}" }\n',
      'line 4, steps[2].request: nothing is called "nope" by then; names are use',
    ],
    [
      'version: 1\nsteps:\n  - { upload: { rows: [{ product_url: x }] }, as: table }\nexpect:\n  - { order: table, state: delivered }\n',
      'line 5, expect[1].order: no order is called "table" by then; names are none',
    ],
    [
      'version: 1\nreturns:\n  - { order: ghost, reason: damaged }\n',
      'line 3, returns[1].order: no order is called "ghost" by then',
    ],
    [
      'version: 1\nexpect:\n  - { wallet: ghost, body: {} }\n',
      'line 3, expect[1].wallet: there is no key "ghost"',
    ],
    [
      `version: 1\norders:\n  - ${JSON.stringify({ state: 'delivered', error_type: 'out_of_stock', order })}\n`,
      'line 3, orders[1].error_type: belongs to state order_failed',
    ],
    ['- 1\n', 'wrong.yaml holds no scenario'],
    ['a: [\n', 'wrong.yaml, line '],
  ])('%j', async (text, said) => {
    const { code, stdout, stderr } = await wrong(text);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(said);
  });

  test('a history that cannot have been', async () => {
    const file = write({
      ...still,
      keys: [
        { name: 'late', created: '-1d', funded: [{ at: '-2d', amount: 100 }] },
        { name: 'poor', created: '-3d', balance: 500, funded: [{ at: '-1h', amount: -1500 }] },
      ],
      orders: [
        { name: 'first', key: 'poor', order: { ...order, max_price: 100 }, created: '-1d' },
        { key: 'late', order, created: '-1d', events: [{ at: '-2d', event: 'placed' }] },
      ],
      returns: [{ order: 'first', created: '-2d', reason: 'damaged' }],
    });
    const { code, stderr } = await exec(file, '-o', 'json', '--', 'true');
    expect(code).toBe(2);
    const { problems } = JSON.parse(stderr).error.details;
    const told = problems.map(({ field, message }: { field: string; message: string }) => [
      field.replace(/^line \d+, /, ''),
      message,
    ]);
    expect(told).toContainEqual(['keys[1].funded[1]', 'lies before its key was created']);
    expect(told).toContainEqual(['orders[2].events[1]', 'lies before its order was created']);
    expect(told).toContainEqual(['returns[1].created', 'lies before its order was created']);
    expect(told).toContainEqual(['keys[2].funded', 'takes out 1000 cents more than the wallet had']);
  });

  test('two orders with one id are refused before a thing is played', async () => {
    const id = '11111111-1111-4111-8111-111111111111';
    const file = write({
      ...still,
      orders: [
        { id, order },
        { id, order },
      ],
    });
    const { code, stderr } = await exec(file, '--', 'true');
    expect(code).toBe(2);
    expect(stderr).toContain('orders[2].id: is that of another of the orders already');
    expect(stderr).not.toContain('internal_error');
  });

  test('a state that an order cannot come to, an order that is refused, and all others at once', async () => {
    const file = write({
      ...still,
      orders: [
        { order: { ...order, products: [{ url: '{shop_url}/test-out-of-stock' }] }, state: 'delivered' },
        { order: { ...order, products: [{ url: '{shop_url}/test-invalid-address' }] } },
        { order, created: '2026-11-03T09:00:00Z' },
      ],
    });
    const { code, stderr } = await exec(file, '-o', 'json', '--', 'true');
    expect(code).toBe(2);
    const { problems } = JSON.parse(stderr).error.details;
    expect(problems.map(({ line: _, ...one }: { line: number }) => one)).toEqual([
      expect.objectContaining({
        path: ['orders', 1, 'order'],
        message: expect.stringMatching(/^invalid_shipping_address: /),
      }),
      expect.objectContaining({
        path: ['orders', 2],
        message: expect.stringContaining('lies after clock.now'),
      }),
      expect.objectContaining({
        path: ['orders', 0, 'state'],
        message: expect.stringContaining(
          'is delivered, but by its own life it is order_failed (out_of_stock)',
        ),
      }),
    ]);
  });
});

describe('environment variables in a scenario', () => {
  const variable = (name: string) => `\${env:${name}}`;
  const play = async (description: string, more: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await shell(
      workspace,
      `cat > env.yaml <<'END'\nversion: 1\ndescription: "${description}"\nexpect:\n  - { wallet: default, body: { balance: 100000 } }\nEND\n${Object.entries(
        more,
      )
        .map(([name, value]) => `export ${name}='${value}'\n`)
        .join('')}errand sandbox test env.yaml --report junit=env.xml && cat env.xml`,
    );
    return { code, stdout, stderr };
  };

  test('are filled in as texts', async () => {
    const { code, stdout } = await play(`run ${variable('RUN')} of ${variable('JOB')}`, {
      RUN: '17',
      JOB: 'a<b',
    });
    expect(code).toBe(0);
    expect(stdout).toContain('run 17 of a&lt;b');
  });

  test('are refused with their line where they are not set, or hold a secret', async () => {
    expect(await play(variable('NOT_SET'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'env.yaml, line 2, description: the environment variable NOT_SET is not set',
      ),
    });
    const { code, stdout, stderr } = await play(variable('ERRAND_API_KEY'), { ERRAND_API_KEY: 'sbx_test_1' });
    expect([code, stdout.includes('sbx_test_1')]).toEqual([2, false]);
    expect(stderr).toContain('holds a secret, which no scenario reads');
  });
});
