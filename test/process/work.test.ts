import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { hangsAfterMs } from '../support/limits.ts';
import { orderBody } from '../support/order-body.ts';
import { spawned } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

/** What a command has cost, whatever the machine. */
interface Work {
  readonly statements: number;
  /** Rows that the statements have returned. */
  readonly rows: number;
  /** Characters of JSON. */
  readonly parsed: number;
  /** Characters whose SHA-256 was made. */
  readonly hashed: number;
  readonly requests: number;
}

const [few, many] = [200, 2000];
const counter = fileURLToPath(new URL('./work.cjs', import.meta.url));

/** The commands of a table, from its plan to the books. */
const commands = {
  'bulk validate': ['bulk', 'validate', 'orders.csv'],
  'bulk plan': ['bulk', 'plan', 'orders.csv', '--no-prices', '--out', 'plan.json'],
  'bulk apply': ['bulk', 'apply', 'plan.json', '-o', 'ndjson'],
  'bulk results': ['bulk', 'results', 'orders'],
  'bulk report': ['bulk', 'report', 'orders', '-o', 'json'],
  reconcile: ['reconcile', '-o', 'json'],
  spend: ['spend', '-o', 'json'],
  'spend export': ['spend', 'export', '--as', 'hledger'],
  'audit verify': ['audit', 'verify'],
  'bulk upload': ['bulk', 'upload', 'more.csv', '-o', 'ndjson'],
  'order journal list': ['order', 'journal', 'list'],
  'a new order': [
    'order',
    'create',
    '--product',
    'PRODUCT',
    '--max-price',
    '$50',
    '--ship-to',
    'home',
    '--new',
  ],
  'order get': ['order', 'get', 'ORDER'],
} as const;
type Name = keyof typeof commands;

const workspaces: Workspace[] = [];
const work = new Map<Name, { readonly few: Work; readonly many: Work }>();

beforeAll(async () => {
  const [ofFew, ofMany] = [await workOfTable(few), await workOfTable(many)];
  for (const [name, one] of ofFew) work.set(name, { few: one, many: ofMany.get(name) ?? one });
});
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

async function workOfTable(rows: number): Promise<ReadonlyMap<Name, Work>> {
  const workspace = makeWorkspace();
  workspaces.push(workspace);
  let requests = 0;
  const count = (): void => {
    requests += 1;
  };
  const service = await TestService.start({ now: Date.now(), onRequest: count });
  try {
    await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 1_000_000_000 });
    const told = join(workspace.folder, 'work');
    Object.assign(workspace.environment, {
      ...{ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key },
      ...{ NODE_OPTIONS: `--require ${counter}`, WORK: told },
    });
    const product = service.product('test-success');
    const heading =
      'product_url,max_price_cents,name,address_line1,city,state,postal_code,phone_number,note\n';
    const row = (at: number): string =>
      `${product},5000,Ada Byron,"${at} Main Street, Apt 7",Austin,TX,78701,5125550100,note ${at}\n`;
    const writeTable = (file: string, first: number): void =>
      writeFileSync(
        join(workspace.folder, file),
        heading + Array.from({ length: rows }, (_, at) => row(first + at)).join(''),
      );
    writeTable('orders.csv', 1);
    writeTable('more.csv', rows + 1);
    writeFileSync(join(workspace.folder, 'home.json'), JSON.stringify(orderBody(product).shipping_address));
    await spawned(workspace, ['address', 'add', 'home', '--file', 'home.json']);
    const found = new Map<Name, Work>();
    for (const [name, words] of Object.entries(commands) as [Name, readonly string[]][]) {
      const { orders } = (await service.send('GET', '/orders?limit=1')).body;
      const named: Readonly<Record<string, string>> = { PRODUCT: product, ORDER: orders[0]?.id ?? '' };
      const args = words.map((word) => named[word] ?? word);
      requests = 0;
      const { code, stderr } = await spawned(workspace, args);
      expect(code, `${name}: ${stderr}`).toBe(0);
      found.set(name, { ...JSON.parse(readFileSync(told, 'utf8')), requests });
      if (name === 'bulk apply')
        await vi.waitFor(async () => expect(await placedAfterAnHour(service)).toBe(rows), hangsAfterMs);
    }
    return found;
  } finally {
    await service.stop();
  }
}

/** @returns how many orders are placed an hour later. */
async function placedAfterAnHour(service: TestService): Promise<number> {
  service.pass(3600_000);
  return (await service.send('GET', '/orders?status=order_placed&limit=1')).body.total;
}

const linear: readonly Name[] = [
  ...(['bulk validate', 'bulk plan', 'bulk apply', 'bulk upload', 'bulk results', 'bulk report'] as const),
  ...(['reconcile', 'spend', 'spend export', 'audit verify'] as const),
];
const constant: readonly Name[] = ['order journal list', 'a new order', 'order get'];

/** Numbers of more digits make texts longer. */
const [longer, charactersMore] = [1.06, 100];

test.each(linear)('%s costs ten times as much for ten times the rows', (name) => {
  const { few: one, many: ten } = worked(name);
  const most = (cost: number): number => ((cost * many) / few) * longer;
  expect(ten.statements).toBeLessThanOrEqual(most(one.statements));
  expect(ten.rows).toBeLessThanOrEqual(most(one.rows));
  expect(ten.parsed).toBeLessThanOrEqual(most(one.parsed));
  expect(ten.hashed).toBeLessThanOrEqual(most(one.hashed));
  expect(ten.requests).toBeLessThanOrEqual(most(one.requests));
});

test.each(constant)('%s costs the same after ten times the rows', (name) => {
  const { few: one, many: ten } = worked(name);
  const { parsed, hashed, ...counts } = ten;
  expect(counts).toEqual({ statements: one.statements, rows: one.rows, requests: one.requests });
  expect(parsed).toBeLessThanOrEqual(one.parsed + charactersMore);
  expect(hashed).toBeLessThanOrEqual(one.hashed + charactersMore);
});

test('bulk upload runs one statement for each row, and hashes each a few times', () => {
  const { statements, hashed, parsed } = worked('bulk upload').many;
  expect(statements / many).toBeLessThan(1.15);
  // A row of this table is 380 characters: its key, its batch's, its content, and its record as it is made, sent and reported.
  expect(hashed / many).toBeLessThan(3000);
  expect(parsed / many).toBeLessThan(1150);
});

test.each(['bulk results', 'bulk report'] as const)('%s checks each row of the journal once', (name) => {
  // A row of this table is 380 characters there.
  expect(worked(name).many.hashed / many).toBeLessThan(450);
});

function worked(name: Name) {
  const found = work.get(name);
  if (!found) throw new Error(`${name} was not run`);
  return found;
}
