import { existsSync, rmSync } from 'node:fs';
import { isControl } from '../api/control.ts';
import type { Waiting } from '../platform/async.ts';
import { DatabaseError, type DatabaseProblem } from '../platform/sqlite/database-error.ts';
import { sandboxFile } from './config.ts';
import { tick } from './control/tick.ts';
import { type OpenSandbox, openSandbox } from './open.ts';
import type { Reply, SandboxRequest } from './server/wire.ts';
import { RunTime, readStoredFaults } from './store/run-time.ts';
import { Store } from './store/store.ts';
import { emptyStore } from './store/tables.ts';

export { sandboxFile } from './config.ts';

/**
 * Default address of a served sandbox. An embedded sandbox uses the same address in its links and shop URLs, so that
 * its output looks like that of a served sandbox.
 */
export const defaultBaseUrl = 'http://127.0.0.1:4848';

interface EmbeddedOptions {
  readonly stateDir: string;
  readonly speed: number;
  readonly seed: number | undefined;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
  readonly waiting?: Waiting;
  readonly readsCopy?: boolean | undefined;
}

export interface Embedded extends OpenSandbox {
  /** Handles a request, subject to the faults active for this data. @throws DatabaseError. */
  send(request: SandboxRequest): Promise<Reply>;
}

/**
 * Opens the sandbox in this process, on the data shared with `sandbox serve`. Like a served sandbox, it keeps running
 * while a command waits. Due work is processed in order, even without requests, and webhooks are delivered.
 * @throws DatabaseError.
 */
export async function openEmbedded({
  stateDir,
  speed,
  seed,
  now,
  report,
  waiting,
  readsCopy,
}: EmbeddedOptions): Promise<Embedded> {
  const sandbox = await openSandbox({
    file: sandboxFile(stateDir),
    baseUrl: defaultBaseUrl,
    config: { speed },
    ...(seed !== undefined && { seed }),
    now,
    report,
    readsCopy,
    ...(waiting && { waiting }),
  });
  const stopTicking = tick(sandbox.service);
  const { handle, service } = sandbox;
  const runTime = new RunTime(service.store);
  const closing = new AbortController();
  return {
    ...sandbox,
    async send(request) {
      const text = runTime.faultsText;
      const isQuiet = text === undefined || readStoredFaults(text).faults.length === 0;
      if (isQuiet || isControl(request.target)) return { kind: 'whole', response: await handle(request) };
      const { replyWithFaults } = await import('./control/faults.ts');
      const faulty = { store: service.store, text, signal: closing.signal };
      return replyWithFaults(faulty, request, () => handle(request));
    },
    async close() {
      closing.abort(new Error('the sandbox was closed'));
      await stopTicking();
      await sandbox.close();
    },
  };
}

/**
 * Problems that make it impossible to delete rows from a file. A lock does not count, because a lock means that another
 * process is using the file.
 */
const beyondRepair: ReadonlySet<DatabaseProblem> = new Set(['damaged', 'newer', 'full']);

/**
 * Deletes the sandbox's data. A server running on the same data continues with an empty store. Deletes the file itself
 * if the file is unreadable or the disk has no space for emptying it. @throws DatabaseError.
 */
export async function deleteEmbedded(stateDir: string, waiting: Waiting = {}): Promise<void> {
  const file = sandboxFile(stateDir);
  if (!existsSync(file)) return;
  try {
    const store = await Store.open(file, { waiting });
    try {
      await emptyStore(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof DatabaseError && beyondRepair.has(error.problem))) throw error;
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  }
}
