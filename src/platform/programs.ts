import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, extname, isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** A program to run, and the environment in which to run it. */
export interface Program {
  /** Absolute path. */
  readonly file: string;
  readonly environment: Environment;
}

/**
 * Finds a program by its bare name in the trusted folders of the PATH. Skips the working folder and all relative
 * folders, because these may contain files of any project. The program itself also gets a PATH of only the trusted
 * folders.
 * @param environment is the program's environment, without secrets.
 * @returns undefined if there is no such program.
 */
export function findProgram(name: string, environment: Environment): Program | undefined {
  const trusted = trustedEnvironment(environment);
  const folders = (trusted[pathVariable(environment)] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '');
  // Without a shell, Windows can run only an `.exe` file.
  const ending = process.platform === 'win32' && extname(name) === '' ? '.exe' : '';
  const file = folders.map((folder) => join(folder, name + ending)).find(isProgram);
  return file === undefined ? undefined : { file, environment: trusted };
}

/** The environment, with a PATH that has only the trusted folders. */
export function trustedEnvironment(environment: Environment): Environment {
  const variable = pathVariable(environment);
  return { ...environment, [variable]: trustedFolders(environment[variable] ?? '').join(delimiter) };
}

/** Windows spells the variable `Path`. */
const pathVariable = (environment: Environment): string =>
  (process.platform === 'win32' && Object.keys(environment).find((name) => name.toUpperCase() === 'PATH')) ||
  'PATH';

/**
 * Folders of a PATH that no project controls. Leaves out relative folders, the working folder, empty entries (which
 * mean the working folder), and `node_modules/.bin`.
 */
function trustedFolders(path: string): string[] {
  const here = workingFolder();
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isOfPackages(folder) && realPath(folder) !== here);
}

/**
 * Whether a folder is the `node_modules/.bin` folder of a project. npm and npx put this folder at the start of the
 * PATH.
 */
const isOfPackages = (folder: string): boolean =>
  basename(folder) === '.bin' && basename(dirname(folder)) === 'node_modules';

/** The working folder; undefined if it was deleted. */
function workingFolder(): string | undefined {
  try {
    return realpathSync(process.cwd());
  } catch {
    return undefined;
  }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** Whether a file can be run. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
