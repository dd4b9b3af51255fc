import { once } from 'node:events';
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { sha256 } from '../../../src/format/canonical.ts';
import { callTool } from '../../earlier/made.ts';
import { FaultProxy } from '../../faults/proxy.ts';
import { endLeases } from '../../faults/team/database.ts';
import { fingerprintOf, makeKey, requestIdIn } from '../../support/approval-workspace.ts';
import { address } from '../../support/order-body.ts';
import { json, type Peer, peer } from '../../support/peer.ts';
import { placesOf } from '../../support/places.ts';
import type { PostgresServer, TeamDatabase } from '../../support/postgres.ts';
import { begin, errand, type Finished } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { clockLater } from '../../support/shopping.ts';
import { copyOf, makeWorkspace, type Workspace } from '../../support/workspace.ts';
import type { Row, State } from './cases.ts';

const dayMs = 24 * 3600 * 1000;
const headings = 'product_url,max_price_cents,name,address_line1,city,state,postal_code,phone_number';

/** What whoever plays a case may quote to the machines. */
interface Handles {
  readonly openQuote: string;
  readonly usedQuote: string;
  readonly quoteElsewhere: string;
  readonly paidId: string;
}

/** A database in which every table has rows, its service, and a machine that made them. */
export class Scene {
  readonly service: TestService;
  readonly proxy: FaultProxy;
  readonly database: TeamDatabase;
  /** A host of whoever has the role. */
  readonly foreign: Peer;
  readonly buyer: Workspace;
  /** Ceilings that the buyer agreed to, by the street. Nothing else may ever be at the service. */
  readonly #agreed = new Map<string, number>();
  #quoteElsewhere = '';
  /** Orders paid per call that the service has made. */
  paid = 0;
  handles!: Handles;
  /** Rows in the end, in the middle of the history, and of another database of the same team. */
  now!: State;
  older!: State;
  elsewhere!: State;

  private constructor(parts: Pick<Scene, 'service' | 'proxy' | 'database' | 'foreign' | 'buyer'>) {
    this.service = parts.service;
    this.proxy = parts.proxy;
    this.database = parts.database;
    this.foreign = parts.foreign;
    this.buyer = parts.buyer;
  }

