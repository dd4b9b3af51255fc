import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Folders {
  readonly config: string;
  readonly state: string;
}

export type FolderVariable = 'ERRAND_CONFIG_DIR' | 'ERRAND_STATE_DIR';

/** A path of the environment; one that is empty or relative would mean another folder in each folder, and names none. */
export const absolutePath = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

/** Whether a variable names a folder that is another one in each directory. */
export const isRelative = (path: string | undefined): path is string => Boolean(path && !isAbsolute(path));

export const homeOf = ({ HOME, USERPROFILE }: Environment): string =>
  absolutePath(HOME) ?? absolutePath(USERPROFILE) ?? absolutePath(homedir()) ?? userInfo().homedir;

/** `ERRAND_CONFIG_DIR` and `ERRAND_STATE_DIR`, else the platform's own folders. */
export function foldersOf(environment: Environment, platform: NodeJS.Platform): Folders {
  const preset = platformFolders(environment, platform, homeOf(environment));
  const { ERRAND_CONFIG_DIR: config, ERRAND_STATE_DIR: state } = environment;
  return { config: config ? resolve(config) : preset.config, state: state ? resolve(state) : preset.state };
}

function platformFolders(environment: Environment, platform: NodeJS.Platform, home: string): Folders {
  if (platform === 'darwin') {
    return {
      config: join(home, 'Library', 'Preferences', 'errand'),
      state: join(home, 'Library', 'Application Support', 'errand'),
    };
  }
  if (platform === 'win32') {
    const local = environment.LOCALAPPDATA || join(home, 'AppData', 'Local');
    const roaming = environment.APPDATA || join(home, 'AppData', 'Roaming');
    return { config: join(roaming, 'errand', 'Config'), state: join(local, 'errand', 'Data') };
  }
  return {
    config: join(absolutePath(environment.XDG_CONFIG_HOME) ?? join(home, '.config'), 'errand'),
    state: join(absolutePath(environment.XDG_STATE_HOME) ?? join(home, '.local', 'state'), 'errand'),
  };
}
