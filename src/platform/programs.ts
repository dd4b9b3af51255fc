import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, extname, isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** A program that errand runs by itself, and the environment that it is run with. */
export interface Program {
  /** Absolute path. */
  readonly file: string;
  readonly environment: Environment;
}

/**
 * Finds a program by its bare name in the folders of the PATH, but not in the working folder or in a folder named
 * relative to it, where anybody's project may lie. The program gets a PATH of these folders too.
 * @param environment is the program's environment, without secrets. @returns undefined if there is none.
 */
export function findProgram(name: string, environment: Environment): Program | undefined {
  const trusted = trustedEnvironment(environment);
  const folders = (trusted[pathVariable(environment)] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '');
  // Without a shell, Windows runs nothing else.
  const ending = process.platform === 'win32' && extname(name) === '' ? '.exe' : '';
  const file = folders.map((folder) => join(folder, name + ending)).find(isProgram);
  return file === undefined ? undefined : { file, environment: trusted };
}

/** The environment with a PATH that leads neither into the working folder nor into a folder named relative to it. */
export function trustedEnvironment(environment: Environment): Environment {
  const variable = pathVariable(environment);
  return { ...environment, [variable]: trustedFolders(environment[variable] ?? '').join(delimiter) };
}

/** Windows spells the variable `Path`. */
const pathVariable = (environment: Environment): string =>
  (process.platform === 'win32' && Object.keys(environment).find((name) => name.toUpperCase() === 'PATH')) ||
  'PATH';

/** Folders of a PATH that no project decides. An empty entry means the working folder. */
function trustedFolders(path: string): string[] {
  const here = workingFolder();
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isOfPackages(folder) && realPath(folder) !== here);
}

/** `node_modules/.bin` of a project, which npm and npx put in front of the PATH. */
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