  static async make(server: PostgresServer): Promise<Scene> {
    const [database, other] = [await server.newDatabase(), await server.newDatabase()];
    let scene: Scene | undefined;
    const service = await TestService.start({
      now: Date.now(),
      config: { startBalanceCents: 1e9 },
      onRequest: ({ method, target, status }) => {
        if (scene && method === 'POST' && target === '/agent/orders' && status === 201) scene.paid += 1;
      },
    });
    const proxy = new FaultProxy(service.baseUrl);
    const buyer = makeWorkspace({
      ERRAND_NO_INPUT: '1',
      ERRAND_BASE_URL: await proxy.start(),
      ERRAND_API_KEY: service.key,
      ERRAND_DATABASE_URL: database.url,
    });
    onTestFinished(async () => {
      await proxy.stop();
      await service.stop();
      buyer.remove();
    });
    const publisher = makeKey(buyer, 'publisher');
    makeKey(buyer, 'ada');
    buyer.environment.ERRAND_POLICY_SIGNER = fingerprintOf(publisher);
    const foreign = await peer(json({ orders: [], total: 0 }));
    scene = new Scene({ service, proxy, database, foreign, buyer });
    scene.elsewhere = await scene.#makeElsewhere(other);
    const handles = await scene.#makeFirst(buyer, database, '');
    scene.older = await stateOf(database);
    scene.handles = {
      quoteElsewhere: scene.#quoteElsewhere,
      ...handles,
      ...(await scene.#makeRest(buyer, handles.usedQuote)),
    };
    await scene.#end(database);
    scene.now = await stateOf(database);
    await scene.#keep();
    return scene;
  }

  /** Another database of the same team: what is signed there is signed under the same keys. */
  async #makeElsewhere(database: TeamDatabase): Promise<State> {
    const workspace = makeWorkspace({ ...this.buyer.environment, ERRAND_DATABASE_URL: database.url });
    onTestFinished(workspace.remove);
    for (const name of ['publisher', 'publisher.pub', 'ada', 'ada.pub'])
      copyFileSync(join(this.buyer.folder, name), join(workspace.folder, name));
    const { usedQuote } = await this.#makeFirst(workspace, database, ' elsewhere');
    this.#quoteElsewhere = usedQuote;
    await this.#end(database);
    // What was agreed to there, and is not ordered yet, is not agreed to here.
    const placed = new Set(await placesOf(this.service));
    for (const street of this.#agreed.keys()) if (!placed.has(street)) this.#agreed.delete(street);
    return stateOf(database);
  }

  /** The first half of a history. @param suffix of all streets. */
  async #makeFirst(
    at: Workspace,
    database: TeamDatabase,
    suffix: string,
  ): Promise<Pick<Handles, 'usedQuote' | 'paidId'>> {
    await this.#forgetOldQuote(at);
    await this.#publish(at, 300);
    await this.#order(at, 0, `Placed${suffix}`, 5000);
    await this.#order(at, 0, `Two products${suffix}`, 5100, '--reference', `REQ-2${suffix}`);
    const used = await this.#order(at, 11, `Approved and used${suffix}`, 9100);
    await this.#run(at, 0, 'approval', 'approve', requestIdIn(used), '--key', 'ada');
    const usedQuote = await this.#quote(at, `Quoted and used${suffix}`);
    this.proxy.faults = ['reset-after'];
    await this.#order(at, 10, `Settled later${suffix}`, 5200);
    const rows = ['First row', 'Second row'].map((street) => `${street}${suffix}`);
    this.#write(at, 'small.csv', rows);
    await this.#run(at, 0, 'bulk', 'upload', 'small.csv');
    await this.#share(at, 'new', suffix);
    await this.#end(database);
    await this.#standing(at, `Standing${suffix}`);
    const paid = await this.#pay(at, `Paid${suffix}`, `PAID-1${suffix}`);
    return { usedQuote, paidId: JSON.parse(paid.stdout).id };
  }

