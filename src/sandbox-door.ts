import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ServedRequest } from './api/control.ts';
import { sandboxFaults } from './api/sandbox-faults.ts';
import type { Scenario } from './api/scenario/scenario.ts';
import type { BuiltInScenario } from './api/scenario/words.ts';
import { makeStateFolder } from './config/paths.ts';
import { keepingToken } from './config/sandbox-token.ts';
import { steadyTime } from './platform/clock.ts';
import { StorageError, UsageError } from './platform/errors.ts';
import type { Warn } from './platform/private-files.ts';
import { DatabaseError, remedies } from './platform/sqlite/database-error.ts';
import { deleteEmbedded, openEmbedded, sandboxFile } from './sandbox/embedded.ts';
import type { Fault, ScenarioProblem } from './sandbox/in-process.ts';
import type { PaymentScheme, Served } from './sandbox/serve.ts';

/** Opens the sandbox for commands. The sandbox is either served or embedded. */

interface ServeRequest {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly memory: boolean;
  readonly stateDir: string;
  readonly speed?: number;
  readonly latencyMs?: number;
  readonly seed?: number;
  readonly mintLimitPerDay?: number;
  readonly paymentSchemes?: readonly PaymentScheme[];
  readonly startBalanceCents?: number;
  /** Additional hosts and webhook receivers that are allowed, as with `--allow-host` and `--allow-webhook`. */
  readonly allowedHosts: readonly string[];
  readonly webhooks: {
    readonly loopback: boolean;
    readonly external: boolean;
    readonly named: readonly string[];
  };
  /** In the format of `--fault`. */
  readonly faults: readonly string[];
  readonly scenario?: GivenScenario | undefined;
  readonly warn: Warn;
  /** Called after each request. Its argument contains no secrets. */
  readonly onRequest?: (request: ServedRequest) => void;
  /** If this signal aborts, any wait for a lock that another process holds ends. */
  readonly signal: AbortSignal;
}

/**
 * Serves the sandbox until it is closed. @throws UsageError if the port is in use; StorageError if the sandbox's data
 * cannot be used.
 */
export async function serveSandbox(request: ServeRequest): Promise<Served> {
  const {
    host,
    port,
    data,
    memory,
    stateDir,
    seed,
    speed,
    latencyMs,
    mintLimitPerDay,
    paymentSchemes,
    startBalanceCents,
    allowedHosts,
    webhooks,
    scenario: given,
  } = request;
  const scenario = given?.scenario;
  const clockSpeed = speed ?? scenario?.clock.speed;
  if (!memory && data === undefined) makeStateFolder(stateDir, false);
  const sandbox = await import('./sandbox/serve.ts');
  try {
    const served = await sandbox.serveSandbox({
      host,
      port,
      file: memory ? ':memory:' : (data ?? sandboxFile(stateDir)),
      ...seedOf(seed, scenario),
      config: {
        ...(clockSpeed !== undefined && { speed: clockSpeed }),
        ...(latencyMs !== undefined && { latencyMs }),
        ...(mintLimitPerDay !== undefined && { mintLimitPerDay }),
        ...(paymentSchemes !== undefined && { paymentSchemes }),
        ...(startBalanceCents !== undefined && { startBalanceCents }),
        allowedHosts,
        webhooks,
      },
      now: steadyTime(),
      report: reportBug,
      faults: [...scenarioFaults(given, sandbox.readFault), ...faultsIn(request.faults, sandbox.readFault)],
      scenario,
      warn: request.warn,
      ...(request.onRequest && { onRequest: request.onRequest }),
      waiting: { signal: request.signal },
    });
    return await keepingToken(stateDir, served);
  } catch (error) {
    throw listenError(error, host, port) ?? (await scenarioError(error, given, data)) ?? storageError(error);
  }
}

interface EmbeddedOptions {
  /** Whether reads are allowed even if the sandbox's data is not writable. */
  readonly readsCopy?: boolean;
  readonly speed: number;
  readonly seed: number | undefined;
  /** If this signal aborts, any wait for a lock that another process holds ends. */
  readonly signal: AbortSignal;
}

/** Opens the embedded sandbox. @throws StorageError. */
export async function openEmbeddedSandbox(stateDir: string, { signal, ...options }: EmbeddedOptions) {
  makeStateFolder(stateDir, false);
  try {
    return await openEmbedded({
      stateDir,
      ...options,
      now: steadyTime(),
      report: reportBug,
      waiting: { signal },
    });
  } catch (error) {
    throw storageError(error);
  }
}

