import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Installs what a folder's own lock names, once per version. @param name the package that the version is of. */
export async function installLocked(folder: string, name: string): Promise<void> {
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const installed = join('node_modules', name, 'package.json');
  if (
    existsSync(join(folder, installed)) &&
    read(installed).version === read('package.json').dependencies[name]
  )
    return;
  try {
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  } catch (cause) {
    throw new Error(`${name} could not be installed: is the package registry reachable?`, { cause });
  }
}
