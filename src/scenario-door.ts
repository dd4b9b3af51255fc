import { steadyTime } from './clock.ts';
import { sandboxFaults } from './contract/sandbox-faults.ts';
import type { Scenario } from './contract/scenario/scenario.ts';
import type { BuiltInScenario } from './contract/scenario/words.ts';
import { UsageError } from './errors.ts';
import type { Fault, ScenarioProblem } from './sandbox/in-process.ts';

/** Sandboxes in this process's memory, and what any of them begins with. */

/** A scenario that was read and checked, and how what is wrong with it is told. */
export interface GivenScenario {
  readonly name: string;
  readonly scenario: Scenario;
  refused(problems: readonly ScenarioProblem[]): UsageError;
}

interface StartRequest {
  readonly seed: number | undefined;
  readonly speed: number | undefined;
  /** As `--fault` writes them. */
  readonly faults: readonly string[];
  readonly scenario?: GivenScenario | undefined;
  /** Opens it on a socket of its own; without one, only this process reaches it. */
  readonly isServed?: boolean;
}

/** Starts a sandbox in memory on a free port of this machine, with a key. @throws UsageError for a fault. */
export async function startSandbox({ seed, speed, faults, scenario: given, isServed = true }: StartRequest) {
  const { openInProcess, readFault } = await import('./sandbox/in-process.ts');
  const scenario = given?.scenario;
  const { seed: chosen } = seedOf(seed, scenario);
  try {
    return await openInProcess({
      ...{ port: isServed ? 0 : undefined, seed: chosen, now: steadyTime(), report: reportBug },
      speed: speed ?? scenario?.clock.speed ?? 1,
      faults: [...scenarioFaults(given, readFault), ...faultsIn(faults, readFault)],
      scenario,
    });
  } catch (error) {
    throw (await scenarioError(error, given)) ?? error;
  }
}

/** A scenario that errand brings along. */
export async function builtInScenario(name: BuiltInScenario, seed: number | undefined): Promise<unknown> {
  const { builtIns } = await import('./sandbox/in-process.ts');
  return (await builtIns[name]())(seed);
}

export const seedOf = (seed: number | undefined, scenario: Scenario | undefined): { seed?: number } => {
  const chosen = seed ?? scenario?.seed;
  return typeof chosen === 'number' ? { seed: chosen } : {};
};

/** @throws UsageError naming the line of what is not a fault. */
export function scenarioFaults(
  given: GivenScenario | undefined,
  read: (text: string) => Fault | undefined,
): Fault[] {
  const found = given?.scenario.faults.map(read) ?? [];
  const message = `is not a fault; write one of ${Object.keys(sandboxFaults).join(', ')}`;
  const problems = found.flatMap((fault, index) => (fault ? [] : [{ path: ['faults', index], message }]));
  if (given && problems.length > 0) throw given.refused(problems);
  return found.filter((fault) => fault !== undefined);
}

/** What a scenario was refused with, as it is told; undefined for any other error. */
export async function scenarioError(
  error: unknown,
  given: GivenScenario | undefined,
  data?: string,
): Promise<UsageError | undefined> {
  if (!given) return undefined;
  const { ScenarioRefused, NotEmpty } = await import('./sandbox/in-process.ts');
  if (error instanceof ScenarioRefused) return given.refused(error.problems);
  if (!(error instanceof NotEmpty)) return undefined;
  return new UsageError(
    `--scenario begins in an empty sandbox, and ${data} has keys and orders already; nothing was changed`,
    { hint: 'Name a file that is not there yet with --data, or leave --data out to keep nothing.' },
  );
}

/** @throws UsageError for a text that is not a fault. */
export const faultsIn = (texts: readonly string[], read: (text: string) => Fault | undefined): Fault[] =>
  texts.map((text) => read(text) ?? refuseFault(text));

function refuseFault(text: string): never {
  const forms = Object.keys(sandboxFaults).join(', ');
  throw new UsageError(`--fault "${text}" is not a fault; write one of ${forms}`, {
    next: [{ command: 'errand sandbox serve --help', when: 'to see what each does' }],
  });
}

/** A bug behind a 500: the response says no more, whoever runs the sandbox sees it all. */
export function reportBug(error: unknown): void {
  process.stderr.write(
    `sandbox: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
}
