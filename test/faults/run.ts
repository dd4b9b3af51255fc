import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caches } from '../caches.ts';
import { attempt, type Ended } from './attempt.ts';
import { brokenChain } from './chain.ts';
import { liesOf, outcomeOf } from './lies.ts';
import { FaultProxy } from './proxy.ts';
import { Random } from './random.ts';
import { unreconciled } from './reconciled.ts';
import { type Scenario, scenarioOf } from './scenario.ts';

/** A service, and who orders there. */
export interface World {
  readonly baseUrl: string;
  readonly shopUrl: string;
  readonly key: string;
}

/** The same service twice: one echoes what it was sent, one spells it its own way. */
export interface Worlds {
  readonly plain: World;
  readonly normalising: World;
}

export interface RunReport {
  readonly seed: number;
  /** One for each order that is meant. */
  readonly intents: readonly string[];
  readonly scenario: Scenario;
  readonly attempts: readonly Ended[];
  /** What was found wrong with what the program said on the way; empty where all of it was true. */
  readonly lies: readonly string[];
}

const mostAttempts = 14;
/** After these somebody corrects the clock: what is to be paid expires by it. */
const turnsWithWrongClock = 3;
/** After one of so many runs the program compares what it ordered with what the service has. */
const runsPerReconcile = 10;
/** Rows of a CSV, in more batches than one. */
const rowsInFile = 3;

/**
 * One intent through one scenario, pursued as a careful user would until it is known to be done: by the same command again,
 * or by what the journal says, in which case only what it knows nothing of, or knows as refused, is sent anew.
 */
