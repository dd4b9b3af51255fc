import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startService } from '../../faults/service.ts';
import { installLocked } from '../../support/install-locked.ts';
import { PostgresServer, program, type TeamDatabase } from '../../support/postgres.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const locked = fileURLToPath(new URL('.', import.meta.url));
const example = join(root, 'docs/examples/campaign.js');
const engine = '@dbos-inc/dbos-sdk';
const rowsOfPart = 10;
/** A price and a fee of one dollar, and room to spare. */
const centsPerRow = 200;

export interface Campaign {
  readonly rows: number;
  readonly workers: number;
  /** Orders a second, of all workers together. */
  readonly rate: number;
  /** Workers killed, and crashes of the database, evenly spread over the campaign. */
  readonly kills: number;
  readonly crashes: number;
  /** Whether the workers share errand's journal, in a database; else each has its own. */
  readonly shares?: boolean;
}

export interface CampaignReport {
  /** What each worker printed in the end, one line of JSON. */
  readonly printed: readonly string[];
  /** What a worker that is started once more printed, and the orders that the service has after it. */
  readonly again: string;
  readonly orders: number;
  /** References that the service has no order for, and that it has several for. */
  readonly missing: readonly string[];
  readonly doubled: readonly string[];
  /** Campaigns in the engine's tables. */
  readonly campaigns: number;
  /** Most parts that began within ten seconds, by the database's clock. */
  readonly maxBegun: number;
  /** Orders a second while the database was there; undefined if that was never for thirty seconds. */
  readonly pace: number | undefined;
  /** What the engine's tables must not hold and do. */
  readonly leaked: readonly string[];
  /** Starts of workers. */
  readonly starts: number;
  readonly minutes: number;
}

interface Order {
  readonly created_at: string;
  readonly metadata: { readonly errand_reference?: string } | null;
}

const reference = (at: number): string => `REQ-${String(at).padStart(6, '0')}`;
const street = (at: number): string => `${at} Hawthorne Crescent`;

