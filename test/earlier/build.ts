import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The last commit before the sources were put into rooms: the build whose state and names hold. */
export const earlierCommit = '9ebd1325';

/** A build from the history of this repository, in a temporary folder. */
export interface EarlierBuild {
  /** Its `bin/errand.js`. */
  readonly program: string;
  remove(): void;
}

/** Builds the program as it stood at a commit. @throws Error where that is not in this clone, or needs other libraries. */
export function buildEarlier(commit = earlierCommit): EarlierBuild {
  const git = (...args: string[]): Buffer =>
    execFileSync('git', args, { cwd: root, maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
  const folder = mkdtempSync(join(tmpdir(), 'errand-earlier-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    execFileSync('tar', ['-x', '-C', folder], { input: git('archive', commit) });
    const [then, now] = [folder, root].map((one) => readFileSync(join(one, 'package-lock.json'), 'utf8'));
    if (then === now) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    else
      execFileSync('npm', ['ci', '--ignore-scripts'], {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    mkdirSync(join(folder, 'dist'), { recursive: true });
    execFileSync(process.execPath, ['.ci/build.js'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const program = join(folder, 'bin/errand.js');
    if (!existsSync(program)) throw new Error(`${commit} has no ${program}`);
    return { program, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
