import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { objectsIn, textIn } from '../../../src/api/json.ts';
import { caches } from '../../support/caches.ts';
import { hangsAfterMs } from '../../support/limits.ts';
import type { Ended } from '../../support/runner.ts';
import { type Habits, plainHabits } from '../needs/habits.ts';
import type { Kill } from '../needs/history.ts';
import type { Stage, StageLine } from '../needs/play.ts';
import { NeedsService, requestFaults, users } from '../needs/service.ts';
import { Random } from '../random.ts';

const program = fileURLToPath(new URL('../../../bin/errand.js', import.meta.url));
const clockSet = fileURLToPath(new URL('../../support/clock-set.cjs', import.meta.url));

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lateMs = 2 * dayMs;

export interface Weeks {
  readonly weeks: number;
  readonly machines: number;
  readonly seed: number;
}

export interface Played {
  /** What must not be; empty if all went well. */
  readonly findings: readonly string[];
  readonly log: readonly string[];
  readonly runs: number;
  readonly ordered: number;
  readonly missed: number;
}

/**
 * Sundays at half past two in Berlin, from the end of February on: a month later that time does not exist, and in autumn
 * it comes twice. The moments are written down here, and not computed by what is tested.
 */
function dueMoments(weeks: number): readonly number[] {
  const first = Date.parse('2027-02-28T01:30:00Z');
  const summer = Date.parse('2027-03-28T01:00:00Z');
  const winter = Date.parse('2027-10-31T01:00:00Z');
  return Array.from({ length: weeks }, (_, week) => {
    const plain = first + week * 7 * dayMs;
    if (plain < summer) return plain;
    if (plain < summer + dayMs) return summer;
    return plain < winter + dayMs ? plain - hourMs : plain;
  });
}

/** When weeks begin, ms since the epoch. */
export const startOfWeeks = Date.parse('2027-02-23T01:30:00Z');

interface Machine {
  readonly folder: string;
  readonly key: string;
  skewMs: number;
}

/** A run, and what it said. */
interface Ran {
  readonly machine: number;
  readonly at: number;
  readonly code: number | null;
  /** Nothing was broken, and the machine's clock is at most two days off. */
  readonly isClean: boolean;
  /** Whether others ran at the same time. One that loses a race may not learn by which order. */
  readonly isRace: boolean;
  readonly missed: readonly string[];
  /** What it printed for people. */
  readonly stderr: string;
}

/**
 * Has machines without a common journal run one file for weeks, whose ceiling is edited now and then: several at once, with
 * clocks that jump by two days either way, killed at any request, against a service that loses responses and forgets keys
 * after a day.
 */
export async function playedWeeks({ weeks, machines: count, seed }: Weeks, stage: Stage): Promise<Played> {
  const { service, folder } = stage;
  const random = new Random(seed);
  const due = dueMoments(weeks);
  const file = join(folder, 'standing.yaml');
  writeFileSync(file, fileText(service, weeks), { mode: 0o600 });
  const machines = Array.from({ length: count }, (_, index): Machine => {
    const own = join(folder, `machine-${index}`);
    mkdirSync(own, { mode: 0o700 });
    return { folder: own, key: service.keyOf(random.pick(users.slice(0, 2))), skewMs: 0 };
  });
  const log: string[] = [];
  const ran: Ran[] = [];
  const note = (one: Ran): void => {
    ran.push(one);
    const at = new Date(one.at).toISOString();
    log.push(`${at} machine ${one.machine}: exit ${one.code ?? 'killed'}${one.isClean ? '' : ' (hurt)'}`);
  };
  const end = (due.at(-1) ?? 0) + lateMs + 8 * dayMs;
  while (service.now < end) {
    await service.pass(random.integer(2, 40) * hourMs + random.integer(0, 3_600_000));
    if (random.next() < 0.15) await edit(stage, machines[0], file, random.integer(50, 90));
    const chosen = random.some([...machines.keys()], random.pick([0, 1, 1, 1, 2, 3]));
    for (const index of chosen) jump(machines[index], random);
    const isHurt = random.next() < 0.5;
    const isKilled = chosen.length === 1 && random.next() < 0.3;
    service.faults = isHurt ? [random.pick(requestFaults), random.pick(['none', ...requestFaults])] : [];
    service.readFaults = isHurt ? [random.pick(['none', 'reset-before', '500-after', 'half-response'])] : [];
    const kill = isKilled ? killOf(random, stage) : undefined;
    const made = await Promise.all(
      chosen.map((index, place) =>
        run(stage, machines[index], {
          ...{ index, file, kill, place },
          isClean: !isHurt && !isKilled,
          isRace: chosen.length > 1,
        }),
      ),
    );
    for (const one of made) note(one);
    service.faults = [];
    service.readFaults = [];
    await service.deliverLate();
  }
  // Everybody comes once more, and says what was missed.
  for (const [index, machine] of machines.entries()) {
    machine.skewMs = 0;
    const plain = { index, file, kill: undefined, place: 0, isClean: true, isRace: false };
    note(await run(stage, machine, plain));
  }
  return { ...(await judge(service, due, ran)), log, runs: ran.length };
}

