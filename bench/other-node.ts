import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Installs Node of a major version from the npm package `node`. @param folder where to install it; must outlive its use.
 * @returns its executable. @throws Error if npm fails, or if this machine cannot run it.
 */
export function installNode(major: number, folder: string): string {
  const options = ['--prefix', folder, '--no-audit', '--no-fund', '--prefer-offline'];
  execFileSync('npm', ['install', ...options, `node@${major}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const file = join(folder, 'node_modules/node/bin/node');
  execFileSync(file, ['--version'], { stdio: 'ignore' });
  return file;
}

/** Installs the other common Node release, 24 or else 20, into a folder; prints to stderr if that fails. */
export function otherNode(folder: string): string | undefined {
  const major = process.versions.node.startsWith('24.') ? 20 : 24;
  try {
    return installNode(major, folder);
  } catch (error) {
    const [why] = String(error instanceof Error ? error.message : error).split('\n');
    console.error(`Node ${major} cannot be had, so Node ${process.version} is measured alone: ${why}`);
    return undefined;
  }
}

/** The target for the running Node, where targets differ by version. */
export const aimOf = (aims: { readonly on20: number; readonly on24: number }): number =>
  Number.parseInt(process.versions.node, 10) >= 24 ? aims.on24 : aims.on20;
