/** Flips one bit of the journal at rest: must cause no duplicate order, no altered order and no silent loss. */
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caches } from '../support/caches.ts';
import { attempt, type Ended, unhurt } from './attempt.ts';
import { FaultProxy } from './proxy.ts';
import { Random } from './random.ts';
import type { Service } from './service.ts';

const files = ['journal.db', 'journal.db-wal', 'journal.db-seal'];

/** The state of a killed machine, with intents in every journal state. */
export interface Killed {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** One per state: in doubt and made, in doubt and not made, made and never reported, reported. */
  readonly intents: readonly string[];
  create(intent: string): string[];
  close(): Promise<void>;
}

export interface Flip {
  readonly file: string;
  readonly byte: number;
  readonly bit: number;
  readonly intent: string;
  readonly wrong: readonly string[];
}

const ceilings: Readonly<Record<string, number>> = { made: 101, never: 102, unreported: 103, reported: 104 };

/** Places orders and is killed, leaving the journal as a power cut would: partly in the WAL alone. */
export async function killedMachine(service: Service, key: string): Promise<Killed> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-flips-'));
  const proxy = new FaultProxy(service.baseUrl);
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CACHE_HOME: caches,
    ERRAND_CONFIG_DIR: join(folder, 'config'),
    ERRAND_STATE_DIR: join(folder, 'state'),
    ERRAND_BASE_URL: await proxy.start(),
    ERRAND_API_KEY: key,
    ERRAND_NO_INPUT: '1',
  };
  const create = (intent: string): string[] => [
    ...['order', 'create', '--product', `${service.shopUrl}/test-never`],
    ...['--max-price-cents', String(ceilings[intent]), '--metadata', `intent=${intent}`],
    ...['--first-name', 'A', '--last-name', 'B', '--city', 'Austin'],
    // Each goes to another recipient, so that it is compared with itself alone.
    ...['--address-line1', `${ceilings[intent]} Main St`],
    ...['--state', 'TX', '--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100'],
    ...['--timeout', '3s', '--retries', '0', '-o', 'json'],
  ];
  const given = { environment, proxy };
  // Keep the reported order within the duplicate window, however long the flips take.
  await attempt({ ...given, args: ['config', 'set', 'duplicate-window', '20d'] });
  for (let past = 0; past < 6; past += 1)
    await attempt({
      ...given,
      args: [...create('reported'), '--po-number', `past-${past}`, '--idempotency-key', `past-${past}`],
    });
  await attempt({ ...given, args: [...create('reported'), '--new'] });
  const watching = [...create('unreported'), '--watch', '--until', 'delivered'];
  await attempt({ ...given, args: watching, blow: { signal: 'SIGKILL', at: 'responded', afterMs: 60 } });
  proxy.faults = ['silence-before', 'silence-after'];
  await attempt({ ...given, args: create('never'), blow: { signal: 'SIGKILL', at: 'request-came' } });
  await attempt({ ...given, args: create('made'), blow: { signal: 'SIGKILL', at: 'work-done' } });
  return {
    folder,
    environment,
    intents: Object.keys(ceilings),
    create,
    async close() {
      await proxy.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Flips one bit, repeats the command of one intent, and compares its claims with the service. */
export async function flipOnce(service: Service, key: string, killed: Killed, seed: number): Promise<Flip> {
  const random = new Random(seed);
  const folder = mkdtempSync(join(tmpdir(), 'errand-flip-'));
  const state = join(folder, 'state');
  cpSync(join(killed.folder, 'state'), state, { recursive: true });
  const environment = { ...killed.environment, ERRAND_STATE_DIR: state };
  try {
    const { file, byte, bit } = flip(state, random);
    const intent = random.pick(killed.intents);
    const before = await ordersOf(service, key, intent);
    const listed = await unhurt(['order', 'journal', 'list', '--all', '-o', 'json'], environment);
    const again = await unhurt(killed.create(intent), environment);
    const after = await ordersOf(service, key, intent);
    const wrong = [
      ...doubled(intent, before, after),
      ...after.filter((order) => order.max_price !== ceilings[intent]).map(({ id }) => `${id} was altered`),
      ...unreported(intent, again, after),
      ...unlisted(listed, killed.intents),
    ];
    return { file, byte, bit, intent, wrong };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function flip(state: string, random: Random): Pick<Flip, 'file' | 'byte' | 'bit'> {
  const there = files.map((name) => ({
    name,
    size: statSync(join(state, name), { throwIfNoEntry: false })?.size ?? 0,
  }));
  let at = random.integer(0, there.reduce((sum, { size }) => sum + size, 0) - 1);
  for (const { name, size } of there) {
    if (at >= size) {
      at -= size;
      continue;
    }
    const path = join(state, name);
    const bytes = readFileSync(path);
    const bit = random.integer(0, 7);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
    writeFileSync(path, bytes);
    return { file: name, byte: at, bit };
  }
  throw new Error('there is nothing to flip');
}

interface Order {
  readonly id: string;
  readonly max_price: number;
}

async function ordersOf({ baseUrl }: Service, key: string, intent: string): Promise<Order[]> {
  const query = `metadata_key=intent&metadata_value=${intent}&limit=500`;
  const response = await fetch(`${baseUrl}/orders?${query}`, { headers: { authorization: `Bearer ${key}` } });
  const { orders } = (await response.json()) as { orders: (Order & { po_number: string | null })[] };
  return orders.filter(({ po_number }) => po_number === null);
}

/** An intent not made yet may be made once; any further order is a duplicate. */
function doubled(intent: string, before: readonly Order[], after: readonly Order[]): string[] {
  const most = Math.max(1, before.length);
  return after.length > most ? [`${after.length} orders of ${intent}`] : [];
}

/** A successful run must report an existing order; a failed one must report an error. */
function unreported(intent: string, { code, stdout, stderr }: Ended, after: readonly Order[]): string[] {
  if (code !== 0) return stderr.includes('{"error"') ? [] : [`exit ${code} without a word`];
  const { id } = JSON.parse(stdout);
  return after.some((order) => order.id === id) ? [] : [`${id} was said of ${intent}, and is not there`];
}

/** Every intent is listed, or a problem is reported. */
function unlisted({ code, stdout, stderr }: Ended, intents: readonly string[]): string[] {
  if (code !== 0) return stderr.includes('{"error"') ? [] : [`the listing ended with ${code} without a word`];
  const records: { state: string; body: { metadata?: { intent?: string }; po_number?: string } }[] =
    JSON.parse(stdout);
  if (stderr !== '' || records.some(({ state }) => state === 'damaged')) return [];
  const listed = new Set(
    records.filter(({ body }) => !body.po_number).map(({ body }) => body.metadata?.intent),
  );
  return intents.filter((intent) => !listed.has(intent)).map((intent) => `${intent} is gone without a word`);
}