  /** The second half: what was begun is gone on with, and more is begun. */
  async #makeRest(at: Workspace, usedQuote: string): Promise<Pick<Handles, 'openQuote' | 'paidId'>> {
    await this.#order(at, 0, 'Approved and used', 9100);
    await this.#order(at, 0, 'Placed later', 5300);
    await callTool(at, 'order_place', { quote: usedQuote });
    await this.#run(at, 0, 'order', 'journal', 'resume', '--all');
    await this.#share(at, 'again', '');
    await this.#end(this.database);
    const approved = await this.#order(at, 11, 'Approved', 9200);
    await this.#run(at, 0, 'approval', 'approve', requestIdIn(approved), '--key', 'ada');
    await this.#order(at, 11, 'Requested', 9300);
    this.#agreed.delete('Requested');
    const openQuote = await this.#quote(at, 'Quoted');
    const paid = await this.#pay(at, 'Paid later', 'PAID-2');
    this.#write(at, 'grown.csv', ['First row', 'Second row', 'Third row']);
    await this.#run(at, 0, 'bulk', 'upload', 'grown.csv', '--skip-duplicates');
    await this.#publish(at, 200);
    await this.#order(at, 11, 'Over the limit', 25_000);
    this.#agreed.delete('Over the limit');
    this.proxy.faults = ['reset-after', 'reset-before'];
    await this.#order(at, 10, 'In doubt, placed', 5400);
    await this.#order(at, 10, 'In doubt, not placed', 5500);
    return { openQuote, paidId: JSON.parse(paid.stdout).id };
  }

  /** A quote of six weeks ago, which the next one sweeps: a row that was removed. */
  async #forgetOldQuote(at: Workspace): Promise<void> {
    const earlier = { ...at, environment: { ...at.environment } };
    clockLater(earlier, -45 * dayMs);
    await callTool(earlier, 'order_quote', this.#quoted('Quoted long ago'));
  }

  #quoted = (street: string) => ({
    products: [{ url: this.service.product('test-success') }],
    shipping_address: { ...address, address_line1: street },
    max_price: 5600,
  });

  async #quote(at: Workspace, street: string): Promise<string> {
    this.#agreed.set(street, 5600);
    const { quote } = await callTool(at, 'order_quote', this.#quoted(street));
    if (typeof quote !== 'string') throw new Error(`no quote of ${street}`);
    return quote;
  }

  async #publish(at: Workspace, dollars: number): Promise<void> {
    const text = `version: 1\nlimits: { per_order: $${dollars}, per_day: $5000 }\napprove: { above: $90 }\napprovers: [ada.pub]\n`;
    writeFileSync(join(at.folder, 'policy.yaml'), text, { mode: 0o600 });
    await this.#run(at, 0, 'policy', 'publish', 'policy.yaml', '--key', 'publisher');
  }

  /** Names of files by street. Each machine that plays a case has all of them. */
  static file = (street: string): string => `${street.toLowerCase().replaceAll(/[^a-z]+/g, '-')}.json`;

  async #order(
    at: Workspace,
    code: number,
    street: string,
    cents: number,
    ...more: string[]
  ): Promise<Finished> {
    this.#agreed.set(street, cents);
    const slugs = street.startsWith('Two') ? ['test-success', 'test-slow'] : ['test-success'];
    const body = {
      products: slugs.map((slug) => ({ url: this.service.product(slug) })),
      shipping_address: { ...address, address_line1: street },
      max_price: cents,
    };
    writeFileSync(join(at.folder, Scene.file(street)), JSON.stringify(body));
    return this.#run(at, code, ...ordering(street), ...more);
  }

  async #pay(at: Workspace, street: string, reference: string): Promise<Finished> {
    const body = {
      products: [{ url: this.service.product('test-success') }],
      shipping_address: { ...address, address_line1: street },
      max_price: 5000,
    };
    writeFileSync(join(at.folder, Scene.file(street)), JSON.stringify(body));
    return this.#run(at, 0, ...paying(street, reference));
  }

  async #standing(at: Workspace, street: string): Promise<void> {
    const order = {
      products: [{ url: this.service.product('test-success') }],
      shipping_address: { ...address, address_line1: street },
      max_price: 5700,
    };
    this.#agreed.set(street, 5700);
    const dates = [new Date().toISOString().slice(0, 10)];
    const entry = { id: sha256(street).slice(0, 12), dates, late: '2d', order };
    const file = join(at.folder, 'standing.yaml');
    writeFileSync(file, JSON.stringify({ version: 1, orders: { coffee: entry } }), { mode: 0o600 });
    await this.#run(at, 0, ...standing);
  }

  #write(at: Workspace, file: string, streets: readonly string[]): void {
    for (const street of streets) this.#agreed.set(street, 4900);
    const row = (street: string): string =>
      `${this.service.product('test-success')},4900,A B,${street},Austin,TX,78701,5125550100`;
    writeFileSync(join(at.folder, file), `${[headings, ...streets.map(row)].join('\n')}\n`);
  }

  /** Uploads on a shared queue, and is killed once it has placed one more batch. */
  async #share(at: Workspace, which: 'new' | 'again', suffix: string): Promise<void> {
    if (which === 'new')
      this.#write(
        at,
        'december.csv',
        Array.from({ length: 12 }, (_, row) => row + 1).map((row) => `December ${row}${suffix}`),
      );
    const child = begin(at, 'errand', sharing);
    let output = '';
    child.stderr.on('data', (text) => {
      output += text;
    });
    child.stdin.end();
    let batches = 0;
    this.proxy.onMoment = (moment) => {
      if (moment === 'request-came' && ++batches === 2) child.kill('SIGKILL');
    };
    const [code] = await once(child, 'close');
    this.proxy.onMoment = () => {};
    expect(code, output).toBeNull();
  }

  /** Ends the leases of the processes that were killed, as time would. */
  async #end(database: TeamDatabase): Promise<void> {
    await endLeases(database);
    await database.run("UPDATE errand.workers SET until = 'epoch'");
  }

  async #run(at: Workspace, code: number, ...args: readonly string[]): Promise<Finished> {
    const ended = await errand(at, args);
    expect(ended.code, `${args.join(' ')}: ${ended.stderr}`).toBe(code);
    return ended;
  }

  /** Keeps database and service as they are, to be put back before each case. */
  async #keep(): Promise<void> {
    const kept = Object.keys(this.now).map((name) => `CREATE TABLE kept.${name} AS TABLE errand.${name}`);
    await this.database.run(['CREATE SCHEMA kept', ...kept].join(';'));
    await (await this.service.parts.control()).snapshot('kept');
  }

  /** Puts everything back, then has the database say what a case says. */
  async begin(state: State): Promise<void> {
    const control = await this.service.parts.control();
    await control.restore('kept');
    this.service.pass(Math.max(0, Date.now() - Date.parse(control.state.now)));
    this.paid = 0;
    this.proxy.faults = [];
    await this.database.run(writing(this.now, state));
  }

  /** The machine that made all of it, or one that has seen nothing. */
  machine(which: 'known' | 'new'): Workspace {
    if (which === 'known') return copyOf(this.buyer, this.#environment);
    const made = makeWorkspace(this.#environment);
    for (const name of readdirSync(this.buyer.folder).filter((one) => /\.(json|csv|yaml)$/.test(one)))
      copyFileSync(join(this.buyer.folder, name), join(made.folder, name));
    return made;
  }

  get #environment(): Record<string, string> {
    const names = ['NO_INPUT', 'BASE_URL', 'API_KEY', 'DATABASE_URL', 'POLICY_SIGNER'];
    const { environment } = this.buyer;
    return Object.fromEntries(names.map((name) => [`ERRAND_${name}`, String(environment[`ERRAND_${name}`])]));
  }

  /** What is at the service and was not agreed to, or came more than once. */
  async wrong(): Promise<string[]> {
    await placesOf(this.service);
    const { orders } = (await this.service.send('GET', '/orders?limit=500')).body;
    const found: string[] = [];
    const seen = new Set<string>();
    for (const { max_price: cents, shipping_address: to } of orders) {
      const street = String(to.address_line1);
      const agreed = this.#agreed.get(street);
      const { city, state, postal_code: zip } = address;
      const isSame = isDeepStrictEqual([to.city, to.state, to.postal_code], [city, state, zip]);
      if (agreed !== cents || !isSame) found.push(`not agreed to: ${street}, ${cents} cents, ${to.city}`);
      if (seen.has(street)) found.push(`doubled: ${street}`);
      seen.add(street);
    }
    if (this.paid > 0) found.push(`paid ${this.paid} times`);
    if (this.foreign.received.length > 0) found.push(`sent elsewhere: ${this.foreign.received.length}`);
    return found;
  }
}

