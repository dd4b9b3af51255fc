import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { caches } from '../../support/caches.ts';
import type { TeamDatabase } from '../../support/postgres.ts';
import type { Ended, Runner } from '../../support/runner.ts';
import { endLeases } from '../team/database.ts';
import { patiently } from '../team/patiently.ts';
import { doors, type Hand, liveDoors, type Outcome } from './doors.ts';
import {
  type History,
  type Kill,
  knowsOf,
  type Machine,
  type Need,
  type RequestKill,
  type Run,
  type Step,
} from './history.ts';
import { type Finding, type Judged, judgeEnd, judgeRuns } from './judge.ts';
import { NeedsService, type TrueOrder } from './service.ts';
import { spelledOrder } from './spelling.ts';

const libraryCall = fileURLToPath(new URL('./library-call.mjs', import.meta.url));
const clockSet = fileURLToPath(new URL('../../support/clock-set.cjs', import.meta.url));

/** A played history: what was done, line by line, and what was wrong. */
export interface Played {
  readonly findings: readonly Finding[];
  readonly log: readonly string[];
  readonly commands: number;
}

export const startMs = Date.parse('2026-03-02T09:00:00Z');
/** Time between two steps, and between two commands of one, ms: a batch's rows are placed within it. */
const stepMs = 1500;
const roundMs = 3 * 60_000;

/** Where a history is played: on real processes, or in a simulation. */
export interface Stage {
  readonly service: NeedsService;
  readonly folder: string;
  /** Keeps the journals of a history that shares them. */
  readonly database?: TeamDatabase | undefined;
  /** Whether it can kill a command before any effect. */
  readonly killsAtEffects?: boolean;
  /** Whether money is compared once a history has ended. */
  readonly checksBooks?: boolean;
  /** Runs a command line. @param place tells commands apart that run at once. */
  run(place: number, line: StageLine): Promise<Ended>;
  /** Kills what runs in the first place. */
  kill(): Promise<void>;
  /** Lets arrive what commands that were killed have sent, where time does not pass by itself. */
  arrive?(): Promise<void>;
  /** Has a program place an order by the library. */
  place(line: StageLine, call: object): Promise<Ended>;
}

export type Place = 0 | 1;

export interface StageLine {
  readonly argv: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly machine: number;
  /** How far its machine's clock is ahead of the service's, ms. */
  readonly skewMs: number;
  readonly kill: Kill | undefined;
}