/** Deletes the embedded sandbox's data. @throws StorageError. */
export async function resetSandbox(stateDir: string, signal: AbortSignal): Promise<void> {
  try {
    await deleteEmbedded(stateDir, { signal });
  } catch (error) {
    throw storageError(error);
  }
}

/** Path of the file with the embedded sandbox's data. */
export const fileOf = (stateDir: string): string => resolve(sandboxFile(stateDir));

/** Whether there is data of an embedded sandbox, or a saved snapshot. */
export const hasSandbox = (stateDir: string): boolean =>
  existsSync(sandboxFile(stateDir)) || hasSnapshots(stateDir);

/** Whether the embedded sandbox has a saved snapshot. */
export function hasSnapshots(stateDir: string): boolean {
  const folder = join(stateDir, 'snapshots');
  return existsSync(folder) && readdirSync(folder).length > 0;
}

function listenError(error: unknown, host: string, port: number): UsageError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new UsageError(`--port ${port} is taken on ${host}`, {
      next: [{ command: 'errand sandbox serve --port 0', when: 'to pick a free one' }],
      cause: error,
    });
  }
  if (code === 'EACCES')
    return new UsageError(`--port ${port} may not be used; take one above 1023`, { cause: error });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new UsageError(`--host ${host} is not an address of this machine`, { cause: error });
  }
  return undefined;
}

function storageError(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  return new StorageError(`the sandbox's data ${error.message}`, {
    cause: error,
    hint: remedies[error.problem],
  });
}

/** Starts in-memory sandboxes, and prepares the initial state of any sandbox. */

/** A validated scenario, and how to report problems with it. */
export interface GivenScenario {
  readonly name: string;
  readonly scenario: Scenario;
  refused(problems: readonly ScenarioProblem[]): UsageError;
}

interface StartRequest {
  readonly seed: number | undefined;
  readonly speed: number | undefined;
  /** In the format of `--fault`. */
  readonly faults: readonly string[];
  readonly scenario?: GivenScenario | undefined;
  /** Whether the sandbox listens on a socket. If not, only this process can reach it. */
  readonly isServed?: boolean;
}

/**
 * Starts an in-memory sandbox with a key. If it is served, it listens on a free local port.
 * @throws UsageError for an invalid fault.
 */
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

/** A scenario that ships with errand. */
export async function builtInScenario(name: BuiltInScenario, seed: number | undefined): Promise<unknown> {
  const { builtIns } = await import('./sandbox/in-process.ts');
  return (await builtIns[name]())(seed);
}

const seedOf = (seed: number | undefined, scenario: Scenario | undefined): { seed?: number } => {
  const chosen = seed ?? scenario?.seed;
  return typeof chosen === 'number' ? { seed: chosen } : {};
};

/** @throws UsageError naming the line of an invalid fault. */
function scenarioFaults(
  given: GivenScenario | undefined,
  read: (text: string) => Fault | undefined,
): Fault[] {
  const found = given?.scenario.faults.map(read) ?? [];
  const message = `is not a fault; write one of ${Object.keys(sandboxFaults).join(', ')}`;
  const problems = found.flatMap((fault, index) => (fault ? [] : [{ path: ['faults', index], message }]));
  if (given && problems.length > 0) throw given.refused(problems);
  return found.filter((fault) => fault !== undefined);
}

/** Converts the rejection of a scenario to a usage error. Undefined for any other error. */
async function scenarioError(
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

/** @throws UsageError for an invalid fault. */
const faultsIn = (texts: readonly string[], read: (text: string) => Fault | undefined): Fault[] =>
  texts.map((text) => read(text) ?? refuseFault(text));

function refuseFault(text: string): never {
  const forms = Object.keys(sandboxFaults).join(', ');
  throw new UsageError(`--fault "${text}" is not a fault; write one of ${forms}`, {
    next: [{ command: 'errand sandbox serve --help', when: 'to see what each does' }],
  });
}

/** Reports the bug behind a 500 on stderr to whoever runs the sandbox, because the response hides the bug. */
function reportBug(error: unknown): void {
  process.stderr.write(
    `sandbox: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
}
