import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenSandbox, openSandbox } from './open.ts';
import { StoreError } from './store-error.ts';
import { emptyStore } from './tables.ts';

/** Where a served sandbox would be; links and shop URLs of the embedded one show it, so that both are the same. */
export const usualBaseUrl = 'http://127.0.0.1:4848';

export const sandboxFile = (stateDir: string): string => join(stateDir, 'sandbox.db');

interface EmbeddedOptions {
  readonly stateDir: string;
  readonly speed: number;
  readonly seed: number | undefined;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

/** The sandbox inside this process, on the data that `sandbox serve` shares. @throws StoreError. */
export async function openEmbedded({
  stateDir,
  speed,
  seed,
  now,
  report,
}: EmbeddedOptions): Promise<OpenSandbox> {
  return openSandbox({
    file: sandboxFile(stateDir),
    baseUrl: usualBaseUrl,
    config: { speed },
    ...(seed !== undefined && { seed }),
    now,
    report,
  });
}

/**
 * Deletes the sandbox's data; a sandbox that is being served on it goes on with none. A file that cannot be read any
 * more is deleted itself.
 */
export async function deleteEmbedded(stateDir: string): Promise<void> {
  const file = sandboxFile(stateDir);
  if (!existsSync(file)) return;
  try {
    await emptyStore(file);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  }
}
