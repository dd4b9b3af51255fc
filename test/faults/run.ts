import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attempt, type Ended } from './attempt.ts';
import { FaultProxy } from './proxy.ts';
import { Random } from './random.ts';
import { type Scenario, scenarioOf } from './scenario.ts';

export interface World {
  readonly baseUrl: string;
  readonly shopUrl: string;
  readonly key: string;
}

export interface RunReport {
  readonly seed: number;
  /** One for each order that was asked for. */
  readonly intents: readonly string[];
  readonly scenario: Scenario;
  readonly attempts: readonly Ended[];
  /** What was found wrong with what the program said on the way; empty where all of it was true. */
  readonly lies: readonly string[];
}

const mostAttempts = 12;
/** Rows of a CSV, in more batches than one. */
const rowsInFile = 3;

/**
 * One intent through one scenario, pursued as a careful user would: while it is not known to be done, the same command
 * again with its own key; without one, what the journal says is in doubt is resumed, and only what the journal knows
 * nothing of, or knows as refused, is asked anew.
 */
export async function runIntent(world: World, seed: number, given?: Scenario): Promise<RunReport> {
  const random = new Random(seed);
  const scenario = given ?? scenarioOf(random);
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
  try {
    proxy.faults = [...scenario.faults];
    if (scenario.refusedFirst) await current.stop();
    for (let turn = 0; turn < mostAttempts; turn += 1) {
      const repeats = scenario.ownKey || scenario.what !== 'order';
      const args = turn === 0 || repeats ? create : await nextStep(environment, proxy, create);
      if (args === 'done') return report;
      const common = {
        args,
        environment,
        proxy: current,
        clockIsBack: turn > 0 && scenario.clockBackAtRetry,
      };
      const dying =
        scenario.proxyDies && turn === 0 && !scenario.refusedFirst
          ? killProxySoon(current, random.integer(60, 200))
          : undefined;
      const both = await Promise.all([
        attempt({ ...common, blow: scenario.blows[turn] }),
        ...(scenario.twice && turn === 0 ? [attempt(common)] : []),
      ]);
      await dying;
      attempts.push(...both);
      if (turn === 0 && (scenario.refusedFirst || dying)) {
        const { faults } = current;
        current = new FaultProxy(world.baseUrl);
        current.faults = faults;
        await current.start(Number(new URL(address).port));
      }
      for (const ended of both) lies.push(...(await liesOf(world, scenario.what, intents, ended)));
      if (both.some(({ code }) => code === 0)) return report;
    }
    return { ...report, lies: [...lies, `not done after ${mostAttempts} attempts`] };
  } finally {
    await Promise.all([proxy.stop(), current.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function createArgs(
  { shopUrl }: World,
  what: Scenario['what'],
  intent: string,
  key: string | undefined,
): string[] {
  const to = [
    '--first-name',
    'A',
    '--last-name',
    'B',
    '--address-line1',
    '1 Main St',
    '--city',
    'Austin',
    '--state',
    'TX',
  ];
  return [
    ...(what === 'paid' ? ['agent'] : []),
    ...['order', 'create', '--product', `${shopUrl}/test-success`, '--max-price-cents', '1'],
    ...[...to, '--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100'],
    ...['--metadata', `intent=${intent}`, '--timeout', '1200ms', '-o', 'json', '--retries', '1'],
    ...(key === undefined ? [] : ['--idempotency-key', key]),
  ];
}

/** The upload of a CSV with one row for each intent; the same command again is safe whatever became of it. */
function uploadArgs({ shopUrl }: World, intents: readonly string[], file: string): string[] {
  const rows = intents.map(
    (intent) => `${shopUrl}/test-success,1,A B,1 Main St,Austin,TX,78701,5125550100,${intent}`,
  );
  const headings = 'url,max_price_cents,name,address,city,state,zip,phone,metadata.intent';
  writeFileSync(file, [headings, ...rows, ''].join('\n'));
  return ['bulk', 'upload', file, '--batch-size', '2', '--timeout', '1200ms', '-o', 'json', '--retries', '1'];
}

/** Without a key of one's own: what the journal says decides what to do next. */
async function nextStep(
  environment: Record<string, string>,
  proxy: FaultProxy,
  create: readonly string[],
): Promise<readonly string[] | 'done'> {
  const { stdout } = await attempt({
    args: ['order', 'journal', 'list', '--all', '-o', 'json'],
    environment,
    proxy,
  });
  const records = JSON.parse(stdout || '[]') as { state: string }[];
  if (records.some(({ state }) => state === 'settled')) return 'done';
  if (records.some(({ state }) => state === 'open'))
    return ['order', 'journal', 'resume', '--all', '--timeout', '1200ms', '-o', 'json'];
  return create;
}

async function killProxySoon(proxy: FaultProxy, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await proxy.stop();
}

/** What an exit code claims, held against the service itself. */
async function liesOf(
  world: World,
  what: Scenario['what'],
  intents: readonly string[],
  { code, stderr }: Ended,
): Promise<string[]> {
  if (code !== 0 && code !== 9 && code !== 1) return [];
  if (code === 1) return [`unexpected failure: ${stderr}`];
  const [intent = '', ...others] = intents;
  // The rows of a batch become orders later, and no key lists a paid order; the checker looks at the end.
  if (others.length > 0 || what === 'paid') return [];
  const count = await countOf(world, intent);
  if (code === 0 && count !== 1) return [`exit 0, and the service has ${count} orders`];
  // Another process or an earlier attempt may have made the order; then exit 9 is said of this attempt alone.
  return [];
}

async function countOf({ baseUrl, key }: World, intent: string): Promise<number> {
  const query = `metadata_key=intent&metadata_value=${intent}`;
  const answer = await fetch(`${baseUrl}/orders?${query}`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { total: number }).total;
}
