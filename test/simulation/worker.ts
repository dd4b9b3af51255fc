import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DoorName } from '../faults/needs/doors.ts';
import { type History, historyOf } from '../faults/needs/history.ts';
import { shrunk } from '../faults/needs/shrink.ts';
import { builtLibrary, Program } from './program.ts';
import { type Built, simulateHistory, simulateWeeks } from './stage.ts';

/** What a worker is to simulate. */
export interface Order {
  readonly seed: number;
  readonly doors: readonly DoorName[];
  /** Standing orders are simulated for so many weeks, on so many machines, in place of a history. */
  readonly weeks?: number;
  readonly machines?: number;
}

/** What came of one history. */
export interface Outcome {
  readonly seed: number;
  readonly commands: number;
  readonly steps: number;
  readonly trace: number;
  /** The shortest history found that breaks the same rule, as lines; none if nothing was found. */
  readonly finding?: readonly string[];
}

/** A command has had most of its effects by then. */
export const lastEffect = 260;

/** Builds what is simulated. @returns it, and what removes it. */
export async function prepared(): Promise<readonly [Built, () => void]> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-library-'));
  const built = { program: new Program(), library: await builtLibrary(folder) };
  return [built, () => rmSync(folder, { recursive: true, force: true })];
}

/** Simulates the history of a seed, and makes what it finds as short as it can. */
export async function simulate(order: Order, built: Built): Promise<Outcome> {
  const { seed, doors, weeks, machines = 5 } = order;
  if (weeks !== undefined) {
    const { runs, findings, log } = await simulateWeeks({ weeks, machines, seed }, built);
    const finding = findings.length > 0 && { finding: [...findings, ...log] };
    return { ...{ seed, commands: runs, steps: 0, trace: 0 }, ...finding };
  }
  const history = historyOf(seed, doors, { lastEffect });
  const play = (one: History) => simulateHistory(one, built);
  const played = await play(history);
  const { commands, steps, trace } = played;
  const finding = played.findings.length > 0 && { finding: await shrunk(history, played, play) };
  return { seed, commands, steps, trace, ...finding };
}
