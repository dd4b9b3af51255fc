import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { type OperationName, operations } from '../../src/api/operations/index.ts';
import { Random } from '../faults/random.ts';
import { ask, ordered, placedBatch, read, second } from '../service/specification/scenes.ts';
import { caches } from '../support/caches.ts';
import { knownCommands } from '../support/known-commands.ts';
import { hangsAfterMs } from '../support/limits.ts';
import { address, rowBody } from '../support/order-body.ts';
import { problemIn } from '../support/printed/check.ts';
import { type Ended, Runner } from '../support/runner.ts';
import { TestService } from '../support/service.ts';
import { type Attempt, DistortingService, type Sample } from './distorting-service.ts';
import { type CommandLine, commandLines, orderFile, type Scene } from './lines.ts';
import {
  allMutations,
  type Mutation,
  mutatedThroughout,
  type Path,
  pathsOf,
  pathsOfShape,
  someMutations,
} from './mutations.ts';
import { refusals } from './refusals.ts';

/**
 * How much to try per response: every mutation at every path (`HOSTILE=all`, hours), or a sample of that size, drawn from the
 * seed that a failure names. `npm test` draws another small one each day, `npm run proofs -- hostile` has the large one.
 */
const dayMs = 24 * 3600 * 1000;
const { HOSTILE = '2', HOSTILE_SEED = String(Math.floor(Date.now() / dayMs)) } = process.env;
const isWhole = HOSTILE === 'all';
const most = Number(HOSTILE);
const seed = Number(HOSTILE_SEED);

let scene: Scene;
let distorting: DistortingService;
const runner = new Runner();

beforeAll(async () => {
  const service = await TestService.start({
    now: Date.now(),
    config: { startBalanceCents: 1e12, mintLimitPerDay: 1e6 },
  });
  distorting = await DistortingService.start(service);
  const folder = mkdtempSync(join(tmpdir(), 'errand-hostile-'));
  writeFileSync(join(folder, 'order.json'), orderFile(service));
  writeFileSync(join(folder, 'home.json'), JSON.stringify(address));
  writeFileSync(join(folder, 'password.txt'), 'hunter2-hunter2');
  const cells = rowBody(service.product('test-success'));
  const { max_price: _, ...others } = cells;
  const header = [...Object.keys(others), 'max_price_cents'].join(',');
  const fileOf = (product_url: string): string =>
    `${header}\n${[...Object.values({ ...others, product_url }), '4000'].join(',')}\n`;
  writeFileSync(join(folder, 'orders.csv'), fileOf(service.product('test-success')));
  writeFileSync(
    join(folder, 'two.csv'),
    `${fileOf(service.product('test-success'))}${fileOf(service.product('test-slow')).split('\n')[1]}\n`,
  );
  writeFileSync(join(folder, 'failing.csv'), fileOf(service.product('test-insufficient-funds')));
  const metadata = { team: 'office' };
  const order = await ordered(service, 'test-two-packages', 14 * second, { metadata });
  const returned = (await ask(service, order)).body.id;
  service.pass(3.5 * second);
  const failed = (
    await ordered(service, 'test-quantity-limit', 5 * second, {
      products: [{ url: service.product('test-quantity-limit'), quantity: 5 }],
    })
  ).id;
  const batch = (await service.send('POST', '/orders/bulk', { rows: [cells] })).body.id;
  await placedBatch(service, batch);
  service.pass(12 * second);
  const account = (await service.send('POST', '/managed-accounts', { email: 'ada@example.com' })).body
    .short_id;
  const [product] = (await read(service, '/products/search?query=coffee&retailer=harborgoods')).results;
  scene = {
    service,
    url: distorting.url,
    key: service.key,
    folder,
    delivered: order.id,
    failed,
    returned,
    batch,
    account,
    product: product.product_id,
  };
});

