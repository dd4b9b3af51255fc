import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ErrandError } from '../platform/errors.ts';
import { shellWord } from '../platform/shell.ts';
import { type CompletionPlace, completionPlaces } from './completion-places.ts';
import type { Environment, Folders } from './paths.ts';
import { checkState, findLooseFolders } from './paths.ts';
import { preferences } from './preferences.ts';
import { type Flags, resolveSettings, type Settings } from './resolve.ts';
import type { SettingsStore } from './store.ts';
import { emptyStored, profileFields, renamedPreferences, type Stored, storedFields } from './stored.ts';

/** A problem with files or settings, found before they are used. */
export interface ConfigProblem {
  readonly check: 'configuration' | 'permissions' | 'settings';
  readonly message: string;
  readonly remedy: string;
}

export interface Diagnosis {
  readonly problems: readonly ConfigProblem[];
  /** Node version and platform, in words. */
  readonly runtime: string;
  /** Where shells look for a completion script. */
  readonly completionPlaces: readonly CompletionPlace[];
}

/**
 * Resolves the settings for a diagnosis. Reports and leaves out what is unusable, so that the rest can still be
 * checked. Never throws.
 */
export function diagnoseSettings(
  flags: Flags,
  environment: Environment,
  store: SettingsStore,
  folders: Folders,
  platform: NodeJS.Platform,
): { readonly settings: Settings; readonly diagnosis: Diagnosis } {
  const loose = findLoose(store.file, folders);
  const unusable = [...unusableState(folders.state), ...replaceable(folders)];
  const { stored, problems } = readTolerantly(store);
  const { settings, refused } = resolveTolerantly(flags, environment, stored, folders);
  return {
    settings: withDiagnosisLimits(settings),
    diagnosis: {
      problems: [...loose.map(looseFile), ...unusable, ...problems, ...refused],
      runtime: `Node ${process.version}, ${platform} ${process.arch}`,
      completionPlaces: completionPlaces(environment, platform),
    },
  };
}

/**
 * Allows one attempt and ten seconds, unless the user has set these limits. A service that needs more is worth a
 * finding.
 */
const withDiagnosisLimits = (settings: Settings): Settings => ({
  ...settings,
  ...(settings.retries.from === 'default' && { retries: { ...settings.retries, value: 0 } }),
  ...(settings.timeoutMs.from === 'default' && { timeoutMs: { ...settings.timeoutMs, value: 10_000 } }),
});

interface Loose {
  readonly path: string;
  readonly mode: number;
}

/** Must be called before any of errand's files is opened, because opening a file tightens its mode. */
function findLoose(configFile: string, folders: Folders): Loose[] {
  const files = namesIn(folders.state).map((name) => join(folders.state, name));
  return [folders.config, configFile, folders.state, ...files].flatMap((path) => {
    const mode = modeOf(path);
    return mode === undefined || (mode & 0o077) === 0 ? [] : [{ path, mode }];
  });
}

/**
 * Reports a file that other users could open. Also says what remains to be done, because errand has already tightened
 * the mode of its own files.
 */
function looseFile({ path, mode }: Loose): ConfigProblem {
  const now = modeOf(path) ?? 0;
  const tightened = `Its mode is ${(now & 0o777).toString(8)} now. If others use this machine, they may have read the keys it holds: replace them.`;
  const remedy = (now & 0o077) === 0 ? tightened : `chmod go= ${shellWord(path)}`;
  const message = `${path} can be used by others: its mode is ${(mode & 0o777).toString(8)}`;
  return { check: 'permissions', message, remedy };
}

/** Reports a path that should hold one of errand's files, but holds a link, a FIFO or another user's file. */
function unusableState(folder: string): ConfigProblem[] {
  try {
    checkState(folder, () => {});
    return [];
  } catch (error) {
    return [problemOf('permissions', error)];
  }
}

/** Reports that other users may replace the folders in which errand keeps its files. */
function replaceable(folders: Folders): ConfigProblem[] {
  const found = findLooseFolders(folders);
  return found ? [{ check: 'permissions', ...found }] : [];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function modeOf(path: string): number | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    return lstatSync(path).mode;
  } catch {
    return undefined;
  }
}

function readTolerantly(store: SettingsStore): { stored: Stored; problems: ConfigProblem[] } {
  try {
    return { stored: store.stored, problems: unknownKeys(store.file) };
  } catch (error) {
    return { stored: emptyStored, problems: [problemOf('configuration', error)] };
  }
}

/** Finds unknown names. Without this, a misspelled setting would silently have no effect. */
function unknownKeys(file: string): ConfigProblem[] {
  const root = parsed(file);
  const names = [
    ...strangers(root, storedFields, ''),
    ...strangers(
      root.preferences,
      [...Object.keys(preferences), ...Object.keys(renamedPreferences)],
      'preferences.',
    ),
    ...Object.entries(Object(root.profiles)).flatMap(([name, profile]) =>
      strangers(profile, profileFields, `profiles.${name}.`),
    ),
  ];
  if (names.length === 0) return [];
  const message = `${file} holds what nothing reads: ${names.join(', ')}`;
  return [{ check: 'configuration', message, remedy: `Correct or remove it in ${file}.` }];
}

function parsed(file: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}

const strangers = (value: unknown, known: readonly string[], before: string): string[] =>
  Object.keys(Object(value))
    .filter((name) => !known.includes(name))
    .map((name) => before + name);

/**
 * Tries to resolve the settings as they are. If that fails, tries without errand's variables, and then also without
 * flags. Returns the first result that works.
 */
function resolveTolerantly(flags: Flags, environment: Environment, stored: Stored, folders: Folders) {
  const rest = Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith('ERRAND_')),
  );
  const ways: readonly (() => Settings)[] = [
    () => resolveSettings(flags, environment, stored, folders),
    () => resolveSettings(flags, rest, stored, folders),
    () => resolveSettings({}, rest, stored, folders),
  ];
  const refused = new Map<string, ConfigProblem>();
  for (const way of ways) {
    try {
      return { settings: way(), refused: [...refused.values()] };
    } catch (error) {
      const problem = problemOf('settings', error);
      refused.set(problem.message, problem);
    }
  }
  return { settings: resolveSettings({}, {}, emptyStored, folders), refused: [...refused.values()] };
}

function problemOf(check: ConfigProblem['check'], error: unknown): ConfigProblem {
  const message = error instanceof Error ? error.message : String(error);
  const facts = error instanceof ErrandError ? error.facts : {};
  const step = facts.next?.[0];
  const remedy = facts.hint ?? (step ? `${step.command}   ${step.when}` : 'Correct it, or take it away.');
  return { check, message, remedy };
}
