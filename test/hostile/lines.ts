import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { second } from '../service/specification/scenes.ts';
import { listCommands } from '../support/known-commands.ts';
import { orderBody } from '../support/order-body.ts';
import type { TestService } from '../support/service.ts';

/** Fixtures for the command lines, created once in the sandbox. */
export interface Scene {
  readonly service: TestService;
  readonly url: string;
  /** Key of the user who owns the orders; commands that write get a separate user. */
  readonly key: string;
  /** Holds the files `order.json`, `orders.csv`, `password.txt`. */
  readonly folder: string;
  readonly delivered: string;
  readonly failed: string;
  readonly returned: string;
  readonly batch: string;
  readonly account: string;
  readonly product: string;
}

export interface CommandLine {
  /** The command's name; its arguments depend on the scene. */
  readonly command: string;
  readonly args?: (scene: Scene) => readonly string[] | Promise<readonly string[]>;
  readonly stdin?: (scene: Scene) => string;
  /** Exit code with valid responses; defaults to 0. */
  readonly code?: number;
  /** It modifies state or configuration, so each run needs its own workspace. */
  readonly writes?: true;
  /** Commands to run first in the same workspace, in order. */
  readonly first?: (scene: Scene) => readonly (readonly string[])[];
  /** It waits until a timeout, so fewer responses are tried. */
  readonly waits?: true;
  /** The only format it prints, regardless of -o. */
  readonly oneFormat?: 'csv' | 'table';
}

const retailer = ['--retailer', 'harborgoods'];
const order = ({ folder }: Scene): string[] => ['--file', join(folder, 'order.json')];

const get = async ({ service, key }: Scene, path: string) =>
  (await service.send('GET', path, undefined, key)).body;

/** Creates an order that stays pending. */
async function pending({ service, key }: Scene): Promise<string> {
  return (await service.order('test-slow', {}, key)).body.id;
}

async function failed(scene: Scene): Promise<string> {
  const { id } = (await scene.service.order('test-out-of-stock', {}, scene.key)).body;
  scene.service.pass(5 * second);
  return (await get(scene, `/orders/${id}`)).id;
}

/** Creates a delivered order, with an item that can be returned. */
async function come(scene: Scene): Promise<{ id: string; item: string }> {
  const { id } = (await scene.service.order('test-success', {}, scene.key)).body;
  scene.service.pass(12 * second);
  const { items } = await get(scene, `/orders/${id}`);
  return { id, item: items[0].id };
}

/** Returns the latest batch, once all its rows have been tried. */
async function newestBatch(scene: Scene): Promise<string> {
  scene.service.pass(5 * second);
  const [{ id }] = (await get(scene, '/orders/bulk?limit=1')).batches;
  return (await get(scene, `/orders/bulk/${id}`)).id;
}

const planOf = (folder: string, file = 'orders.csv'): string[] => [
  ...['bulk', 'plan', join(folder, file)],
  ...['--out', join(folder, 'a.plan'), '--force'],
];

/** A standing order with a date today. */
const standingOrder = (scene: Scene): readonly (readonly string[])[] => [
  [
    ...['standing', 'add', 'coffee', ...order(scene)],
    ...['--dates', new Date().toISOString().slice(0, 10), '--late', '2d'],
  ],
];