/** A kill at a request, or where the stage can do it before any effect. */
const killOf = (random: Random, { killsAtEffects = false }: Stage): Kill =>
  killsAtEffects && random.next() < 0.7
    ? { effect: random.integer(1, 200), isPowerCut: random.next() < 0.4 }
    : { request: random.integer(1, 8), at: 'came' };

/** How the service of some weeks behaves. */
export function habitsOfWeeks({ seed }: Weeks): Habits {
  const random = new Random(seed + 1);
  return {
    ...plainHabits,
    forgetsKeysMs: dayMs,
    keysOf: 'organisation',
    lagMs: random.pick([0, 0, 30_000]),
    hidesExisting: random.next() < 0.3,
    normalises: random.next() < 0.3,
  };
}

/** Plays weeks with processes of the program. */
export async function playWeeks(weeks: Weeks): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-standing-'));
  const service = await NeedsService.start(habitsOfWeeks(weeks), { now: startOfWeeks });
  const children: (ChildProcess | undefined)[] = [];
  const stage: Stage = {
    ...{ service, folder },
    run: (place, { argv, folder: cwd, env, skewMs }) => {
      const child = spawn(process.execPath, [program, ...argv], {
        ...{ cwd, stdio: ['ignore', 'pipe', 'pipe'] },
        env: {
          ...env,
          XDG_CACHE_HOME: caches,
          NODE_OPTIONS: `--require=${clockSet}`,
          CLOCK_SET_MS: String(service.now + skewMs - Date.now()),
          CLOCK_SET_AFTER_MS: '-1',
        },
      });
      children[place] = child;
      return ended(child);
    },
    kill: async () => killed(children[0]),
    place: () => Promise.reject(new Error('no program places an order by the library here')),
  };
  try {
    return await playedWeeks(weeks, stage);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function jump(machine: Machine | undefined, random: Random): void {
  if (!machine || random.next() < 0.4) return;
  machine.skewMs = random.pick([0, 0, 2 * dayMs, -2 * dayMs, random.integer(-48, 48) * hourMs]);
}

const fileText = ({ shopUrl }: NeedsService, weeks: number): string => `version: 1
orders:
  weekly:
    id: 0123456789ab
    every: 1w
    starts: 2027-02-28
    at: "02:30"
    time_zone: Europe/Berlin
    count: ${weeks}
    late: 2d
    since: 2027-02-20T00:00:00Z
    order:
      products: [{ url: "${shopUrl}/test-success", quantity: 1 }]
      max_price: 5000
      shipping_address:
        first_name: Ada
        last_name: Example
        address_line1: 100 Congress Avenue
        city: Austin
        state: TX
        postal_code: "78701"
        country: US
        phone_number: "5125550100"
`;

interface Running {
  readonly index: number;
  readonly file: string;
  /** Which of those that run at once. */
  readonly place: number;
  readonly kill: Kill | undefined;
  readonly isClean: boolean;
  readonly isRace: boolean;
}

async function run(
  stage: Stage,
  machine: Machine | undefined,
  { index, file, place, kill, isClean, isRace }: Running,
): Promise<Ran> {
  if (!machine) throw new Error('there is no such machine');
  const { service } = stage;
  const { skewMs } = machine;
  const at = service.now;
  let requests = 0;
  service.onMoment = async () => {
    requests += 1;
    if (!kill || !('request' in kill) || requests !== kill.request) return false;
    await stage.kill();
    return true;
  };
  const words = ['run', '--standing', file, '--retries', '1', '-o', 'json'];
  const { code, stdout, stderr } = await stage.run(
    place,
    lineOf(stage, machine, words, { kill, machine: index }),
  );
  service.onMoment = async () => false;
  const rows: unknown = code === null || stdout.trim() === '' ? [] : JSON.parse(stdout);
  const missed = objectsIn({ rows }, 'rows')
    .filter(({ outcome }) => outcome === 'missed')
    .flatMap((row) => textIn(row, 'date') ?? []);
  const ran = { machine: index, at, code, isRace, missed, stderr };
  return { ...ran, isClean: isClean && Math.abs(skewMs) <= 2 * dayMs };
}

/** A command on a machine. */
const lineOf = (
  { service }: Stage,
  { folder, key, skewMs }: Machine,
  words: readonly string[],
  hurt: Pick<StageLine, 'kill' | 'machine'>,
): StageLine => ({
  ...{ argv: ['standing', ...words], folder, skewMs, ...hurt },
  env: {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ERRAND_CONFIG_DIR: join(folder, 'config'),
    ERRAND_STATE_DIR: join(folder, 'state'),
    ERRAND_BASE_URL: service.baseUrl,
    ERRAND_API_KEY: key,
  },
});

/** Changes the ceiling, so that what is in doubt was sent for an earlier version. */
async function edit(
  stage: Stage,
  machine: Machine | undefined,
  file: string,
  dollars: number,
): Promise<void> {
  if (!machine) throw new Error('there is no such machine');
  const words = ['edit', 'weekly', '--max-price', `$${dollars}`, '--standing', file];
  const { code } = await stage.run(0, lineOf(stage, machine, words, { kill: undefined, machine: 0 }));
  if (code !== 0) throw new Error(`the edit of a standing order exited with ${code}`);
}

async function killed(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

function ended(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), hangsAfterMs);
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr, busyMs: 0 });
    });
  });
}

