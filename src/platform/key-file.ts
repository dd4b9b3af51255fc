import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs';
import { readPrivateFile, type Warn } from './private-files.ts';

/**
 * Reads a file with a random key, mode 0600. If the file is missing, creates it.
 * @throws PrivateFileError, NodeJS.ErrnoException; Error if the file holds anything else.
 */
export function readKeyFile(file: string, bytes: number, warn: Warn): Buffer {
  const key = readPrivateFile(file, warn) ?? makeKey(file, bytes, warn);
  if (key.length !== bytes) throw new Error(`it is not a key of ${bytes} bytes`);
  return key;
}

/**
 * Creates the key file atomically. If several processes try this at once, one of them creates the file and the others
 * read it.
 */
function makeKey(file: string, bytes: number, warn: Warn): Buffer {
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  const opened = openSync(draft, 'wx', 0o600);
  try {
    writeSync(opened, randomBytes(bytes));
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const key = readPrivateFile(file, warn);
  if (!key) throw new Error('it is gone again');
  return key;
}