afterAll(async () => {
  await runner.stop();
  await distorting.stop();
  await scene.service.stop();
  rmSync(scene.folder, { recursive: true, force: true });
});

let places = 0;

async function run(line: CommandLine, format = 'table'): Promise<Ended & { argv: readonly string[] }> {
  if (line.writes) places += 1;
  const place = join(scene.folder, `place-${line.writes ? places : 0}`);
  const { target } = distorting;
  const key = line.writes ? await scene.service.mint() : scene.key;
  const here = { ...scene, key };
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: place,
    XDG_CACHE_HOME: caches,
    ERRAND_CONFIG_DIR: join(place, 'config'),
    ERRAND_STATE_DIR: join(place, 'state'),
    ERRAND_BASE_URL: scene.url,
    ERRAND_API_KEY: key,
    ERRAND_LEGACY_BASE_URL: scene.url,
    ERRAND_LEGACY_TOKEN: key,
  };
  distorting.target = undefined;
  for (const argv of line.first?.(here) ?? []) await runner.run({ argv, env });
  const given = (await line.args?.(here)) ?? [];
  distorting.target = target;
  distorting.samples.length = 0;
  const argv = [
    ...line.command.split(' '),
    ...given,
    ...(line.oneFormat ? [] : ['-o', format]),
    ...(line.waits && target ? ['--timeout', '1s'] : []),
  ];
  const ended = await runner.run({ argv, env, ...(line.stdin && { stdin: line.stdin(here) }) });
  if (line.writes) rmSync(place, { recursive: true, force: true });
  return { ...ended, argv };
}

