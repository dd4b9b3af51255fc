import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../src/integrations/sdk/index.ts';
import { openJournal, placeOrder } from '../../../src/integrations/sdk/safely.ts';
import { startSandbox } from '../../../src/integrations/sdk/sandbox.ts';
import { address, orderBody } from '../../support/order-body.ts';
import { type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace } from '../../support/workspace.ts';

/** People for whom what looks alike is not: each says how many orders come of what they do, without a question. */
interface Situation {
  readonly orders: number;
  /** Commands in the order in which they are typed. */
  commands(shop: Shopping): readonly (readonly string[])[];
}

const row = (shop: Shopping, name: string, more: readonly string[] = []): string =>
  [
    ...[shop.service.product('test-success'), '50.00', name, address.address_line1, address.city],
    ...[address.state, address.postal_code, address.phone_number],
    ...more,
  ].join();

const headings = 'product_url,max_price,name,address,city,state,zip,phone';

function file(shop: Shopping, name: string, heading: string, rows: readonly string[]): string {
  writeFileSync(join(shop.workspace.folder, name), [heading, ...rows, ''].join('\n'));
  return name;
}

const create = ['order', 'create', '--file', 'order.json'];

const situations: readonly (readonly [string, Situation])[] = [
  [
    'a household with two equal orders in one file, uploaded twice',
    {
      orders: 2,
      commands(shop) {
        const name = file(shop, 'orders.csv', headings, [row(shop, 'Ada Byron'), row(shop, 'Ada Byron')]);
        return [
          ['bulk', 'upload', name],
          ['bulk', 'upload', name],
        ];
      },
    },
  ],
  [
    'two people at one address',
    {
      orders: 2,
      commands(shop) {
        const rows = [row(shop, 'Ada Byron'), row(shop, 'Annabella Byron')];
        return [['bulk', 'upload', file(shop, 'orders.csv', headings, rows)]];
      },
    },
  ],
  [
    'a gift for another person at the same address, ordered singly',
    {
      orders: 2,
      commands(shop) {
        const gift = orderBody(shop.service.product('test-success'));
        const to = { ...gift, shipping_address: { ...address, first_name: 'Annabella' } };
        writeFileSync(join(shop.workspace.folder, 'gift.json'), JSON.stringify(to));
        return [create, ['order', 'create', '--file', 'gift.json']];
      },
    },
  ],
  [
    'an office that orders the same every week, with --run',
    {
      orders: 6,
      commands(shop) {
        const name = file(shop, 'orders.csv', headings, [row(shop, 'Ada Byron'), row(shop, 'Ben Byron')]);
        return [1, 2, 3].map((week) => ['bulk', 'upload', name, '--run', `week-${week}`]);
      },
    },
  ],
  [
    'an office that orders the same every week, with references',
    { orders: 3, commands: () => [1, 2, 3].map((week) => [...create, '--reference', `week-${week}`]) },
  ],
  [
    'two shops that number their orders alike',
    {
      orders: 2,
      commands: ({ service, workspace: { folder } }) => {
        const other = orderBody(service.product('test-two-packages'));
        writeFileSync(join(folder, 'other.json'), JSON.stringify(other));
        const named = ['--reference', '#1001', '--namespace'];
        return [
          [...create, ...named, 'north'],
          ['order', 'create', '--file', 'other.json', ...named, 'south'],
        ];
      },
    },
  ],
  [
    'another variant of one product',
    {
      orders: 2,
      commands({ service, workspace: { folder } }) {
        const url = service.product('test-success');
        for (const value of ['M', 'L']) {
          const products = [{ url, variant: [{ label: 'Size', value }] }];
          writeFileSync(join(folder, `${value}.json`), JSON.stringify({ ...orderBody(url), products }));
        }
        return ['M', 'L'].map((value) => ['order', 'create', '--file', `${value}.json`]);
      },
    },
  ],
  [
    'a script that orders in a loop with keys of its own',
    {
      orders: 5,
      commands: () => [1, 2, 3, 4, 5].map((number) => [...create, '--idempotency-key', `loop-${number}`]),
    },
  ],
  [
    'a script that orders in a loop with references of its own',
    {
      orders: 5,
      commands: () => [1, 2, 3, 4, 5].map((number) => [...create, '--reference', `loop-${number}`]),
    },
  ],
];

test.each(situations)('%s: no question, no refusal', async (_, { orders, commands }) => {
  const shop = await shopping();
  for (const command of commands(shop)) {
    const { code, stderr } = await shop.run(...command, '--retries', '0');
    expect(code, `${command.join(' ')}\n${stderr}`).toBe(0);
  }
  // The rows of a batch are placed within a second.
  shop.service.pass(2000);
  expect(await shop.orders()).toHaveLength(orders);
});

test('a test that places one order fifty times in its sandbox', async () => {
  const { folder } = makeWorkspace();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await using sandbox = await startSandbox({ port: false, clock: 'frozen' });
  const client = createClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey, transport: sandbox.fetch });
  const journal = await openJournal({ folder, program: 'test' });
  for (let count = 0; count < 50; count += 1) {
    await sandbox.trigger('wallet-funded', { amount: 10_000 });
    const { existed } = await placeOrder(client, journal, sandbox.exampleOrder);
    expect(existed).toBe(false);
  }
  const { body } = await client.call('order.list');
  expect(body.total).toBe(50);
  await journal.close();
  await client.close();
});
