import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { readPrivateFile } from '../platform/private-files.ts';
import { makeStateFolder, reasonOf } from './paths.ts';

/** The token of the sandbox that this user serves at an address of this machine. */
const fileOf = (stateDir: string, baseUrl: string): string =>
  join(stateDir, `served-${new URL(baseUrl).port || '80'}.token`);

/**
 * Keeps the token of a sandbox for the command lines of this user alone, until the sandbox is closed. Without one the
 * system tells whose a request is. @throws StorageError where it cannot be kept.
 */
export async function keepingToken<S extends Tokened>(stateDir: string, sandbox: S): Promise<S> {
  const { baseUrl, token } = sandbox;
  if (token === undefined) return sandbox;
  const file = fileOf(stateDir, baseUrl);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    makeStateFolder(stateDir, false);
    writeFileSync(draft, token, { flag: 'wx', mode: 0o600 });
    renameSync(draft, file);
  } catch (cause) {
    await sandbox.close();
    if (cause instanceof StorageError) throw cause;
    throw new StorageError(`${file} cannot be written (${reasonOf(cause)})`, { cause });
  }
  return {
    ...sandbox,
    async close() {
      rmSync(file, { force: true });
      await sandbox.close();
    },
  };
}

interface Tokened {
  readonly baseUrl: string;
  readonly token: string | undefined;
  close(): Promise<void>;
}

/** The token for a sandbox, where this user serves one on that port of this machine; it goes to no other. */
export function tokenFor(stateDir: string, baseUrl: string): string | undefined {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'http:' || !isLoopback(hostname)) return undefined;
  try {
    return readPrivateFile(fileOf(stateDir, baseUrl), () => {})?.toString('latin1');
  } catch {
    // Without it the sandbox says why it refuses.
    return undefined;
  }
}
