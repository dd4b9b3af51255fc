import { join } from 'node:path';
import { isObject } from '../api/json.ts';
import { readPrivateFile } from '../platform/private-files.ts';
import type { Io, Pager } from '../platform/streams.ts';
import { withoutKeys } from './keys.ts';
import { type Environment, foldersOf, isRelative } from './paths.ts';
import { preferenceInUse } from './preferences.ts';
import type { Preference } from './stored.ts';

/** How a user wants output to look on a terminal. */
export interface Display {
  /** With `lines`, tables are shown as labelled lines, too. */
  readonly accessible: 'off' | 'on' | 'lines';
  /** The program that shows long texts; undefined if there is none. */
  readonly pager: Pager | undefined;
  readonly color: 'auto' | 'always' | 'never';
}

/**
 * Reads the display preferences. Ignores an unreadable configuration, because the command itself reports that problem.
 */
export function readDisplay(environment: Environment, platform: NodeJS.Platform): Display {
  const stored = storedPreferences(environment, platform);
  const inUse = (name: string) => preferenceInUse(name, preferenceIn(stored, name), environment);
  const { value: accessible } = inUse('accessible');
  const [pager, color] = [inUse('pager'), inUse('color')];
  // A pager moves the cursor.
  const isPlain =
    environment.TERM === 'dumb' || accessible !== 'off' || (platform === 'win32' && pager.from === 'default');
  return {
    accessible: accessible === 'on' || accessible === 'lines' ? accessible : 'off',
    pager:
      pager.value === 'off' || isPlain
        ? undefined
        : { command: pager.value, environment: withoutKeys(environment) },
    color:
      color.from !== 'config'
        ? 'auto'
        : color.value === 'always' || color.value === 'never'
          ? color.value
          : 'auto',
  };
}

const preferenceIn = (stored: object, name: string): Preference | undefined => {
  const value: unknown = Object.hasOwn(stored, name) ? Reflect.get(stored, name) : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;
};

function storedPreferences(environment: Environment, platform: NodeJS.Platform): object {
  if (isRelative(environment.ERRAND_CONFIG_DIR) || isRelative(environment.ERRAND_STATE_DIR)) return {};
  try {
    const file = join(foldersOf(environment, platform).config, 'config.json');
    const stored: unknown = JSON.parse(readPrivateFile(file, () => {})?.toString() ?? '{}');
    return isObject(stored) && isObject(stored.preferences) ? stored.preferences : {};
  } catch {
    return {};
  }
}

/** Applies display preferences to the terminals that a process writes to. */
export function applyDisplay({ stdout, stderr }: Io, { accessible, color }: Display): void {
  for (const output of [stdout, stderr]) {
    if (accessible !== 'off' && output.isTerminal)
      Object.assign(output, { isDumb: true, isAccessible: true });
    if (color === 'always') Object.assign(output, { color: true });
    if (color === 'never') Object.assign(output, { color: false });
  }
}
