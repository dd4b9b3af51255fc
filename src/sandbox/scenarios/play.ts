import { operations } from '../../api/operations/index.ts';
import type { Scenario } from '../../api/scenario/scenario.ts';
import { placeRows } from '../bulk/place-rows.ts';
import { retailerNamed, retailers } from '../catalogue/retailers.ts';
import { givenListingsName } from '../config.ts';
import { CatchUpBudget, runDueTransitions } from '../control/due-transitions.ts';
import { mintKey } from '../keys/keys.ts';
import { listingOutcomes } from '../orders/lifecycle/index.ts';
import { findOrder } from '../orders/records.ts';
import { findReturn } from '../returns/records.ts';
import { hashKey } from '../server/caller.ts';
import type { Service } from '../server/service.ts';
import type { Handle } from '../server/wire.ts';
import { lastMs } from '../store/clock.ts';
import { stateOf } from './course.ts';
import { earliestOf, type Moment, momentsOf, timeOf } from './moments.ts';
import { NotEmpty, type ScenarioProblem, ScenarioRefused } from './problem.ts';
import { keyOf, Names, type PlayedKey, post, type Stage, senderTo } from './stage.ts';

export interface Played {
  /** The keys in the order of the scenario. A scenario without keys gets a single default key. */
  readonly keys: readonly PlayedKey[];
  readonly names: Names;
}

type Key = Scenario['keys'][number];

/** Default key of a scenario without keys. */
const soleKey: Key = { name: 'default', funded: [], lasting: true };

/** Time budget, in ms of real time, for placing batch rows. Placing never takes this long. */
const placingBudgetMs = 10 * 60_000;

/** Maximum number of problems reported at once. */
const maxProblems = 20;

/**
 * Runs a scenario in an empty sandbox by sending requests at their scheduled times. Records, history, ledger and
 * webhooks are therefore as consistent as after real use. Webhooks for past events are not sent.
 * @param appOf creates the request handler of a service. @throws ScenarioRefused; NotEmpty.
 */
export async function playScenario(
  service: Service,
  scenario: Scenario,
  appOf: (service: Service) => Handle,
): Promise<Played> {
  const { store, clock, idGenerator, config } = service;
  if (store.get('SELECT 1 FROM users LIMIT 1')) throw new NotEmpty();
  const now = scenario.clock.now === undefined ? clock.now() : Date.parse(scenario.clock.now);
  const defaultSpeed = scenario.clock.speed ?? config.speed;
  let speed = defaultSpeed;
  // The past is replayed without latency, limits or webhooks.
  const past: Service = {
    ...service,
    config: {
      ...config,
      latencyMs: 0,
      mintLimitPerDay: Number.MAX_SAFE_INTEGER,
      get speed() {
        return speed;
      },
    },
    deliver: () => {},
    // Every jump of the clock must finish all due work.
    readBudget: new CatchUpBudget(store, Number.POSITIVE_INFINITY),
  };
  const keys = new Map<string, PlayedKey>();
  const stage: Stage = {
    service: past,
    names: new Names(config),
    keys,
    send: senderTo(appOf(past)),
    setSpeed: (given) => {
      speed = given;
    },
  };
  const problems = checkListings(scenario.listings);
  if (problems.length > 0) throw new ScenarioRefused(problems.slice(0, maxProblems));
  if (scenario.listings.length > 0)
    await store.transaction(() => store.setMeta(givenListingsName, JSON.stringify(scenario.listings)));
  const { seed } = scenario;
  if (typeof seed === 'string') await store.transaction(() => idGenerator.reseed(seed));
  // Stop the clock, so that the duration of the replay does not change the times of past events.
  await store.transaction(() => clock.stop());
  const moments = momentsOf(scenario, { now, speed: defaultSpeed });
  const given = scenario.keys.length > 0 ? scenario.keys : [soleKey];
  const earliest = earliestOf(moments, now);
  for (const row of given)
    keys.set(row.name, await mint(stage, row, row.created ? timeOf(row.created, now) : earliest));
  problems.push(...(await performAll(stage, moments, now)));
  const isReported = ({ path }: ScenarioProblem): boolean =>
    problems.some((reported) => reported.path[0] === path[0] && reported.path[1] === path[1]);
  problems.push(...checkStates(stage, scenario, now).filter((one) => !isReported(one)));
  problems.push(...checkWallets(stage, scenario));
  problems.push(...(await registerAddresses(stage, scenario)));
  if (problems.length > 0) throw new ScenarioRefused(problems.slice(0, maxProblems));
  await store.transaction(() => {
    for (const row of given) useKey(stage, row, now);
    // Webhooks for events before the scenario begins are not sent.
    store.run('DELETE FROM deliveries');
    for (const [kind, count] of Object.entries(scenario.ids)) idGenerator.count(kind, count);
    if (!scenario.clock.frozen) clock.start();
  });
  return { keys: [...keys.values()], names: stage.names };
}

async function mint({ service }: Stage, row: Key, at: number): Promise<PlayedKey> {
  const { store, idGenerator, clock } = service;
  return store.transaction(() => {
    clock.set(at);
    if (row.id !== undefined) idGenerator.spell('user', row.id);
    const { key, userId } = mintKey(service, {
      email: row.email,
      name: row.name,
      from: 'scenario',
      now: at,
      key: row.key,
      balance: row.balance,
    });
    // Keeps the key from expiring during the replay.
    store.run('UPDATE api_keys SET used_at = ? WHERE hash = ?', lastMs, hashKey(key));
    return { name: row.name, apiKey: key, userId };
  });
}

