import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { readPrivateFile } from '../platform/private-files.ts';
import { makeStateFolder, reasonOf } from './paths.ts';

/** Token file of the sandbox this user serves at a local address. */
const fileOf = (stateDir: string, baseUrl: string): string =>
  join(stateDir, `served-${new URL(baseUrl).port || '80'}.token`);

/**
 * Stores a sandbox's token, readable only by this user, until the sandbox closes. A sandbox without a token relies on
 * the system to identify callers. @throws StorageError if it cannot be stored.
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

/** Token of the sandbox this user serves on that local port; never sent to any other address. */
export function tokenFor(stateDir: string, baseUrl: string): string | undefined {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'http:' || !isLoopback(hostname)) return undefined;
  try {
    return readPrivateFile(fileOf(stateDir, baseUrl), () => {})?.toString('latin1');
  } catch {
    // The request is sent without a token, and the sandbox's error response explains why it is denied.
    return undefined;
  }
}
