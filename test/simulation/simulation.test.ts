import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doorNames } from '../faults/needs/doors.ts';
import { type History, historyOf, type Step } from '../faults/needs/history.ts';
import { playHistory } from '../faults/needs/play.ts';
import { Runner } from '../support/runner.ts';
import { type Built, simulateHistory } from './stage.ts';
import { prepared, simulate } from './worker.ts';

let built: Built;
let remove = (): void => {};
const runners = [new Runner(), new Runner()] as const;

beforeAll(async () => {
  [built, remove] = await prepared();
});

afterAll(async () => {
  remove();
  await Promise.all(runners.map((runner) => runner.stop()));
});

/** `npm run proofs -- simulation` plays thousands; these are for each change. */
const seeds = [...Array.from({ length: 24 }, (_, at) => 7000 + at), 300_846, 301_795, 302_407, 302_623];

test.each(seeds)('each need has one order, whatever is done: seed %i', async (seed) => {
  const { finding } = await simulate({ seed, doors: doorNames }, built);
  expect(finding?.join('\n')).toBeUndefined();
});

test.each([1, 2, 3, 508])('each date of a standing order is bought once, or told: seed %i', async (seed) => {
  const { finding } = await simulate({ seed, doors: [], weeks: 8, machines: 5 }, built);
  expect(finding?.join('\n')).toBeUndefined();
});

test('the same seed is the same, to each step and each operation', async () => {
  const play = async () => {
    const { trace, steps, log } = await simulateHistory(historyOf(4, doorNames, { lastEffect: 200 }), built);
    return { trace, steps, log };
  };
  expect(await play()).toEqual(await play());
});

describe('what is played in a simulation is what processes do', () => {
  test.each([1, 3, 6])('history %i', async (seed) => {
    const history = undisturbed(historyOf(seed, doorNames));
    const simulated = await simulateHistory(history, built);
    const real = await playHistory(history, runners);
    expect(comparable(simulated.log)).toEqual(comparable(real.log));
  });
});

/** Without what two runs do not have in common: who comes first, and where a process is killed. */
const undisturbed = (history: History): History => ({
  ...history,
  steps: history.steps.map((step): Step => {
    if (step.do !== 'run') return step;
    const [run] = step.runs;
    return { do: 'run', runs: [{ ...run, kill: undefined }] };
  }),
});

/** Lines without the places of a service and of files, and without the books that a simulation compares. */
const comparable = (log: readonly string[]): string[] =>
  log
    .filter((line) => !/ errand (?:audit verify|reconcile)/.test(line))
    .map((line) =>
      line
        .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'URL')
        .replace(/\/[\w/.-]*\/(journal\d|m\d)/g, '$1')
        .replace(/"request_id":"[^"]*"/g, '"request_id":…')
        // Whether what was sent or the reset comes first is up to the system.
        .replace(/the connection was (?:reset|closed before the response was whole)/g, 'the connection broke')
        .slice(0, 140),
    );