/** Plays a history with processes of the program. @param database keeps the journals of a history that shares them. */
export async function playHistory(
  history: History,
  runners: readonly [Runner, Runner],
  database?: TeamDatabase,
): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-history-'));
  const service = await NeedsService.start(history.habits, { now: startMs });
  let program: ChildProcess | undefined;
  const environment = ({ env, skewMs }: StageLine) => ({
    ...{ ...env, XDG_CACHE_HOME: caches, CLOCK_SET_AFTER_MS: '-1' },
    CLOCK_SET_MS: String(Math.round(service.now + skewMs - Date.now())),
  });
  const stage: Stage = {
    ...{ service, folder, database },
    run: (place, line) =>
      runners[place === 0 ? 0 : 1].run({ ...line, env: environment(line), preloads: [clockSet] }),
    kill: async () => {
      await runners[0].stop('SIGKILL');
      program?.kill('SIGKILL');
    },
    place: async (line, call) => {
      program = spawn(process.execPath, ['--require', clockSet, libraryCall], { env: environment(line) });
      program.stdin?.end(JSON.stringify(call));
      return endOf(program);
    },
  };
  try {
    return await played(history, stage);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function endOf(program: ChildProcess): Promise<Ended> {
  const { stdout: out, stderr: err } = program;
  if (!out || !err) throw new Error('the program was started without streams');
  const [stdout, stderr, [code]] = await Promise.all([text(out), text(err), once(program, 'close')]);
  return { code, stdout, stderr, busyMs: 0, ...(code !== 0 && { crash: stderr || 'killed' }) };
}

/** Plays a history on a stage. */
export async function played(history: History, stage: Stage): Promise<Played> {
  const play = new Play(history, stage);
  await play.all();
  return play;
}

class Play implements Played {
  readonly findings: Finding[] = [];
  readonly log: string[] = [];
  commands = 0;
  readonly #history: History;
  readonly #stage: Stage;
  readonly #service: NeedsService;
  readonly #past: Judged[] = [];
  /** What the commands that settle a need's doubts said last. */
  readonly #lastWords = new Map<number, string>();

  constructor(history: History, stage: Stage) {
    this.#history = history;
    this.#stage = stage;
    this.#service = stage.service;
  }

  async all(): Promise<void> {
    const { steps, needs } = this.#history;
    for (const step of steps) {
      await this.#step(step);
      if (this.findings.length > 0) return;
    }
    for (let round = 1; round <= 3; round += 1) {
      this.log.push(`# ${roundMs / 60_000} min pass; round ${round} of 3`);
      await this.#service.pass(roundMs);
      for (const at of needs.keys()) {
        const run = this.#plainRun(at, round);
        const [outcome] = await this.#run([run]);
        await this.#settle(run, outcome);
        if (this.findings.length > 0) return;
      }
    }
    const orders = await this.#truth();
    this.findings.push(...judgeEnd(this.#history, orders, this.#past, this.#lastWords));
    if (this.#stage.checksBooks && this.findings.length === 0) await this.#checkBooks(orders);
  }

  /** Whether every journal's chain holds, and its money adds up to that of the service's own orders. */
  async #checkBooks(orders: readonly TrueOrder[]): Promise<void> {
    const { machines } = this.#history;
    // Lists show all there is.
    await this.#service.pass(roundMs);
    const withoutReturns = orders.every(({ isReturned }) => !isReturned);
    for (const [at, { user, journal }] of machines.entries()) {
      if (user === 'other' || machines.findIndex((one) => one.journal === journal) !== at) continue;
      const run = { ...this.#plainRun(0, 1), door: 'reference' as const, machine: at };
      const { errand } = this.#handOf(run, 0);
      const verified = await errand('audit', 'verify');
      const finding = (what: string): Finding => ({ rule: 'books', hidden: '?', what });
      if (verified.code !== 0)
        this.findings.push(
          finding(`audit verify: exit ${verified.code}: ${verified.crash ?? verified.stderr}`),
        );
      const cents = await this.#service.cents();
      const compared = await errand('reconcile', '-o', 'json');
      if (compared.code !== 0 && compared.code !== 7)
        this.findings.push(finding(`reconcile: exit ${compared.code}: ${compared.crash ?? compared.stderr}`));
      else if (withoutReturns && cents === (await this.#service.cents()))
        this.findings.push(...wrongSums(compared.stdout, cents).map(finding));
    }
  }

  /** The command of a need without faults, on its last machine, or on another. */
  #plainRun(at: number, round: number): Run {
    const { machines, needs, steps, isShared } = this.#history;
    const need = needs[at];
    if (!need) throw new Error(`there is no need ${at}`);
    const used = steps.flatMap((step) =>
      step.do === 'run'
        ? step.runs.filter((run) => run.needs.includes(at)).map(({ machine }) => machine)
        : [],
    );
    const fitting = machines.flatMap((one, index) => (knowsOf(one, need, isShared) ? [index] : []));
    const machine = (round === 2 ? fitting.at(-1) : used.at(-1)) ?? fitting[0] ?? 0;
    return {
      ...{ door: need.door, machine, needs: [at], spelling: 0, isMore: false, isMeant: false },
      ...{ faults: [], readFaults: [], kill: undefined },
    };
  }

  /** Follows what a command says of an order in doubt, as its user would. */
  async #settle(run: Run, outcome: Outcome | undefined): Promise<void> {
    const lines = [...(outcome?.settling ?? [])];
    const forgetting = [...(outcome?.forgetting ?? [])];
    for (const line of lines) {
      const hand = this.#handOf(run, 0);
      const [, first = 'order', ...words] = line.split(' ');
      const { code, stderr } = await hand.errand(first, ...words);
      const isAbsent =
        stderr.includes('No order of that time looks like it.') ||
        (stderr.includes('listed nowhere') && !(await this.#isThere(hand, run)));
      if (code === 5 && isAbsent && !line.includes('--resend')) lines.push(`${line} --resend`);
      // A payment that has expired settles nothing, and neither does another key of the same user, or a service that does not
      // name the order it has.
      const isRefused = code === 10 && (run.door === 'agent' || stderr.includes('is refused now'));
      if (isRefused || (code === 5 && line.includes('--resend')))
        forgetting.push(...(stderr.match(/errand order journal forget [\w-]+/g) ?? []));
      this.log.push(`  exit ${code} ${stderr.trim().slice(0, 200)}`);
      // Why the service refuses says more than what comes after it.
      for (const at of run.needs)
        if (this.#lastWords.get(at)?.includes('is refused now') !== true) this.#lastWords.set(at, stderr);
      await this.#service.pass(stepMs);
    }
    for (const line of forgetting) {
      const hand = this.#handOf(run, 0);
      const [, first = 'order', ...words] = line.split(' ');
      await hand.errand(first, ...words);
      if (!(await this.#isThere(hand, run))) await this.#run([{ ...run, isMeant: true }]);
    }
  }

  /** Whether somebody who looks at the service sees a live order of a command's need. */
  async #isThere({ ordersOf, needs }: Hand, { needs: [at = 0] }: Run): Promise<boolean> {
    const need = needs[at];
    return need !== undefined && (await ordersOf(need)).some(({ isLive }) => isLive);
  }

  async #step(step: Step): Promise<void> {
    if (step.do === 'run') return void (await this.#run(step.runs));
    if (step.do === 'pass') {
      this.log.push(`# ${duration(step.ms)} pass`);
      return this.#service.pass(step.ms);
    }
    const need = this.#history.needs[step.need];
    if (!need || need.organisation === 'another') return;
    if (step.do === 'order elsewhere') return this.#orderElsewhere(need);
    const live = (await this.#truth()).filter(({ hidden, isLive }) => isLive && hidden === need.hidden);
    const [order] = live;
    // A key of one order returns nothing.
    if (order && !(step.do === 'return' && need.door === 'agent')) await this.#end(step.do, order);
  }

  /** Has the service end an order. */
  async #end(how: 'cancel' | 'fail' | 'return', { id }: TrueOrder): Promise<void> {
    const service = this.#service;
    this.log.push(`# at the service: ${how} ${id}`);
    if (how === 'fail') await service.trigger('failed', id);
    if (how === 'cancel') await service.cancel(id).catch(() => this.log.push('# too late'));
    if (how !== 'return') return;
    await service.trigger('delivered', id);
    const { id: returned } = await service
      .act('POST', '/returns', { order_id: id, reason: 'defective' })
      .catch((error) => ({ id: this.log.push(`# not returned: ${error}`) }));
    await service.trigger('return-approved', String(returned));
  }

  /** Somebody orders by the service's own means. */
  async #orderElsewhere(need: Need): Promise<void> {
    const { hidden, reference, namespace } = need;
    const order = spelledOrder(need, { spelling: 0, isMore: false }, this.#service.shopUrl);
    const named = namespace === undefined ? reference : `${namespace}:${reference}`;
    const metadata = { hidden, ...(named !== undefined && { errand_reference: named }) };
    const { id } = await this.#service.order({ ...order, metadata });
    this.log.push(`# somebody orders ${hidden} elsewhere: ${id}`);
    this.#past.push({ kind: 'elsewhere', hidden, orderId: String(id) });
  }

  async #run(runs: readonly Run[]): Promise<readonly Outcome[]> {
    const service = this.#service;
    const before = await this.#truth();
    const [run] = runs;
    const isAlone = runs.length === 1;
    service.faults = isAlone ? [...(run?.faults ?? [])] : [];
    service.readFaults = isAlone ? [...(run?.readFaults ?? [])] : [];
    if (isAlone && run?.kill && 'request' in run.kill) this.#killAt(run.kill);
    const outcomes = await Promise.all(
      runs.map(async (one, at): Promise<Outcome> => {
        return doors[one.door].order(this.#handOf(one, at === 0 ? 0 : 1), one);
      }),
    );
    service.faults = [];
    service.readFaults = [];
    service.onMoment = async () => false;
    const { isShared } = this.#history;
    const { database } = this.#stage;
    if (isShared && database && outcomes.some(({ code }) => code === null))
      await patiently(() => endLeases(database));
    if (outcomes.some(({ code }) => code === null)) await this.#stage.arrive?.();
    const atEnd = await this.#truth();
    await service.deliverLate();
    await service.pass(stepMs);
    const after = await this.#truth();
    this.commands += runs.length;
    const judged = runs.map((one, at) => {
      const { needs = one.needs, ...outcome } = outcomes[at] ?? nothing;
      return { run: { ...one, needs }, outcome };
    });
    for (const { outcome } of judged)
      this.log.push(
        `  exit ${outcome.code ?? 'killed'} ${outcome.text.trim().split('\n').at(-1)?.slice(0, 200)}`,
      );
    for (const order of after)
      if (!before.some(({ id }) => id === order.id)) this.log.push(`  -> ${order.id} for ${order.hidden}`);
    this.findings.push(
      ...judgeRuns({
        history: this.#history,
        runs: judged,
        before,
        atEnd,
        after,
        past: this.#past,
        now: service.now,
      }),
    );
    this.#past.push({ kind: 'runs', runs: judged, before, after, at: service.now });
    return outcomes;
  }

  #killAt({ request, at }: RequestKill): void {
    let count = 0;
    this.#service.onMoment = async (moment) => {
      if (moment === 'came') count += 1;
      if (count !== request || moment !== at) return false;
      await this.#stage.kill();
      return true;
    };
  }

  #handOf(run: Run, place: Place): Hand {
    const machine = this.#history.machines[run.machine];
    if (!machine) throw new Error(`there is no machine ${run.machine}`);
    // Commands that run at once have files of their own.
    const folder = join(this.#stage.folder, `m${run.machine}${place === 0 ? '' : '-2'}`);
    const config = join(folder, '.config');
    mkdirSync(config, { recursive: true, mode: 0o700 });
    // As a live key has it.
    if (this.#history.needs.some(({ door }) => door !== 'reference'))
      writeFileSync(join(config, 'config.json'), '{"preferences":{"duplicate-window":"12h"}}', {
        mode: 0o600,
      });
    const { maxCents } = this.#history;
    const policy = join(config, 'policy.yaml');
    const isLimited = maxCents !== undefined && machine.user !== 'other';
    if (isLimited)
      writeFileSync(policy, `version: 1\nlimits:\n  per_month: "$${(maxCents / 100).toFixed(2)}"\n`, {
        mode: 0o600,
      });
    const lineOfRun = (argv: readonly string[], stdin?: string): StageLine => ({
      ...{ argv, folder, machine: run.machine, kill: run.kill },
      ...(stdin !== undefined && { stdin }),
      env: this.#environment(machine, folder, run),
      // A clock that is ahead pays for nothing, and says so.
      skewMs: run.door === 'agent' ? Math.min(machine.skewMs, 0) : machine.skewMs,
    });
    return {
      folder,
      shopUrl: this.#service.shopUrl,
      needs: this.#history.needs,
      errand: (first, ...more) => {
        const [argv, stdin] = typeof first === 'string' ? [[first, ...more]] : [more, first.stdin];
        const shown = typeof first === 'string' ? lineOf(argv) : `agent: ${first.shown}`;
        this.log.push(`[machine ${run.machine}] ${shown}${hurtOf(run)}`);
        return this.#stage.run(place, lineOfRun(argv, stdin));
      },
      place: (order, options) => {
        this.log.push(`[machine ${run.machine}] placeOrder ${JSON.stringify(options)}${hurtOf(run)}`);
        const line = lineOfRun([]);
        const { env } = line;
        const call = {
          ...{ baseUrl: env.ERRAND_BASE_URL, apiKey: env.ERRAND_API_KEY },
          ...{ folder: env.ERRAND_STATE_DIR, database: env.ERRAND_DATABASE_URL },
          ...(isLimited && { policy }),
        };
        return this.#stage.place(line, { ...call, order, options });
      },
      ordersOf: async ({ hidden }) => (await this.#truth()).filter((order) => order.hidden === hidden),
    };
  }

  #environment({ user, journal }: Machine, folder: string, { door, machine }: Run): Record<string, string> {
    const { service, database } = this.#stage;
    return {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      LANG: 'C.UTF-8',
      ERRAND_CONFIG_DIR: join(folder, '.config'),
      ERRAND_STATE_DIR: join(folder, '..', database ? `copy${machine}` : `journal${journal}`),
      ...(database && { ERRAND_DATABASE_URL: database.url }),
      ERRAND_NO_INPUT: '1',
      ERRAND_BASE_URL: service.baseUrl,
      // The library reads no preference, and compares for longer with a live key. What an agent pays for is live as well.
      ERRAND_API_KEY: service.keyOf(user, liveDoors.has(door) ? 'live' : 'test'),
    };
  }

  async #truth(): Promise<TrueOrder[]> {
    const service = this.#service;
    return [
      ...(await service.orders('ours')),
      ...(await service.orders('another')),
      ...(await service.agentOrders()),
    ];
  }
}

/** @param cents held and spent at the service. @returns what is wrong with the sums that `reconcile` prints. */
function wrongSums(printed: string, cents: number): string[] {
  const { findings, incomplete, sums, elsewhere } = JSON.parse(printed);
  // What is found is left out of the sums.
  if (findings.length > 0 || incomplete > 0) return [];
  const sum = [...sums, ...elsewhere.sums]
    .filter(({ payer }) => payer === 'wallet')
    .reduce((all, { net, held }) => all + net + held, 0);
  return sum === cents ? [] : [`reconcile: ${sum} cents; the service has ${cents}`];
}

const nothing: Outcome = {
  ...{ code: null, text: '', placed: [], settling: [] },
  ...{ isNothingNew: false, isDenied: false },
};

const lineOf = (argv: readonly string[]): string =>
  `errand ${argv.map((word) => (/^[\w./:=-]+$/.test(word) ? word : `'${word}'`)).join(' ')}`;

/** What befalls a command. */
function hurtOf({ spelling, isMore, faults, readFaults, kill }: Run): string {
  const hurts = [
    ...(spelling === 0 ? [] : [`spelling ${spelling}`]),
    ...(isMore ? ['one more of each'] : []),
    ...faults,
    ...readFaults.map((fault) => `${fault} of a look`),
    ...(kill
      ? [
          'request' in kill
            ? `killed at request ${kill.request}, ${kill.at}`
            : `${kill.isPowerCut ? 'power cut' : kill.isDiskFull ? 'disk full' : 'killed'} at effect ${kill.effect}`,
        ]
      : []),
  ];
  return hurts.length === 0 ? '' : `   # ${hurts.join(', ')}`;
}

function duration(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ] as const;
  const [name, size] = units.find(([, of]) => ms >= of) ?? ['s', 1000];
  return `${Math.round((ms / size) * 10) / 10} ${name}`;
}