function useKey(stage: Stage, row: Key, now: number): void {
  const usedAt = row.lasting ? lastMs : row.used === undefined ? now : timeOf(row.used, now);
  const hash = hashKey(keyOf(stage, row.name).apiKey);
  stage.service.store.run('UPDATE api_keys SET used_at = ? WHERE hash = ?', usedAt, hash);
}

async function performAll(stage: Stage, moments: readonly Moment[], now: number): Promise<ScenarioProblem[]> {
  const problems: ScenarioProblem[] = [];
  for (const { at, path, run } of moments) {
    if (at > now) problems.push({ path, message: 'lies after clock.now, when the scenario begins' });
    else {
      await reach(stage, at);
      problems.push(...(await run(stage)));
    }
    if (problems.length >= maxProblems) return problems;
  }
  await reach(stage, now);
  return problems;
}

/** Sets the clock and processes everything due by then. */
async function reach({ service }: Stage, at: number): Promise<void> {
  await service.store.transaction(() => service.clock.set(at));
  await placeRows(service, at, placingBudgetMs);
  await runDueTransitions(service, at);
}

/** Reports orders and returns whose final state differs from the state that the scenario declares. */
function checkStates(stage: Stage, { orders, returns }: Scenario, now: number): ScenarioProblem[] {
  const { store } = stage.service;
  const at = new Date(now).toISOString();
  const wrong = (section: string, index: number, state: string, reached: string): ScenarioProblem => ({
    path: [section, index, 'state'],
    message: `is ${state}, but by its own life it is ${reached} at ${at}`,
  });
  return [
    ...orders.flatMap(({ state, name }, index) => {
      const order = findOrder(store, stage.names.idOf(name ?? `order ${index}`), null);
      if (!order || state === undefined) return [];
      const reached = stateOf(order.record);
      return reached === state
        ? []
        : [wrong('orders', index, state, because(reached, order.record.job_result?.error_type))];
    }),
    ...returns.flatMap(({ state, name }, index) => {
      const id = stage.names.idOf(name ?? `return ${index}`);
      const userIds = [...stage.keys.values()].map(({ userId }) => userId);
      const found = userIds.map((userId) => findReturn(store, id, userId)).find((one) => one !== undefined);
      const reached = found?.record.status;
      return state === undefined || reached === undefined || reached === state
        ? []
        : [wrong('returns', index, state, reached)];
    }),
  ];
}

/** Reports wallets from which more money was withdrawn than the wallet contained. */
const checkWallets = (stage: Stage, { keys }: Scenario): ScenarioProblem[] =>
  keys.flatMap(({ name, funded }, index) => {
    if (!funded.some(({ amount }) => amount < 0)) return [];
    // Ignore reversals of credits, because they may legitimately overdraw a wallet.
    const sql = "SELECT sum(cents) AS cents FROM ledger WHERE user_id = ? AND kind <> 'reversal'";
    const cents = Number(stage.service.store.get(sql, keyOf(stage, name).userId)?.cents);
    if (cents >= 0) return [];
    return [
      { path: ['keys', index, 'funded'], message: `takes out ${-cents} cents more than the wallet had` },
    ];
  });

const because = (state: string, errorType: string | null | undefined): string =>
  errorType ? `${state} (${errorType})` : state;

async function registerAddresses(stage: Stage, { keys }: Scenario): Promise<ScenarioProblem[]> {
  const problems: ScenarioProblem[] = [];
  for (const [index, { name, webhook }] of keys.entries()) {
    if (webhook === undefined) continue;
    const path = ['keys', index];
    const refused = await post(stage, {
      target: operations['webhook.register'].path,
      body: { webhook_url: webhook },
      key: name,
      path,
    });
    problems.push(...refused.map(({ message }) => ({ path: [...path, 'webhook'], message })));
  }
  return problems;
}

/** Reports scenario listings that the catalogue would reject. */
function checkListings(listings: Scenario['listings']): ScenarioProblem[] {
  return listings.flatMap(({ retailer, outcome, offers, variants }, index) => {
    const path = ['listings', index];
    const seller = retailerNamed(retailer);
    const labels = new Set(variants.map(({ choices }) => Object.keys(choices).toSorted().join(', ')));
    return [
      ...(seller ? [] : [{ path: [...path, 'retailer'], message: noRetailer(retailer) }]),
      ...(outcome === undefined || listingOutcomes.includes(outcome)
        ? []
        : [
            {
              path: [...path, 'outcome'],
              message: `"${outcome}" is not one of ${listingOutcomes.join(', ')}`,
            },
          ]),
      ...(offers.length > 0 && seller && seller.kind !== 'marketplace'
        ? [{ path: [...path, 'offers'], message: `only a marketplace has other sellers: ${marketplaces()}` }]
        : []),
      ...(labels.size > 1
        ? [
            {
              path: [...path, 'variants'],
              message: `each has the same choices, not ${[...labels].join(' and ')}`,
            },
          ]
        : []),
    ];
  });
}

const noRetailer = (name: string): string =>
  `there is no retailer "${name}"; there are ${retailers.map(({ retailer }) => retailer).join(', ')}`;

const marketplaces = (): string =>
  retailers
    .filter(({ kind }) => kind === 'marketplace')
    .map(({ retailer }) => retailer)
    .join(', ');