/** Runs the example on several workers, restarted as a supervisor would, while workers and the database crash. */
export async function runCampaign(given: Campaign): Promise<CampaignReport> {
  await installLocked(locked, engine);
  const balance = String(given.rows * centsPerRow);
  const [service, server] = await Promise.all([
    startService('--balance-cents', balance),
    PostgresServer.start(),
  ]);
  const folder = makeFolder();
  const workers: Worker[] = [];
  try {
    const [key, database] = await Promise.all([service.mint(), server.newDatabase('database')]);
    writeFileSync(join(folder, 'december.csv'), table(given.rows, `${service.shopUrl}/test-never`));
    const environment = {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      ENGINE_URL: database.url,
      SERVICE_URL: service.baseUrl,
      SERVICE_KEY: key,
      ORDERS_PER_SECOND: String(given.rate),
      ...(given.shares && { ERRAND_DATABASE_URL: (await server.newDatabase()).url }),
    };
    await promisify(execFile)(process.execPath, ['campaign.js', '--prepare'], {
      cwd: folder,
      env: { ...environment, WORKER: 'none' },
    });
    const started = Date.now();
    for (let at = 0; at < given.workers; at += 1) workers.push(new Worker(folder, at, environment));
    const ended = Promise.all(workers.map((worker) => worker.ended));
    const placed = (): Promise<number> => ordersOf(service.baseUrl, key, 1).then(({ total }) => total);
    const isOver = { yes: false };
    void ended.finally(() => {
      isOver.yes = true;
    });
    const downs = await hurt(given, { workers, server, placed, isOver });
    const printed = await ended;
    const minutes = (Date.now() - started) / 60_000;
    const again = new Worker(folder, 0, environment);
    workers.push(again);
    const printedAgain = await again.ended;
    const orders = await allOrders(service.baseUrl, key);
    return {
      printed,
      again: printedAgain,
      ...counted(given.rows, orders),
      ...(await begunParts(database)),
      pace: paceOf(orders, downs),
      leaked: await leakedIn(database, [key, service.shopUrl, ...rowTexts(given.rows)]),
      starts: workers.reduce((sum, { starts }) => sum + starts, 0),
      minutes,
    };
  } finally {
    for (const worker of workers) worker.stop();
    await Promise.all([service.stop(), server.remove()]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A user's folder: the program, the packages it names, and the built errand. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errand-campaign-'));
  const modules = join(folder, 'node_modules');
  for (const name of [engine, 'csv-parse', 'pg']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(locked, 'node_modules', name), join(modules, name));
  }
  symlinkSync(root, join(modules, 'errand'));
  copyFileSync(example, join(folder, 'campaign.js'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return folder;
}

const columns =
  'reference,product_url,quantity,max_price_cents,first_name,last_name,address_line1,city,state,postal_code,country,phone_number';

/** A file whose last row the service does not take: its quantity is none. */
function table(rows: number, product: string): string {
  const lines = Array.from({ length: rows }, (_, at) => {
    const quantity = at === rows - 1 ? 0 : 1;
    return `${reference(at)},${product},${quantity},100,Ada,Lovelace,${street(at)},Austin,TX,78701,US,+15125550100`;
  });
  return `${[columns, ...lines].join('\n')}\n`;
}

const rowTexts = (rows: number): string[] => [
  'Lovelace',
  'Hawthorne',
  'Austin',
  '+15125550100',
  ...[0, Math.floor(rows / 2), rows - 1].flatMap((at) => [reference(at), street(at)]),
];

/** A worker that is started again until it says that it has ended. */
class Worker {
  starts = 0;
  readonly ended: Promise<string>;
  #child: ChildProcess | undefined;
  #isStopped = false;

  constructor(folder: string, at: number, environment: Readonly<Record<string, string>>) {
    const journal = join(folder, `journal-${at}`);
    this.ended = this.#supervise(folder, { ...environment, WORKER: `worker-${at}`, JOURNAL: journal });
  }

  /** Kills the running process; the worker is started again. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  stop(): void {
    this.#isStopped = true;
    this.kill();
  }

  async #supervise(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
    for (;;) {
      this.starts += 1;
      const child = spawn(process.execPath, ['campaign.js', 'december.csv'], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      this.#child = child;
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (text) => {
        stdout += text;
      });
      child.stderr.on('data', (text) => {
        stderr = `${stderr}${text}`.slice(-4000);
      });
      const [code] = await once(child, 'close');
      if (code === 0 || code === 7) return stdout;
      if (code === 2 || this.#isStopped) throw new Error(`a worker ended with ${code}: ${stderr}`);
      await pause(500);
    }
  }
}

interface Scene {
  readonly workers: readonly Worker[];
  readonly server: PostgresServer;
  readonly isOver: { readonly yes: boolean };
  placed(): Promise<number>;
}

/** A span of time without the database, ms. */
type Down = readonly [from: number, to: number];

/** Kills workers in turn and crashes the database, each when its share of the rows is placed. */
async function hurt(given: Campaign, { workers, server, isOver, placed }: Scene): Promise<Down[]> {
  const downs: Down[] = [];
  const spread = (count: number, act: (index: number) => void | Promise<void>) =>
    Array.from({ length: count }, (_, index) => ({
      at: Math.floor((given.rows * (index + 1)) / (count + 1)),
      act: () => act(index),
    }));
  const crash = async (): Promise<void> => {
    const from = Date.now();
    await server.stop('immediate');
    await server.start();
    downs.push([from, Date.now()]);
  };
  const acts = [
    ...spread(given.kills, (index) => workers[index % workers.length]?.kill()),
    ...spread(given.crashes, crash),
  ].sort((one, other) => one.at - other.at);
  for (const { at, act } of acts) {
    while (!isOver.yes && (await placed()) < at) await pause(50);
    if (isOver.yes) throw new Error(`the campaign was over before ${at} rows were placed`);
    await act();
  }
  return downs;
}

async function ordersOf(
  baseUrl: string,
  key: string,
  limit: number,
  offset = 0,
): Promise<{ readonly orders: readonly Order[]; readonly total: number }> {
  const response = await fetch(`${baseUrl}/orders?limit=${limit}&offset=${offset}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`the service returned ${response.status}`);
  return JSON.parse(await response.text());
}

async function allOrders(baseUrl: string, key: string): Promise<Order[]> {
  const found: Order[] = [];
  for (;;) {
    const { orders, total } = await ordersOf(baseUrl, key, 500, found.length);
    found.push(...orders);
    if (orders.length === 0 || found.length >= total) return found;
  }
}

function counted(
  rows: number,
  orders: readonly Order[],
): Pick<CampaignReport, 'orders' | 'missing' | 'doubled'> {
  const counts = new Map<string, number>();
  for (const { metadata } of orders) {
    const name = metadata?.errand_reference ?? 'none';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const valid = Array.from({ length: rows - 1 }, (_, at) => reference(at));
  return {
    orders: orders.length,
    missing: valid.filter((name) => !counts.has(name)),
    doubled: [...counts].filter(([, count]) => count > 1).map(([name]) => name),
  };
}

const periodMs = rowsOfPart * 1000;

async function begunParts(database: TeamDatabase): Promise<Pick<CampaignReport, 'campaigns' | 'maxBegun'>> {
  const found = await database.rows<{ name: string; at: number | null }>(
    'SELECT name, started_at_epoch_ms AS at FROM dbos.workflow_status',
  );
  const at = found
    .filter(({ name }) => name === 'part')
    .map((row) => Number(row.at))
    .sort((one, other) => one - other);
  const within = at.map((from) => at.filter((one) => one >= from && one < from + periodMs).length);
  return {
    campaigns: found.filter(({ name }) => name === 'campaign').length,
    maxBegun: Math.max(0, ...within),
  };
}

/** Orders a second between crashes: the slope of their number over time, which a burst at either end does not change. */
function paceOf(orders: readonly Order[], downs: readonly Down[]): number | undefined {
  const at = orders.map(({ created_at }) => Date.parse(created_at)).sort((one, other) => one - other);
  const bounds = [0, ...downs.flat(), Number.MAX_SAFE_INTEGER];
  let [sum, weight] = [0, 0];
  for (let index = 0; index + 1 < bounds.length; index += 2) {
    const [from = 0, to = 0] = bounds.slice(index, index + 2);
    const times = at.filter((one) => one >= from && one < to);
    if ((times.at(-1) ?? 0) - (times[0] ?? 0) < 3 * periodMs) continue;
    sum += slopeOf(times) * times.length;
    weight += times.length;
  }
  return weight === 0 ? undefined : sum / weight;
}

/** Least squares of the number against the time. @param times ms, sorted. @returns per second. */
function slopeOf(times: readonly number[]): number {
  const middle = times.reduce((sum, one) => sum + one, 0) / times.length;
  const middleIndex = (times.length - 1) / 2;
  const across = times.reduce((sum, one, index) => sum + (one - middle) * (index - middleIndex), 0);
  return (1000 * across) / times.reduce((sum, one) => sum + (one - middle) ** 2, 0);
}

/** The texts that are in a dump of the engine's tables. */
async function leakedIn(database: TeamDatabase, texts: readonly string[]): Promise<string[]> {
  const dump = ['--schema=dbos', '--data-only', database.url];
  const { stdout } = await promisify(execFile)(program('pg_dump'), dump, { maxBuffer: 1 << 30 });
  if (!stdout.includes('workflow_status')) throw new Error('the dump has no tables of the engine');
  return texts.filter((text) => stdout.includes(text));
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
