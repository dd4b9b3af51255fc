import { plainHabits } from './habits.ts';
import type { History, Run, Step } from './history.ts';
import type { Played } from './play.ts';

/** How often a history is played to make it shorter. */
const maxPlays = 60;

/** The shortest history found that breaks the same rule, as lines. */
export async function shrunk(
  history: History,
  played: Played,
  play: (history: History) => Promise<Played>,
): Promise<string[]> {
  const rule = played.findings[0]?.rule;
  let plays = 0;
  let least = { history, played };
  const tries = async (one: History): Promise<boolean> => {
    if (plays >= maxPlays) return false;
    plays += 1;
    const again = await play(one);
    const [first] = again.findings;
    if (!first || first.rule !== rule) return false;
    least = { history: one, played: again };
    return true;
  };
  for (let isShorter = true; isShorter && plays < maxPlays; ) {
    isShorter = false;
    for (const one of shorterThan(least.history))
      if (await tries(one)) {
        isShorter = true;
        break;
      }
  }
  const { habits, machines, needs, steps } = least.history;
  return [
    ...least.played.findings.map(
      ({ rule: name, hidden, what }) => `${name} (${hidden}): ${what.slice(0, 1000)}`,
    ),
    `habits ${JSON.stringify(habits)}`,
    ...machines.map((machine, at) => `machine ${at} ${JSON.stringify(machine)}`),
    ...needs.map((need) => `need ${JSON.stringify(need)}`),
    ...least.played.log,
    `steps ${JSON.stringify(steps)}`,
  ];
}

/** Histories that are a little simpler, the boldest first. */
function* shorterThan(history: History): Generator<History> {
  const { steps, habits, machines } = history;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < steps.length; at += size)
      yield { ...history, steps: [...steps.slice(0, at), ...steps.slice(at + size)] };
  for (const at of history.needs.keys()) if (history.needs.length > 1) yield without(history, at);
  for (const name of [
    'forgetsKeysMs',
    'keysOf',
    'lagMs',
    'hidesExisting',
    'hidesRowColumns',
    'normalises',
  ] as const)
    if (habits[name] !== plainHabits[name])
      yield { ...history, habits: { ...habits, [name]: plainHabits[name] } };
  if (history.maxCents !== undefined) yield { ...history, maxCents: undefined };
  for (const [at, machine] of machines.entries())
    if (machine.skewMs !== 0) yield { ...history, machines: machines.with(at, { ...machine, skewMs: 0 }) };
  for (const [at, step] of steps.entries()) {
    if (step.do === 'run' && step.runs.some((run) => mayMove(history, run))) {
      const [first, ...more] = step.runs.map((run) => (mayMove(history, run) ? { ...run, machine: 0 } : run));
      if (first) yield { ...history, steps: steps.with(at, { do: 'run', runs: [first, ...more] }) };
    }
    for (const simpler of simplerSteps(step)) yield { ...history, steps: steps.with(at, simpler) };
  }
}

/** Whether a command may run on the first machine as well, which is of our organisation. */
const mayMove = ({ needs: all }: History, { machine, needs }: Run): boolean =>
  machine !== 0 && needs.every((at) => all[at]?.organisation === 'ours');

/** The history without one of its needs. */
function without({ needs, steps, ...rest }: History, gone: number): History {
  const indexOf = (at: number): number => (at > gone ? at - 1 : at);
  return {
    ...rest,
    needs: needs.filter((_, at) => at !== gone),
    steps: steps.flatMap((step): Step[] => {
      if (step.do === 'pass') return [step];
      if (step.do !== 'run') return step.need === gone ? [] : [{ ...step, need: indexOf(step.need) }];
      const runs = step.runs
        .map((run) => ({ ...run, needs: run.needs.filter((at) => at !== gone).map(indexOf) }))
        .filter((run) => run.needs.length > 0);
      const [first, ...more] = runs;
      return first ? [{ do: 'run', runs: [first, ...more] }] : [];
    }),
  };
}

function* simplerSteps(step: Step): Generator<Step> {
  if (step.do !== 'run') return;
  const [first, second] = step.runs;
  if (second) {
    yield { do: 'run', runs: [first] };
    yield { do: 'run', runs: [second] };
  }
  for (const [at, run] of step.runs.entries())
    for (const simpler of simplerRuns(run)) {
      const [one = simpler, ...more] = step.runs.with(at, simpler);
      yield { do: 'run', runs: [one, ...more] };
    }
}

function* simplerRuns(run: Run): Generator<Run> {
  if (run.kill) yield { ...run, kill: undefined };
  if (run.faults.length > 0) yield { ...run, faults: run.faults.slice(1) };
  if (run.readFaults.length > 0) yield { ...run, readFaults: [] };
  if (run.isMore) yield { ...run, isMore: false };
  if (run.isMeant) yield { ...run, isMeant: false };
  if (run.spelling !== 0) yield { ...run, spelling: 0 };
  if (run.needs.length > 1)
    for (const need of run.needs) yield { ...run, needs: run.needs.filter((one) => one !== need) };
}
