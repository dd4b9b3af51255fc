import { existsSync, rmSync } from 'node:fs';
import { isControl } from '../api/control.ts';
import type { Waiting } from '../platform/async.ts';
import { DatabaseError, type Trouble } from '../platform/sqlite/database-error.ts';
import { sandboxFile } from './config.ts';
import { tick } from './control/tick.ts';
import { type OpenSandbox, openSandbox } from './open.ts';
import type { Reply } from './server/fault-injection.ts';
import type { SandboxRequest } from './server/wire.ts';
import { RunTime, readKeptFaults } from './store/run-time.ts';
import { Store } from './store/store.ts';
import { emptyStore } from './store/tables.ts';

export { sandboxFile } from './config.ts';

/** Where a served sandbox would be; links and shop URLs of the embedded one show it, so that both are the same. */
export const usualBaseUrl = 'http://127.0.0.1:4848';

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
  /** What a request gets, with the faults that are on for this data. @throws DatabaseError. */
  send(request: SandboxRequest): Promise<Reply>;
}

/**
 * The sandbox inside this process, on the data that `sandbox serve` shares. It lives on while a command waits, as a
 * served one does: what is due happens in its order, with or without requests, and webhooks are delivered.
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
    baseUrl: usualBaseUrl,
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
      const isQuiet = text === undefined || readKeptFaults(text).faults.length === 0;
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

/** Where nothing can be deleted from a file; one that is only locked, another process is at work on. */
const beyondRepair: ReadonlySet<Trouble> = new Set(['damaged', 'newer', 'full']);

/**
 * Deletes the sandbox's data; a sandbox that is being served on it goes on with none. A file that cannot be read any
 * more, or has no room to be emptied in, is deleted itself. @throws DatabaseError.
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
    if (!(error instanceof DatabaseError && beyondRepair.has(error.trouble))) throw error;
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  }
}
