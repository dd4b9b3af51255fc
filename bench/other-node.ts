import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * The Node that people run most and this process is not: 24, or 20 where this one is that; from the registry's package
 * `node`. Says so on stderr where it cannot be had. @param folder that it may stay in as long as it runs.
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

/** What is to be reached on the Node that runs, where it is not one for all. */
export const aimOf = (aims: { readonly on20: number; readonly on24: number }): number =>
  Number.parseInt(process.versions.node, 10) >= 24 ? aims.on24 : aims.on20;
