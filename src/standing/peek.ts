import { join } from 'node:path';
import { readGuardedFile } from '../platform/private-files.ts';

/** Name of the default file, in the configuration folder. */
export const defaultName = 'standing.yaml';

/**
 * Names of the entries in the default file, for completion.
 * @throws Error if the file cannot be read.
 */
export async function peekNames(configFolder: string): Promise<readonly string[]> {
  const file = join(configFolder, defaultName);
  const bytes = readGuardedFile(file);
  if (bytes === undefined) return [];
  const { readEntries } = await import('./entries.ts');
  return readEntries(file, bytes.toString()).map(({ name }) => name);
}
