import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { readPrivateFile } from '../platform/private-files.ts';
import { makeStateFolder, reasonOf } from './paths.ts';

/** Path of the token file of a sandbox that this user serves at a local address. */
const fileOf = (stateDir: string, baseUrl: string): string =>
  join(stateDir, `served-${new URL(baseUrl).port || '80'}.token`);

/**
 * Stores the token of a sandbox until the sandbox closes. Only this user can read it. A sandbox without a token relies
 * on the system to identify callers.
 * @throws StorageError if the token cannot be stored.
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

/** Token of the sandbox that this user serves on that local port. It is never sent to any other address. */
export function tokenFor(stateDir: string, baseUrl: string): string | undefined {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'http:' || !isLoopback(hostname)) return undefined;
  try {
    return readPrivateFile(fileOf(stateDir, baseUrl), () => {})?.toString('latin1');
  } catch {
    // Send the request without a token. The sandbox then refuses the request, and its response explains why.
    return undefined;
  }
}