export const ordering = (street: string): string[] => [
  ...['order', 'create', '--file', Scene.file(street), '--retries', '0', '-o', 'json'],
];

export const paying = (street: string, reference: string): string[] => [
  ...['agent', 'order', 'create', '--file', Scene.file(street), '--reference', reference, '-o', 'json'],
];

export const sharing = ['bulk', 'upload', 'december.csv', '--share', '--batch-size', '1', '--retries', '0'];
export const standing = ['standing', 'run', '--standing', 'standing.yaml', '-o', 'json'];

/** Every table, with its rows in the order of their keys. */
async function stateOf(database: TeamDatabase): Promise<State> {
  const tables = await database.rows<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'errand' ORDER BY 1",
  );
  const state: Record<string, Row[]> = {};
  for (const { name } of tables)
    state[name] = await database.rows(`SELECT * FROM errand.${name} AS one ORDER BY 1, one::text`);
  return state;
}

/** SQL that puts the rows back that were kept, and then those of a state in place of them. */
function writing(kept: State, state: State): string {
  const names = Object.keys(kept);
  const changed = names.filter((name) => !isDeepStrictEqual(kept[name], state[name]));
  return [
    'SET session_replication_role = replica',
    ...names.flatMap((name) => [
      `DELETE FROM errand.${name}`,
      changed.includes(name)
        ? `INSERT INTO errand.${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::errand.${name}, $rows$${JSON.stringify(state[name])}$rows$)`
        : `INSERT INTO errand.${name} OVERRIDING SYSTEM VALUE SELECT * FROM kept.${name}`,
    ]),
  ].join(';\n');
}
