import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hangsAfterMs } from '../support/limits.ts';
import { begin, errand, type Finished } from '../support/run.ts';
import type { Workspace } from '../support/workspace.ts';

/** What a build left behind, by name: keys of the journal, ids of the service, handles. */
export type Made = Record<string, string>;

export const shop = 'http://127.0.0.1:4848/shop';
/** What approvals are for: an order of the same that needs none would take the key of one. */
export const approvedProduct = 'test-two-packages';
const headings =
  'product_url,max_price,first_name,last_name,address_line1,city,state,postal_code,country,phone_number';

/** A preload that makes the machine of a workspace one of its own, whose processes run nowhere else. */
export const ownMachine = `--require ${fileURLToPath(new URL('./machine.cjs', import.meta.url))}`;

/** A CSV of orders; each row has a street of its own. */
export const rows = (...orders: readonly (readonly [slug: string, price: string])[]): string =>
  [
    headings,
    ...orders.map(
      ([slug, price], at) =>
        `${shop}/${slug},${price},Row,Number,${at + 1} Main St,Austin,TX,78701,US,5125550100`,
    ),
    '',
  ].join('\n');

/** Calls a tool as an agent's client does. @returns what the model reads. */
export async function callTool(
  workspace: Workspace,
  name: string,
  args: object,
): Promise<ReturnType<typeof JSON.parse>> {
  const clientInfo = { name: 'buyer', version: '1' };
  const lines = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name, arguments: args } },
  ].map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`);
  const { stdout } = await errand(workspace, ['mcp'], { stdin: lines.join('') });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '').result.structuredContent ?? {};
}

/** Makes a state of everything that a build writes, by its own commands. The workspace's program is that build. */
export async function makeState(workspace: Workspace): Promise<Made> {
  const at = new Maker(workspace);
  await at.configure();
  await at.order();
  await at.approvals();
  await at.quotes();
  await at.pay();
  await at.giveBack();
  await at.upload();
  await at.plan();
  await at.hear();
  await at.account();
  return at.made;
}

/** One thing that is made at a time, in its order. */
class Maker {
  readonly made: Made = {};
  readonly #workspace: Workspace;
  readonly #isTeam: boolean;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#isTeam = workspace.environment.ERRAND_DATABASE_URL !== undefined;
  }

  async configure(): Promise<void> {
    await this.#run(0, 'sandbox', 'mint');
    await this.#run(0, 'sandbox', 'trigger', 'wallet-funded', '--amount', '$5,000');
    await this.#run(0, 'config', 'set', 'repeat-window', '20m');
    if (this.#isTeam) await this.#move();
    await this.#run(0, 'profile', 'set', 'live', '--base-url', 'https://api.example.com/v1');
    await this.#given('xx_test_0123456789abcdef0123456789abcdef', 0, 'auth', 'token', '--profile', 'live');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ada', '-f', this.#path('ada')]);
    this.#write('.config/ada.pub', readFileSync(this.#path('ada.pub'), 'utf8'));
    await this.#policy('limits:\n  per_order: $900');
    await this.#order(0, 'first', 'test-success', '$10');
    await this.#policy(
      'limits:\n  per_order: $500\n  per_month: $10000\napprove: { above: $200 }\napprovers: [ada.pub]',
    );
  }

  /** What the machine has in doubt alone goes to its team. */
  async #move(): Promise<void> {
    const { environment } = this.#workspace;
    const { ERRAND_DATABASE_URL: url = '' } = environment;
    delete environment.ERRAND_DATABASE_URL;
    await this.#losing(
      () => this.#order(10, 'moved', 'test-success', '$11', '--retries', '0'),
      'reset-after@POST /orders',
    );
    environment.ERRAND_DATABASE_URL = url;
    await this.#run(0, 'order', 'journal', 'move');
  }

  async order(): Promise<void> {
    await this.#order(0, 'reported', 'test-success', '$50');
    await this.#order(0, 'chosen', 'test-success', '$51', '--idempotency-key', 'monday-1');
    await this.#order(0, 'settled', 'test-success', '$52');
    await this.#order(0, 'failed', 'test-out-of-stock', '$53');
    await this.#order(0, 'cancelled', 'test-slow', '$54');
    await this.#run(0, 'order', 'cancel', this.#at('cancelled.id'));
    await this.#run(0, 'sandbox', 'advance', '1h');
    await this.#run(0, 'policy', 'usage', '--refresh');
    for (const name of ['settled', 'failed', 'cancelled'])
      await this.#run(0, 'order', 'get', this.#at(`${name}.id`));
    await this.#order(6, 'refused', 'test-insufficient-funds', '$55');
    await this.#order(11, 'refused by the policy', 'test-success', '$600');
    await this.#losing(async () => {
      await this.#order(10, 'in doubt, placed', 'test-success', '$56', '--retries', '0');
      await this.#order(10, 'forgotten', 'test-success', '$57', '--retries', '0');
    }, 'reset-after@POST /orders');
    await this.#losing(
      () => this.#order(10, 'in doubt, not placed', 'test-success', '$58', '--retries', '0'),
      'reset-before@POST /orders',
    );
    await this.#run(0, 'order', 'journal', 'forget', this.#at('forgotten.key'));
    await this.#untold();
  }

  /** The service has responded, and the command is killed before it says so. */
  async #untold(): Promise<void> {
    const child = this.#begin(
      'order',
      'create',
      ...this.#flags('test-never', '$59'),
      '--new',
      '--watch',
      '-o',
      'json',
    );
    await until(async () => (await this.#records()).some(({ state }) => state === 'responded'));
    await killed(child);
    const found = (await this.#records()).find(({ state }) => state === 'responded');
    this.made['untold.key'] = String(found?.key);
    this.made['untold.id'] = String(found?.order_id);
  }

  async approvals(): Promise<void> {
    for (const [name, price] of [
      ['open', '$301'],
      ['denied', '$302'],
      ['approved', '$303'],
      ['used', '$304'],
      ['returned', '$305'],
    ] as const)
      await this.#ask(
        name,
        ...this.#flags(name === 'returned' ? 'test-insufficient-funds' : approvedProduct, price),
      );
    await this.#ask(
      'override',
      ...this.#flags(approvedProduct, '$606'),
      '--override-policy',
      'the office moves',
    );
    await this.#run(0, 'approval', 'deny', this.#at('approval denied'));
    for (const name of ['approved', 'used', 'returned', 'override'])
      await this.#run(0, 'approval', 'approve', this.#at(`approval ${name}`), '--key', 'ada');
    this.#write(
      'approval.json',
      (await this.#run(0, 'approval', 'export', this.#at('approval approved'))).stdout,
    );
    await this.#order(0, 'used', approvedProduct, '$304');
    await this.#order(6, 'returned', 'test-insufficient-funds', '$305');
    await this.#order(0, 'overridden', approvedProduct, '$606', '--override-policy', 'the office moves');
  }

  async quotes(): Promise<void> {
    for (const [name, cents] of [
      ['open', 6100],
      ['placed', 6200],
      ['in doubt', 6300],
    ] as const)
      this.made[`quote ${name}`] = (await this.#tool('order_quote', this.#quoted(cents))).quote;
    const placed = await this.#tool('order_place', { quote: this.#at('quote placed') });
    this.made['quote placed.id'] = placed.order.id;
    await this.#losing(
      () => this.#tool('order_place', { quote: this.#at('quote in doubt') }),
      'reset-after@POST /orders',
    );
    this.made['quote in doubt.key'] = await this.#lastKey();
  }

  async pay(): Promise<void> {
    const create = ['agent', 'order', 'create'];
    const paid = await this.#run(0, ...create, ...this.#flags('test-success', '$64'), '-o', 'json');
    this.made['paid.id'] = JSON.parse(paid.stdout).id;
    this.made['paid.key'] = await this.#lastKey();
    // The challenge comes, and the response to what is paid is lost.
    this.#write(
      'wallet.sh',
      `errand sandbox fault 'reset-after@POST /agent/orders' >&2
