import { afterAll, describe, expect, test } from 'vitest';
import { Runner } from '../../support/runner.ts';
import { openDoors } from './doors.ts';
import { plainHabits } from './habits.ts';
import { type History, historyOf, type Need, type Run } from './history.ts';
import { playHistory } from './play.ts';

/** The simulation plays more of them; `npm run proofs -- needs` plays hundreds by processes. */
const seeds = [5000, 5001, 5002];

const runners = [new Runner(), new Runner()] as const;
afterAll(() => Promise.all(runners.map((runner) => runner.stop())));

describe('a need has one live order', () => {
  test.each(seeds)('whatever is done: history %i', async (seed) => {
    const { findings, log } = await playHistory(historyOf(seed, openDoors), runners);
    expect(findings, log.join('\n')).toEqual([]);
  });

  test('and the same seed is the same history', () => {
    expect(historyOf(7, openDoors)).toEqual(historyOf(7, openDoors));
  });
});

// Machines without a common journal know nothing of each other where no reference tells them.
describe('the judge sees', () => {
  const need: Need = {
    ...{ hidden: 'n0', quantity: 1, recipient: 0 },
    ...{ organisation: 'ours', slug: 'test-slow' },
    ...{ reference: undefined, namespace: undefined, door: 'single' },
  };
  const run: Run = {
    ...{ door: 'single', machine: 0, needs: [0], spelling: 0, isMore: false, isMeant: false },
    ...{ faults: [], readFaults: [], kill: undefined },
  };
  const history: History = {
    ...{ seed: 0, isShared: false, habits: plainHabits, needs: [need] },
    machines: [
      { user: 'anna', journal: 0, skewMs: 0 },
      { user: 'anna', journal: 1, skewMs: 0 },
    ],
    steps: [
      { do: 'run', runs: [run] },
      { do: 'run', runs: [{ ...run, machine: 1 }] },
    ],
  };

  test('two live orders of one need', async () => {
    const { findings } = await playHistory(history, runners);
    expect(findings.map(({ rule, hidden }) => [rule, hidden])).toEqual([['two live', 'n0']]);
  });

  test('no fault where the user said that another is meant', async () => {
    const [, second] = history.steps;
    const steps = [
      ...history.steps.slice(0, 1),
      ...(second?.do === 'run' ? [{ ...second, runs: [{ ...second.runs[0], isMeant: true }] as const }] : []),
    ];
    const { findings } = await playHistory({ ...history, steps }, runners);
    expect(findings.map(({ rule }) => rule)).not.toContain('two live');
  });
});
