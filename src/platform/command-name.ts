import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join, relative, sep } from 'node:path';
import { shellWord } from './shell-word.ts';

/** What decides how this program is started from a shell. */
export interface Started {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The file that runs: `…/bin/errand.js`, or a link to it. */
  readonly file: string;
  /** Undefined where it is not there any more. */
  readonly folder: string | undefined;
}

/**
 * What a person types to start this program again: `errand` where the PATH has it, `npx errand` where npm started it or
 * the folder belongs to the project that holds it, else Node with the file.
 */
export function commandName({ environment, platform, file, folder }: Started): string {
  const byNpm = environment.npm_execpath !== undefined;
  const path = environment.PATH ?? environment.Path ?? '';
  const folders = path.split(platform === 'win32' ? ';' : delimiter).filter((one) => one !== '');
  // npm puts these on the PATH of what it starts, and takes them away again.
  const own = byNpm ? folders.filter((one) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(one)) : folders;
  const endings = platform === 'win32' ? (environment.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';') : [''];
  const names = endings.map((ending) => `errand${ending.toLowerCase()}`);
  if (own.some((one) => names.some((name) => canRun(join(one, name), platform)))) return 'errand';
  if (byNpm || (folder !== undefined && isWithin(folder, projectOf(file)))) return 'npx errand';
  return `node ${shellWord(platform === 'win32' ? file.replaceAll('\\', '/') : file)}`;
}

function canRun(file: string, platform: NodeJS.Platform): boolean {
  try {
    if (platform !== 'win32') accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there, or not for this user.
    return false;
  }
}

/** The folder in which npx finds the program: its own checkout, or the project it is installed in. */
function projectOf(file: string): string {
  const checkout = dirname(dirname(resolved(file)));
  const [project] = checkout.split(`${sep}node_modules${sep}`);
  return project ?? checkout;
}

const isWithin = (folder: string, outer: string): boolean => {
  const way = relative(outer, resolved(folder));
  return way === '' || !(way.startsWith('..') || way.includes(':'));
};

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