/** Characters that text from the service must never bring to a terminal; line breaks are ours. */
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]|\u{E0041}/u;
const garbled = /\[object |\bNaN\b|\bundefined\b|Invalid Date|failed unexpectedly/;
/** Maximum CPU time for handling one response, with headroom for a busy machine. */
const maxBusyMs = 60_000;

/** Checks how a command handled a response; undefined if it did so correctly. */
function problemOf(
  { operation, refusal }: Attempt,
  { code, crash, busyMs, stdout, stderr, argv }: Awaited<ReturnType<typeof run>>,
  format: string,
): string | undefined {
  const shown = format === 'table' ? stdout + stderr : stderr;
  if (crash !== undefined) return crash.slice(0, 600);
  if (code === 1 || code === null) return `exit ${code}: ${stderr.slice(0, 600)}`;
  if (busyMs > maxBusyMs) return `worked for ${Math.round(busyMs)} ms`;
  if (garbled.test(shown)) return `garbled: ${garbled.exec(shown)?.[0]} in ${near(shown, garbled)}`;
  if (format === 'table' && unsafe.test(shown)) return `unsafe: ${near(shown, unsafe)}`;
  const unpublished = problemIn({ argv, preset: '', code, stdout, stderr }, { oddService: true });
  if (unpublished !== undefined) return `not as published: ${unpublished}`;
  const { movesMoney }: Operation = operations[operation];
  const isDenied = !refusal && movesMoney && code !== 0 && /"outcome":"(?:not_sent|rejected)"/.test(stderr);
  return isDenied
    ? `a request that got a 2xx is said not to have been sent: ${stderr.slice(0, 400)}`
    : undefined;
}

const near = (text: string, pattern: RegExp): string => {
  const at = pattern.exec(text)?.index ?? 0;
  return JSON.stringify(text.slice(Math.max(0, at - 100), at + 100));
};

const formats = ['table', 'table', 'json', 'ndjson', 'csv', 'yaml', 'id'] as const;
const everywhere = [
  'null',
  'hostile text',
  'object',
  'empty object',
  'list',
  'empty list',
  'number',
  'huge number',
  'deep value',
];

/** All mutations of a command's responses: first those at a single path, then those that change every value. */
function possibleAttempts(samples: readonly Sample[], random: Random): [Attempt[], Attempt[]] {
  const tried = [...new Set(samples.map(({ operation }) => operation))].map((operation) => {
    const good = samples.filter((sample) => sample.operation === operation);
    const { response }: Operation = operations[operation];
    const shape = response.type === 'json' ? pathsOfShape(response.schema) : [];
    const found = [...good.flatMap(({ body }) => pathsOf(body)), ...shape];
    const paths: Path[] = [[], ...new Map(found.map((path) => [path.join('\n'), path])).values()];
    const single = isWhole ? allMutations(paths) : someMutations(paths, random);
    const of = (mutations: readonly Mutation[]) => mutations.map((mutation) => ({ operation, mutation }));
    return [of(single), of(everywhere.map(mutatedThroughout))] as const;
  });
  return [tried.flatMap(([single]) => single), tried.flatMap(([, throughout]) => throughout)];
}

/** Samples both kinds of mutations, or takes all for `HOSTILE=all`. @param count how many. */
function attemptsOf(samples: readonly Sample[], count: number, random: Random): Attempt[] {
  const [single, throughout] = possibleAttempts(samples, random);
  if (isWhole) return [...single, ...throughout];
  const share = Math.ceil(count * 0.8);
  return [...random.some(single, share), ...random.some(throughout, count - share)];
}

/** Error responses to the operations called, changed at one path or throughout. */
function refusedAttempts(called: Iterable<OperationName>, count: number, random: Random): Attempt[] {
  const possible = [...called].flatMap((operation) =>
    refusals.flatMap((refusal): Attempt[] => {
      const paths: Path[] = [[], ...pathsOf(refusal.body)];
      const mutations = isWhole ? allMutations(paths) : someMutations(paths, random);
      return [...mutations, ...everywhere.map(mutatedThroughout)].map((mutation) => ({
        operation,
        mutation,
        refusal,
      }));
    }),
  );
  return isWhole ? possible : random.some(possible, count);
}

const described = ({ operation, mutation, refusal }: Attempt, format: string): string =>
  `${refusal ? `${refusal.status} of ` : ''}${operation}: ${mutation.path.join('.')} ${mutation.kind} (${format})`;

test.each(commandLines)(
  '$command bears whatever the service returns',
  { timeout: isWhole ? 7_200_000 : hangsAfterMs * 6 },
  async (line) => {
    distorting.target = undefined;
    distorting.called.clear();
    const good = await run(line);
    expect([good.code, good.crash], good.stdout + good.stderr).toEqual([line.code ?? 0, undefined]);
    const random = new Random(seed + commandLines.indexOf(line));
    const problems: string[] = [];
    const count = Math.ceil(line.waits ? most / 4 : line.writes ? most : 2 * most);
    const attempts = [
      ...attemptsOf(distorting.samples.splice(0), count, random),
      ...refusedAttempts([...distorting.called], Math.ceil(count / 2), random),
    ];
    for (const attempt of attempts) {
      distorting.target = attempt;
      const format = line.oneFormat ?? random.pick(formats);
      const problem = problemOf(attempt, await run(line, format), format);
      if (problem !== undefined) problems.push(`${described(attempt, format)}: ${problem}`);
    }
    distorting.samples.length = 0;
    expect(problems.slice(0, 40), `${problems.length} of ${attempts.length}, HOSTILE_SEED=${seed}`).toEqual(
      [],
    );
  },
);

/** Commands whose responses hold no record, or that are covered elsewhere. */
const elsewhere: readonly string[] = [
  'order export',
  'order journal resume',
  'account remove',
  'webhook listen',
  'webhook replay',
];

test('every command that calls the service is among them', async () => {
  const calling = (await knownCommands()).filter(({ command }) => command.operations || command.anyOperation);
  const tried = commandLines.map(({ command }) => command);
  expect(
    calling.map(({ path }) => path).filter((path) => !tried.includes(path) && !elsewhere.includes(path)),
  ).toEqual([]);
});