export async function runIntent(worlds: Worlds, seed: number, given?: Scenario): Promise<RunReport> {
  const random = new Random(seed);
  const scenario = given ?? scenarioOf(random);
  const world = scenario.normalises ? worlds.normalising : worlds.plain;
  const intents =
    scenario.what === 'csv'
      ? Array.from({ length: rowsInFile }, (_, row) => `intent-${seed}-${row}`)
      : [`intent-${seed}`];
  const folder = mkdtempSync(join(tmpdir(), 'errand-fault-'));
  const proxy = new FaultProxy(world.baseUrl);
  const address = await proxy.start();
  let current = proxy;
  const attempts: Ended[] = [];
  const lies: string[] = [];
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_CACHE_HOME: caches,
    ERRAND_CONFIG_DIR: join(folder, 'config'),
    ERRAND_STATE_DIR: join(folder, 'state'),
    ERRAND_BASE_URL: address,
    ERRAND_API_KEY: world.key,
  };
  const report = { seed, intents, scenario, attempts, lies };
  const create =
    scenario.what === 'csv'
      ? uploadArgs(world, intents, join(folder, 'orders.csv'))
      : createArgs(world, scenario.what, intents[0] ?? '', scenario.ownKey ? `key-${seed}` : undefined);
  if (scenario.otherProfile) saveProfile(environment.ERRAND_CONFIG_DIR, address);
  if (scenario.policy) savePolicy(environment.ERRAND_CONFIG_DIR, intents.length);
  let args: readonly string[] | 'done' = create;
  try {
    proxy.faults = [...scenario.faults];
    if (scenario.refusedFirst) await current.stop();
    for (let turn = 0; turn < mostAttempts; turn += 1) {
      const common = {
        args,
        environment,
        proxy: current,
        clockShiftMs: turn > 0 && turn <= turnsWithWrongClock ? scenario.clockShiftMs : 0,
      };
      const dying =
        scenario.proxyDies && turn === 0 && !scenario.refusedFirst
          ? killProxySoon(current, random.integer(60, 200))
          : undefined;
      const hurt = { blow: scenario.blows[turn], stdout: scenario.stdouts[turn], disk: scenario.disks[turn] };
      const others = turn === 0 ? scenario.crowd - 1 : 0;
      const all = await Promise.all([
        attempt({ ...common, ...hurt }),
        ...Array.from({ length: others }, () => attempt(common)),
      ]);
      await dying;
      attempts.push(...all);
      if (turn === 0 && (scenario.refusedFirst || dying)) {
        const { faults } = current;
        current = new FaultProxy(world.baseUrl);
        current.faults = faults;
        await current.start(Number(new URL(address).port));
      }
      const around = { isHurt: hurt.disk !== undefined || hurt.stdout === 'full', isAlone: all.length === 1 };
      for (const ended of all) lies.push(...(await liesOf(world, scenario.what, intents, ended, around)));
      if (all.some(isDone)) return await whole();
      args = await nextStep(scenario, common, create, all[0]);
      if (args === 'done') return await whole();
    }
    return { ...report, lies: [...lies, `not done after ${mostAttempts} attempts`] };
  } finally {
    await Promise.all([proxy.stop(), current.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }

  async function whole(): Promise<RunReport> {
    const listed = scenario.what === 'paid' ? [] : intents;
    const isDue = seed % runsPerReconcile === 0;
    const unlike = isDue ? await unreconciled(environment, world, current, listed) : [];
    return { ...report, lies: [...lies, ...brokenChain(folder), ...unlike] };
  }
}

/** It ended well, or said that the order exists, or printed it before a signal ended it. */
export const isDone = (ended: Ended): boolean =>
  ended.code === 0 || outcomeOf(ended)?.outcome === 'applied' || (isInterrupted(ended) && hasOrder(ended));

const isInterrupted = ({ code, signal }: Ended): boolean => signal !== null || code === 130 || code === 143;

/** Whether stdout took a whole record with its id: then whoever reads it knows of it. */
function hasOrder({ stdout }: Ended): boolean {
  try {
    return typeof JSON.parse(stdout).id === 'string';
  } catch {
    return false;
  }
}

/** The command that makes one order, which stays open: one that had failed would be ordered again. */
export function createArgs(
  { shopUrl }: World,
  what: Scenario['what'],
  intent: string,
  key: string | undefined,
): string[] {
  return [
    ...(what === 'paid' ? ['agent'] : []),
    ...orderArgs(`${shopUrl}/test-never`, intent),
    ...['--timeout', '1200ms', '-o', 'json', '--retries', '1'],
    ...(key === undefined ? [] : ['--idempotency-key', key]),
  ];
}

/** The command that orders a product for a cent. @param intent tells one order from another. */
export function orderArgs(url: string, intent: string): string[] {
  const to = ['--first-name', 'A', '--last-name', 'B', '--address-line1', '1 Main St', '--city', 'Austin'];
  return [
    ...['order', 'create', '--product', url, '--max-price-cents', '1'],
    ...[...to, '--state', 'TX', '--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100'],
    ...['--metadata', `intent=${intent}`],
  ];
}

/** The upload of a CSV with one row for each intent; the same command again is safe whatever became of it. */
export function uploadArgs({ shopUrl }: World, intents: readonly string[], file: string): string[] {
  const rows = intents.map(
    (intent) => `${shopUrl}/test-success,1,A B,1 Main St,Austin,TX,78701,5125550100,${intent}`,
  );
  const headings = 'url,max_price_cents,name,address,city,state,zip,phone,metadata.intent';
  writeFileSync(file, [headings, ...rows, ''].join('\n'));
  return ['bulk', 'upload', file, '--batch-size', '2', '--timeout', '1200ms', '-o', 'json', '--retries', '1'];
}

/** What a careful user does next. */
export async function nextStep(
  { sameAgain, otherProfile }: Pick<Scenario, 'sameAgain' | 'otherProfile'>,
  common: Omit<Parameters<typeof attempt>[0], 'blow' | 'args'>,
  create: readonly string[],
  ended: Ended | undefined,
): Promise<readonly string[] | 'done'> {
  const outcome = ended && outcomeOf(ended);
  const limits = ['--timeout', '1200ms', '-o', 'json'];
  // Too old to be sent again unasked: whoever has looked says so.
  if (outcome?.details?.in_doubt_since !== undefined && outcome.idempotency_key)
    return ['order', 'journal', 'resume', outcome.idempotency_key, '--resend', ...limits];
  if (sameAgain) return otherProfile ? [...create, '--profile', 'other'] : create;
  const { stdout } = await attempt({
    ...common,
    disk: undefined,
    args: ['order', 'journal', 'list', '--all', '-o', 'json'],
  });
  const records = JSON.parse(stdout || '[]') as { state: string }[];
  if (records.some(({ state }) => state === 'reported')) return 'done';
  return records.some(({ state }) => state === 'intended' || state === 'responded')
    ? ['order', 'journal', 'resume', '--all', ...limits]
    : create;
}

function saveProfile(folder: string, address: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stored = { profiles: { other: { base_url: address } } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(stored), { mode: 0o600 });
}

/** Each order takes a cent and the fee of a dollar. @returns the file. */
export function savePolicy(folder: string, orders: number): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const cents = orders * 101;
  const limit = `$${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  const text = `version: 1\nlimits:\n  per_order: $1.01\n  per_day: ${limit}\n  per_batch: ${limit}\n`;
  const file = join(folder, 'policy.yaml');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

async function killProxySoon(proxy: FaultProxy, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await proxy.stop();
}