/** Orders are assigned to dates by the time at which the service made them: the weeks do not overlap. */
async function judge(service: NeedsService, due: readonly number[], ran: readonly Ran[]) {
  const findings: string[] = [];
  const orders = (await service.orders()).filter(({ isLive }) => isLive);
  const reported = new Set(ran.flatMap(({ missed }) => missed));
  const firstRun = ran.find(({ isClean, code }) => isClean && code === 0)?.at ?? 0;
  let ordered = 0;
  let missed = 0;
  for (const at of due) {
    const date = dateOf(at);
    // A request that the network has held back arrives when its command has ended.
    const until = at + lateMs + 60_000;
    const own = orders.filter(({ madeAt }) => madeAt >= at - 1000 && madeAt <= until);
    const hasRun = ran.some((one) => one.isClean && one.at >= at && one.at < at + lateMs - 60_000);
    if (own.length > 1) findings.push(`${date} was bought ${own.length} times`);
    if (own.length === 0 && hasRun) findings.push(`${date} was not bought, although a machine ran`);
    if (own.length === 0 && at >= firstRun && !reported.has(date))
      findings.push(`nobody said that ${date} was missed`);
    if (own.length > 0 && reported.has(date)) findings.push(`${date} was bought, and said to be missed`);
    ordered += own.length;
    missed += own.length === 0 ? 1 : 0;
  }
  if (orders.length !== ordered) findings.push(`${orders.length - ordered} orders are early or too late`);
  const odd = ran.filter(
    ({ isClean, isRace, code }) => isClean && code !== 0 && code !== 7 && !(isRace && code === 10),
  );
  for (const { machine, at, code, stderr } of odd)
    findings.push(
      `machine ${machine} exited with ${code} at ${new Date(at).toISOString()}: ${stderr.trim()}`,
    );
  return { findings, ordered, missed };
}

/** The Sunday in Berlin. */
const dateOf = (moment: number): string => new Date(moment + 2 * hourMs).toISOString().slice(0, 10);