printf '{"payload":{"type":"sandbox","authorization":"approve"}}'
`,
    );
    const pay = ['--method', 'sandbox', '--yes', '--pay-command', 'sh wallet.sh', '--retries', '0'];
    await this.#run(10, ...create, ...this.#flags('test-success', '$65'), ...pay);
    await this.#run(0, 'sandbox', 'fault', '--off');
    this.made['paid in doubt.key'] = await this.#lastKey();
  }

  async giveBack(): Promise<void> {
    await this.#order(0, 'to return', 'test-success', '$66');
    await this.#order(0, 'to return, lost', 'test-success', '$67');
    await this.#run(0, 'sandbox', 'advance', '1h');
    const create = ['return', 'create', '--reason', 'damaged', '-o', 'json', '--order'];
    const made = await this.#run(0, ...create, this.#at('to return.id'));
    this.made['return.id'] = JSON.parse(made.stdout).id;
    this.made['return.key'] = await this.#lastKey();
    await this.#run(0, 'sandbox', 'advance', '6h');
    await this.#run(0, 'return', 'get', this.#at('return.id'));
    await this.#losing(
      () => this.#run(10, ...create, this.#at('to return, lost.id'), '--retries', '0'),
      'reset-after@POST /returns',
    );
    this.made['return in doubt.key'] = await this.#lastKey();
  }

  async upload(): Promise<void> {
    this.#write(
      'done.csv',
      rows(['test-success', '$20.00'], ['test-out-of-stock', '$21.00'], ['test-success', '22']),
    );
    await this.#run(0, 'bulk', 'upload', 'done.csv', '--amounts', 'units', '--notify-on-complete');
    await this.#run(0, 'sandbox', 'advance', '1h');
    await this.#run(7, 'bulk', 'watch', 'done', '--timeout', '5m');
    this.#write(
      'mapped.csv',
      rows(['test-success', '23,50']).replace('max_price', 'Ceiling').replace('23,50', '"23,50"'),
    );
    await this.#run(
      0,
      'bulk',
      'upload',
      'mapped.csv',
      '--map',
      'Ceiling=max_price',
      '--save-map',
      'ours',
      '--locale',
      'de',
    );
    this.#write('lost.csv', rows(['test-success', '$24.00'], ['test-success', '$25.00']));
    await this.#losing(
      () => this.#run(10, 'bulk', 'upload', 'lost.csv', '--retries', '0'),
      ...[
        'reset-after@POST /orders/bulk',
        'reset-before@GET /orders/bulk',
        'reset-before@GET /orders/bulk/*',
      ],
    );
    this.made['lost.key'] = await this.#lastKey();
    await this.#cutShort();
    if (!this.#isTeam) return;
    this.#write('shared.csv', rows(['test-success', '$37.00'], ['test-success', '$38.00']));
    await this.#run(0, 'bulk', 'upload', 'shared.csv', '--share');
  }

  /** Some batches of an upload are placed, some were being sent when it was killed, and some were not. */
  async #cutShort(): Promise<void> {
    const prices = ['26', '27', '28', '29', '30', '31', '32', '33'];
    const slug = (price: string) => (price === '26' || price === '27' ? 'test-out-of-stock' : 'test-success');
    this.#write('part.csv', rows(...prices.map((price) => [slug(price), `$${price}.00`] as const)));
    const before = (await this.#records()).length;
    await this.#run(0, 'sandbox', 'fault', '--seed', '1', 'delay=5m:50%@POST /orders/bulk');
    const child = this.#begin('bulk', 'upload', 'part.csv', '--batch-size', '1', '--name', 'december');
    await until(async () => {
      const own = (await this.#records()).slice(before);
      const open = own.filter(({ state }) => state === 'intended');
      return own.some(({ order_id: id }) => id !== null) && open.length === 2;
    });
    await killed(child);
    await this.#run(0, 'sandbox', 'fault', '--off');
  }

  async plan(): Promise<void> {
    this.#write(
      'planned.csv',
      rows(['test-success', '$34.00'], ['test-success', '$35.00'], ['test-success', '$36.00']),
    );
    await this.#run(0, 'bulk', 'plan', 'planned.csv', '--out', 'december.plan');
    await this.#run(0, 'bulk', 'plan', 'planned.csv', '--out', 'begun.plan', '--run', 'begun');
    await this.#run(0, 'bulk', 'apply', 'begun.plan', '--rows', '2');
  }

  async hear(): Promise<void> {
    const slow = await silentServer();
    const { port } = Object(slow.address());
    const failing = this.#begin(
      'webhook',
      'listen',
      '--register',
      '--max',
      '1',
      '--retries',
      '0',
      '--forward-to',
      'http://127.0.0.1:9',
    );
    await this.#heard(failing, 'heard');
    const hanging = this.#begin(
      'webhook',
      'listen',
      '--register',
      '--forward-to',
      `http://127.0.0.1:${port}`,
    );
    await this.#heard(hanging, 'heard, not sent on', slow);
    slow.close();
  }

  /** An order whose first event a listener gets. With a server that never responds the listener is killed while it sends that on. */
  async #heard(listener: ReturnType<typeof begin>, name: string, slow?: Server): Promise<void> {
    const connected = slow && new Promise<unknown>((resolve) => slow.once('connection', resolve));
    const ended = new Promise<unknown>((resolve) => listener.once('close', resolve));
    let printed = '';
    for (const stream of [listener.stdout, listener.stderr])
      stream.on('data', (data) => {
        printed += data;
      });
    await until(async () => /listening on/.test(printed));
    await this.#order(0, name, 'test-success', name === 'heard' ? '$68' : '$69');
    await this.#run(0, 'sandbox', 'advance', '1h');
    if (!connected) return void (await ended);
    await connected;
    await killed(listener);
  }

  async account(): Promise<void> {
    this.#write('password.txt', 'hunter2 hunter2\n');
    const add = ['account', 'add', '--email', 'ada@example.com', '--retailer', 'membersbarn'];
    await this.#run(0, ...add, '--password-file', 'password.txt');
    await this.#run(0, 'sandbox', 'snapshot', 'before');
    await this.#errand('reconcile');
    await this.#run(0, 'order', 'list');
    await this.#run(0, 'webhook', 'events');
  }

  async #ask(name: string, ...order: string[]): Promise<void> {
    const { stderr } = await this.#run(11, 'order', 'create', ...order, '--new', '-o', 'json');
    const line = stderr.split('\n').find((one) => one.startsWith('{"error"')) ?? '{}';
    this.made[`approval ${name}`] = JSON.parse(line).error.details.approval.id;
  }

  async #order(code: number, name: string, slug: string, price: string, ...more: string[]): Promise<void> {
    const before = new Set((await this.#records()).map(({ key }) => key));
    await this.#run(code, 'order', 'create', ...this.#flags(slug, price), '--new', ...more);
    const made = (await this.#records()).find(({ key }) => !before.has(key));
    if (!made) return;
    this.made[`${name}.key`] = made.key;
    if (made.order_id !== null) this.made[`${name}.id`] = made.order_id;
  }

  #tool(name: string, args: object): ReturnType<typeof callTool> {
    return callTool(this.#workspace, name, args);
  }

  #quoted(cents: number): object {
    const address = { first_name: 'Ada', last_name: 'Byron', address_line1: '1 Main St', city: 'Austin' };
    return {
      products: [{ url: `${shop}/test-success` }],
      max_price: cents,
      shipping_address: {
        ...address,
        state: 'TX',
        postal_code: '78701',
        country: 'US',
        phone_number: '5125550100',
      },
    };
  }

  #flags(slug: string, price: string): string[] {
    return ['--product', `${shop}/${slug}`, '--max-price', price, '--ship-to', 'home'];
  }

  async #policy(text: string): Promise<void> {
    this.#write('.config/policy.yaml', `version: 1\n${text}\n`);
    if (!this.#isTeam) return;
    const { stdout } = await this.#errand('policy', 'publish', '--help');
    const key = stdout.includes('--key') ? ['--key', this.#path('ada')] : [];
    await this.#run(0, 'policy', 'publish', ...key);
  }

  /** Does something while requests fail. */
  async #losing(work: () => Promise<unknown>, ...faults: readonly string[]): Promise<void> {
    await this.#run(0, 'sandbox', 'fault', ...faults);
    await work();
    await this.#run(0, 'sandbox', 'fault', '--off');
  }

  async #records(): Promise<
    { readonly key: string; readonly state: string; readonly order_id: string | null }[]
  > {
    const { stdout } = await this.#errand('order', 'journal', 'list', '--all', '-o', 'json');
    return stdout === '' ? [] : JSON.parse(stdout);
  }

  async #lastKey(): Promise<string> {
    return (await this.#records()).at(-1)?.key ?? '';
  }

  #at(name: string): string {
    const found = this.made[name];
    if (found === undefined) throw new Error(`no ${name} was made`);
    return found;
  }

  #begin(...args: string[]) {
    return begin(this.#workspace, 'errand', args);
  }

  #errand(...args: string[]): Promise<Finished> {
    return errand(this.#workspace, args);
  }

  #run(code: number, ...args: string[]): Promise<Finished> {
    return this.#given('', code, ...args);
  }

  async #given(stdin: string, code: number, ...args: string[]): Promise<Finished> {
    const finished = await errand(this.#workspace, args, { stdin });
    if (finished.code === code) return finished;
    throw new Error(`errand ${args.join(' ')}: exit ${finished.code}\n${finished.stdout}${finished.stderr}`);
  }

  #path(name: string): string {
    return join(this.#workspace.folder, name);
  }

  #write(name: string, text: string): void {
    writeFileSync(this.#path(name), text, { mode: 0o600 });
  }
}

/** Asks until it is so. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + hangsAfterMs; Date.now() < end; ) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it never became so');
}

async function killed(child: ReturnType<typeof begin>): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** Takes every connection and never responds. */
async function silentServer(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).unref()).unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
