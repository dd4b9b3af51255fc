import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caches } from '../support/caches.ts';
import { attempt, type Ended } from './attempt.ts';
import { brokenChain } from './chain.ts';
import { liesOf, outcomeOf } from './lies.ts';
import { FaultProxy } from './proxy.ts';
import { Random } from './random.ts';
import { unreconciled } from './reconciled.ts';
import { type Scenario, scenarioOf } from './scenario.ts';

/** A service, and the account that orders there. */
export interface World {
  readonly baseUrl: string;
  readonly shopUrl: string;
  readonly key: string;
}

/** The same service in two modes: one echoes fields as sent, the other normalises them. */
export interface Worlds {
  readonly plain: World;
  readonly normalising: World;
}

export interface RunReport {
  readonly seed: number;
  /** One per intended order. */
  readonly intents: readonly string[];
  readonly scenario: Scenario;
  readonly attempts: readonly Ended[];
  /** False claims the program made along the way; empty if there were none. */
  readonly lies: readonly string[];
}

const mostAttempts = 14;
/** Turns before the clock is corrected: payment expiry depends on it. */
const turnsWithWrongClock = 3;
/** `reconcile` is run after one in this many runs. */
const runsPerReconcile = 10;
/** CSV rows; more than one batch holds. */
const rowsInFile = 3;

/**
 * Runs one intent through a scenario, acting as a careful user until it is known to be done: either repeats the
 * command, or follows the journal and resends only what it does not know or knows as refused.
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

/** The run succeeded, reported that the order exists, or printed it before a signal ended it. */
export const isDone = (ended: Ended): boolean =>
  ended.code === 0 || outcomeOf(ended)?.outcome === 'applied' || (isInterrupted(ended) && hasOrder(ended));

const isInterrupted = ({ code, signal }: Ended): boolean => signal !== null || code === 130 || code === 143;

/** Whether stdout holds a complete record with an id, so that its reader knows the order. */
function hasOrder({ stdout }: Ended): boolean {
  try {
    return typeof JSON.parse(stdout).id === 'string';
  } catch {
    return false;
  }
}

/** Builds the command for one order. It stays open, since a failed order would be placed again. */
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

/** Builds the command that orders a product for one cent. @param intent distinguishes the orders. */
export function orderArgs(url: string, intent: string): string[] {
  // Each intent is a need of its own: orders for one recipient are taken for duplicates.
  const to = ['--first-name', 'A', '--last-name', intent, '--address-line1', '1 Main St', '--city', 'Austin'];
  return [
    ...['order', 'create', '--product', url, '--max-price-cents', '1'],
    ...[...to, '--state', 'TX', '--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100'],
    ...['--metadata', `intent=${intent}`],
  ];
}

/** Builds the upload of a CSV with one row per intent; it is safe to repeat after any failure. */
export function uploadArgs({ shopUrl }: World, intents: readonly string[], file: string): string[] {
  const rows = intents.map(
    (intent) => `${shopUrl}/test-never,1,A ${intent},1 Main St,Austin,TX,78701,5125550100,${intent}`,
  );
  const headings = 'url,max_price_cents,name,address,city,state,zip,phone,metadata.intent';
  writeFileSync(file, [headings, ...rows, ''].join('\n'));
  return ['bulk', 'upload', file, '--batch-size', '2', '--timeout', '1200ms', '-o', 'json', '--retries', '1'];
}

/** Picks a careful user's next step. */
export async function nextStep(
  { sameAgain, otherProfile }: Pick<Scenario, 'sameAgain' | 'otherProfile'>,
  common: Omit<Parameters<typeof attempt>[0], 'blow' | 'args'>,
  create: readonly string[],
  ended: Ended | undefined,
): Promise<readonly string[] | 'done'> {
  const outcome = ended && outcomeOf(ended);
  const limits = ['--timeout', '1200ms', '-o', 'json'];
  // Too old to be resent automatically; the user confirms it with `--resend`.
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

/** Each order costs one cent plus the one-dollar fee. @returns the file. */
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
