import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { makePrivateFolder } from '../platform/private-files.ts';

/**
 * Puts a private file of convenience in the place of the one before, whole or not at all. Nothing durable: a power cut may
 * lose it. @returns whether it is there: on a full disk or a read-only one it is not.
 */
export function writeWhole(folder: string, file: string, text: string): boolean {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    makePrivateFolder(folder, () => {});
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    renameSync(draft, file);
    return true;
  } catch {
    removeIfPossible(draft);
    return false;
  }
}

export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Where nothing can be removed there is nothing that could be done about it.
  }
}
