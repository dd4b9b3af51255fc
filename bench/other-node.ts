import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Installs the other common Node release, 24 or else 20, from the npm package `node`; prints to stderr if that fails.
 * @param folder where to install it; must outlive its use.
 */
export function otherNode(folder: string): string | undefined {
  const major = process.versions.node.startsWith('24.') ? 20 : 24;
  const file = join(folder, 'node_modules/node/bin/node');
  try {
    const args = [
      'install',
      '--prefix',
      folder,
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      `node@${major}`,
    ];
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    execFileSync(file, ['--version'], { stdio: 'ignore' });
    return file;
  } catch (error) {
    const [why] = String(error instanceof Error ? error.message : error).split('\n');
    console.error(`Node ${major} cannot be had, so Node ${process.version} is measured alone: ${why}`);
    return undefined;
  }
}

/** The target for the running Node, where targets differ by version. */
export const aimOf = (aims: { readonly on20: number; readonly on24: number }): number =>
  Number.parseInt(process.versions.node, 10) >= 24 ? aims.on24 : aims.on20;
