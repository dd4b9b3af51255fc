import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { steadyTime } from './clock.ts';
import type { ServedRequest } from './contract/control.ts';
import { StorageError, UsageError } from './errors.ts';
import type { Tell } from './private-files.ts';
import { deleteEmbedded, openEmbedded, sandboxFile } from './sandbox/embedded.ts';
import type { Served } from './sandbox/serve.ts';
import {
  faultsIn,
  type GivenScenario,
  reportBug,
  scenarioError,
  scenarioFaults,
  seedOf,
} from './scenario-door.ts';
import { makeStateFolder } from './settings/paths.ts';
import { keepingToken } from './settings/sandbox-token.ts';
import { DatabaseError, remedies } from './sqlite/database-error.ts';

export { builtInScenario, type GivenScenario, startSandbox } from './scenario-door.ts';

/** What the program does with the sandbox besides calling it: its two doors, seen from the commands. */

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
  readonly startBalanceCents?: number;
  /** Hosts and receivers beside the usual ones, as `--allow-host` and `--allow-webhook` name them. */
  readonly allowedHosts: readonly string[];
  readonly webhooks: {
    readonly loopback: boolean;
    readonly external: boolean;
    readonly named: readonly string[];
  };
  /** As `--fault` writes them. */
  readonly faults: readonly string[];
  readonly scenario?: GivenScenario | undefined;
  readonly tell: Tell;
  /** Called with each request that is over; no secret is in it. */
  readonly onRequest?: (request: ServedRequest) => void;
  /** Ends the waits for a lock of another process. */
  readonly signal: AbortSignal;
}

/** Serves the sandbox until it is closed. @throws UsageError for a port that is taken; StorageError for its data. */
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
    startBalanceCents,
    allowedHosts,
    webhooks,
    scenario: given,
  } = request;
  const scenario = given?.scenario;
  const pace = speed ?? scenario?.clock.speed;
  if (!memory && data === undefined) makeStateFolder(stateDir, false);
  const sandbox = await import('./sandbox/serve.ts');
  try {
    const served = await sandbox.serveSandbox({
      host,
      port,
      file: memory ? ':memory:' : (data ?? sandboxFile(stateDir)),
      ...seedOf(seed, scenario),
      config: {
        ...(pace !== undefined && { speed: pace }),
        ...(latencyMs !== undefined && { latencyMs }),
        ...(mintLimitPerDay !== undefined && { mintLimitPerDay }),
        ...(startBalanceCents !== undefined && { startBalanceCents }),
        allowedHosts,
        webhooks,
      },
      now: steadyTime(),
      report: reportBug,
      faults: [...scenarioFaults(given, sandbox.readFault), ...faultsIn(request.faults, sandbox.readFault)],
      scenario,
      tell: request.tell,
      ...(request.onRequest && { onRequest: request.onRequest }),
      waiting: { signal: request.signal },
    });
    return await keepingToken(stateDir, served);
  } catch (error) {
    throw listenError(error, host, port) ?? (await scenarioError(error, given, data)) ?? storageError(error);
  }
}

interface EmbeddedOptions {
  /** Serves what only reads where its data cannot be written. */
  readonly readsCopy?: boolean;
  readonly speed: number;
  readonly seed: number | undefined;
  /** Ends the waits for a lock of another process. */
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

/** Where the embedded sandbox keeps its data. */
export const fileOf = (stateDir: string): string => resolve(sandboxFile(stateDir));

/** Whether there is an embedded sandbox with data, or a state of one that is kept. */
export const hasSandbox = (stateDir: string): boolean =>
  existsSync(sandboxFile(stateDir)) || hasSnapshots(stateDir);

/** Whether a state of the embedded sandbox is kept. */
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
    hint: remedies[error.trouble],
  });
}
