import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type OpenSandbox, openSandbox } from './open.ts';
import { openTrouble } from './store-error.ts';

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
  const file = sandboxFile(stateDir);
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    chmodSync(stateDir, 0o700);
  } catch (cause) {
    throw openTrouble(file, cause);
  }
  return openSandbox({
    file,
    baseUrl: usualBaseUrl,
    config: { speed },
    ...(seed !== undefined && { seed }),
    now,
    report,
  });
}

/** Deletes the sandbox's data. @returns whether there was any. */
export function deleteEmbedded(stateDir: string): boolean {
  const file = sandboxFile(stateDir);
  const was = existsSync(file);
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  return was;
}