const givenLines: readonly CommandLine[] = [
  { command: 'search', args: () => ['coffee', '--limit', '2'] },
  { command: 'product search', args: () => ['coffee', ...retailer] },
  { command: 'product get', args: ({ product }) => [product, ...retailer] },
  { command: 'product get', args: ({ product }) => [`https://www.harborgoods.example/p/x/${product}`] },
  { command: 'product offers', args: ({ product }) => [product, ...retailer] },
  { command: 'retailer list', args: () => ['--include', 'all'] },
  {
    command: 'retailer check',
    args: () => ['https://www.trailmarket.example/1', '--country', 'DE'],
    code: 7,
  },
  { command: 'order create', args: order, writes: true },
  { command: 'order create', args: async (scene) => ['--like', (await come(scene)).id], writes: true },
  {
    command: 'order create',
    args: (scene) => [...order(scene), '--watch', '--until', 'delivered'],
    writes: true,
    waits: true,
  },
  { command: 'order get', args: ({ delivered, failed: other }) => [delivered, other] },
  { command: 'order list', args: () => ['--all'] },
  { command: 'standing run', first: standingOrder, writes: true },
  { command: 'standing show', args: () => ['coffee'], first: standingOrder, writes: true },
  { command: 'standing list', first: standingOrder, writes: true },
  { command: 'order watch', args: ({ delivered }) => [delivered, '--interval', '1s'], waits: true },
  { command: 'order timeline', args: ({ delivered }) => [delivered] },
  { command: 'reconcile' },
  { command: 'order explain', args: ({ delivered }) => [delivered] },
  { command: 'order cancel', args: async (scene) => [await pending(scene)] },
  { command: 'bulk cancel', args: ({ batch }) => [batch], code: 5 },
  {
    command: 'bulk return',
    args: async (scene) => {
      const file = join(scene.folder, 'returns.csv');
      writeFileSync(file, `order\n${(await come(scene)).id}\n`);
      return [file, '--reason', 'damaged'];
    },
    writes: true,
  },
  { command: 'undo', args: async (scene) => [await pending(scene)] },
  {
    command: 'return create',
    args: async (scene) => {
      const { id, item } = await come(scene);
      return ['--order', id, '--item', item, '--reason', 'damaged'];
    },
    writes: true,
  },
  { command: 'return get', args: ({ returned }) => [returned] },
  {
    command: 'return watch',
    args: ({ returned }) => [returned, '--interval', '100ms'],
    waits: true,
  },
  { command: 'return list', args: () => ['--all'] },
  {
    command: 'return labels',
    args: ({ returned, folder }) => [returned, '--dir', join(folder, 'labels'), '--force'],
  },
  { command: 'bulk validate', args: ({ folder }) => [join(folder, 'orders.csv')] },
  {
    command: 'bulk plan',
    args: ({ folder }) => [join(folder, 'orders.csv'), '--out', join(folder, 'new.plan'), '--force'],
  },
  {
    command: 'bulk apply',
    first: ({ folder }) => [planOf(folder)],
    args: ({ folder }) => [join(folder, 'a.plan'), '--yes'],
    writes: true,
  },
  { command: 'bulk upload', args: ({ folder }) => [join(folder, 'orders.csv'), '--yes'], writes: true },
  {
    command: 'bulk upload',
    args: ({ folder }) => [join(folder, 'orders.csv'), '--shard', '1/1', '--yes'],
    writes: true,
  },
  {
    command: 'bulk upload',
    args: ({ folder }) => [join(folder, 'orders.csv'), '--yes', '--watch'],
    writes: true,
    waits: true,
  },
  {
    command: 'bulk resume',
    first: ({ folder }) => [
      planOf(folder, 'two.csv'),
      ['bulk', 'apply', join(folder, 'a.plan'), '--rows', '2', '--yes'],
    ],
    args: () => ['two', '--yes'],
    writes: true,
  },
  { command: 'bulk uploads' },
  { command: 'bulk get', args: ({ batch }) => [batch] },
  { command: 'bulk watch', args: ({ batch }) => [batch], waits: true },
  { command: 'bulk results', args: ({ batch }) => [batch], oneFormat: 'csv' },
  { command: 'bulk report', args: ({ batch }) => [batch] },
  { command: 'bulk report', args: ({ batch }) => [batch, '--by', 'retailer'] },
  {
    command: 'bulk retry',
    first: ({ folder }) => [['bulk', 'upload', join(folder, 'failing.csv'), '--yes']],
    args: async (scene) => [await newestBatch(scene), '--yes'],
    writes: true,
  },
  {
    command: 'account add',
    args: ({ folder }) => [
      '--email',
      `${Math.random()}@example.com`,
      '--password-file',
      join(folder, 'password.txt'),
    ],
  },
  { command: 'account update', args: ({ account }) => [account, '--email', 'new@example.com'] },
  { command: 'account forwarding', args: ({ account }) => [account] },
  { command: 'agent search', args: () => ['coffee', '--limit', '2'] },
  { command: 'agent product search', args: () => ['coffee', ...retailer] },
  { command: 'agent product get', args: ({ product }) => [product, ...retailer] },
  { command: 'agent product offers', args: ({ product }) => [product, ...retailer] },
  { command: 'agent order create', args: order, writes: true },
  { command: 'track', args: ({ delivered }) => [delivered] },
  { command: 'wallet' },
  { command: 'spend show' },
  { command: 'spend export', args: () => ['--as', 'hledger'], oneFormat: 'csv' },
  { command: 'usage' },
  { command: 'sandbox mint', args: () => ['--no-store'] },
  { command: 'sandbox status' },
  { command: 'sandbox products' },
  { command: 'sandbox advance', args: () => ['1s'] },
  { command: 'sandbox snapshot', args: () => ['kept', '--force'] },
  { command: 'sandbox restore', args: () => ['nothing'], code: 4 },
  { command: 'sandbox fault', args: () => ['503@/nowhere'] },
  { command: 'sandbox trigger', args: async (scene) => ['placed', await pending(scene)] },
  {
    command: 'webhook wait',
    args: async (scene) => ['--order', await pending(scene), '--event', 'case_updated', '--timeout', '500ms'],
    code: 8,
    writes: true,
    waits: true,
  },
  { command: 'webhook register', args: () => ['http://127.0.0.1:9/hook'], writes: true },
  {
    command: 'auth login',
    first: ({ url }) => [['profile', 'set', 'there', '--base-url', url]],
    args: () => ['--profile', 'there', '--no-browser'],
    writes: true,
    waits: true,
  },
  { command: 'auth status' },
  {
    command: 'auth token',
    first: ({ url }) => [['profile', 'set', 'there', '--base-url', url]],
    args: () => ['--profile', 'there'],
    stdin: ({ service }) => service.key,
    writes: true,
  },
  { command: 'legacy product', args: ({ product }) => [product, ...retailer] },
  { command: 'legacy retry', args: async (scene) => [await failed(scene), '--yes'], writes: true },
  { command: 'api', args: () => ['GET', '/orders', '--paginate'] },
  {
    command: 'api',
    args: () => ['POST', '/orders', '--input', '-'],
    stdin: ({ service }) =>
      JSON.stringify({
        ...orderBody(service.product('test-success')),
        idempotency_key: String(Math.random()),
      }),
    writes: true,
  },
  {
    command: 'mcp',
    stdin: ({ delivered, url }) =>
      [
        ['search', { q: 'coffee' }],
        ['order_get', { order_id: delivered }],
        ['wallet', {}],
        ['retailer_check', { url }],
      ]
        .map(([name, given], id) =>
          JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } }),
        )
        .join('\n')
        .concat('\n'),
    // It speaks a protocol regardless of -o.
    oneFormat: 'table',
  },
  { command: 'schema diff' },
  { command: 'doctor', writes: true },
  {
    command: 'quickstart',
    first: ({ folder }) => [['address', 'add', 'home', '--file', join(folder, 'home.json'), '--default']],
    writes: true,
    waits: true,
  },
];

const given = new Set(givenLines.map(({ command }) => command));

/** All commands that read responses, with their arguments. List commands are added automatically. */
export const commandLines: readonly CommandLine[] = [
  ...givenLines,
  ...(await listCommands()).filter((command) => !given.has(command)).map((command) => ({ command })),
];

export const orderFile = (service: TestService): string =>
  JSON.stringify(orderBody(service.product('test-success')));
