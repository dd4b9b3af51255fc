import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Document } from 'yaml';
import { lockPath } from '../config/lock.ts';
import { makeConfigFolder, reasonOf } from '../config/paths.ts';
import { removeIfPossible } from '../journal/saved-files.ts';
import { ErrandError, StorageError, UsageError } from '../platform/errors.ts';
import { RetryBudget } from '../platform/poll.ts';
import { PrivateFileError, readGuardedFile } from '../platform/private-files.ts';
import type { Context } from '../run/context.ts';
import type { StandingEntry } from './entries.ts';
import { defaultName } from './peek.ts';

/** The option that names the file, for every command that uses the file. */
export const fileOption = {
  standing: {
    kind: 'text',
    placeholder: 'file',
    completes: 'files',
    description: `file of standing orders (default ${defaultName} in the configuration folder)`,
  },
} as const;

/** The file of standing orders. `bytes` is undefined if the default file does not exist. */
export interface EntryFile {
  readonly path: string;
  readonly bytes: Buffer | undefined;
  /**
   * When the file was last changed, in ms since the epoch by this machine's clock. A change by the running command does
   * not count.
   */
  readonly changedAt: number;
}

/**
 * Reads the file. Verifies that only its owner can change it, although others may read it.
 * @throws UsageError if others can change the file, if it cannot be read, or if the user named it and it does not
 * exist.
 */
export function readEntryFile({ settings }: Pick<Context, 'settings'>, given: string | undefined): EntryFile {
  return fileAt(pathOf(settings, given), given !== undefined);
}

const fileAt = (path: string, isNamed: boolean): EntryFile => ({
  path,
  bytes: guardedBytes(path, isNamed),
  changedAt: changeOf(path),
});

/** When a file was last changed or put in place. Also uses `ctime`, because a copied file may keep an old `mtime`. */
function changeOf(path: string): number {
  const { mtimeMs = 0, ctimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return Math.max(mtimeMs, ctimeMs);
}

/** Path of the file that the user named, or of the default file. */
const pathOf = ({ folders }: Context['settings'], given: string | undefined): string =>
  given === undefined ? join(folders.config, defaultName) : resolve(given);

function guardedBytes(path: string, isNamed: boolean): Buffer | undefined {
  let bytes: Buffer | undefined;
  try {
    bytes = readGuardedFile(path);
  } catch (cause) {
    if (cause instanceof PrivateFileError)
      throw new UsageError(`the standing orders cannot be used: ${cause.message}`, {
        code: 'standing_unusable',
        hint: 'A file of standing orders is one that only its owner may change, in folders that only their owner may change. Until then, nothing of it is ordered.',
        cause,
      });
    throw new UsageError(`${path} cannot be read (${reasonOf(cause)})`, {
      code: 'standing_unusable',
      cause,
    });
  }
  if (bytes === undefined && isNamed)
    throw new UsageError(`${path} does not exist`, {
      hint: '`errand standing add NAME --standing FILE` makes it.',
    });
  return bytes;
}

/**
 * Parses the entries of a file.
 * @throws UsageError naming file, line and column.
 */
export async function entriesOf({
  path,
  bytes,
}: Omit<EntryFile, 'changedAt'>): Promise<readonly StandingEntry[]> {
  if (bytes === undefined) return [];
  const { readEntries } = await import('./entries.ts');
  return readEntries(path, textOf(path, bytes));
}

function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`${path} is not UTF-8 text; save it as UTF-8`, { cause });
  }
}

/**
 * Finds an entry by its name.
 * @throws ErrandError not_found listing the known names.
 */
export function entryNamed(entries: readonly StandingEntry[], name: string, path: string): StandingEntry {
  const found = entries.find((entry) => entry.name === name);
  if (found) return found;
  const names = entries.map((entry) => entry.name).join(', ');
  throw new ErrandError(
    'not_found',
    `there is no standing order ${name} in ${path}${names === '' ? '' : `; known are ${names}`}`,
    {
      outcome: 'not_sent',
      retryable: false,
      next: [{ command: 'errand standing list', when: 'to see them all' }],
    },
  );
}

/** The file after a change. */
export interface ChangedFile extends EntryFile {
  readonly entries: readonly StandingEntry[];
}

/**
 * Changes a parsed document.
 * @param entries are the entries before the change.
 * @param parse returns the entries of the document in its present state.
 */
export type EntryChange = (
  document: Document,
  entries: readonly StandingEntry[],
  path: string,
  parse: () => readonly StandingEntry[],
) => void;

/**
 * Tries a change without writing it, so that an invalid change is reported before the user is asked anything.
 * @throws UsageError.
 */
export async function checkEntryChange(
  context: Context,
  given: string | undefined,
  change: EntryChange,
): Promise<void> {
  const path = pathOf(context.settings, given);
  await draftOf({ path, bytes: guardedBytes(path, false) }, change);
}

/**
 * Changes the file under a lock and keeps its comments. Writes nothing if the result does not parse. Replaces the file
 * atomically.
 * @param change changes the document; it receives the current entries.
 * @returns the file after the change.
 * @throws ErrandError.
 */
export async function changeEntryFile(
  context: Context,
  given: string | undefined,
  change: EntryChange,
): Promise<ChangedFile> {
  const named = pathOf(context.settings, given);
  if (given === undefined) makeConfigFolder(dirname(named));
  const path = existsSync(named) ? realpathSync(named) : named;
  const waiting = { signal: context.signal, retryBudget: new RetryBudget() };
  const release = await lockPath(path, `the file of standing orders ${path}`, waiting, {
    mayBeMissing: true,
  });
  try {
    const { bytes, changedAt } = fileAt(path, false);
    const { text, entries } = await draftOf({ path: named, bytes }, change);
    replaceFile(path, text);
    return { entries, path: named, bytes: Buffer.from(text), changedAt };
  } finally {
    await release();
  }
}

async function draftOf(
  { path, bytes }: Omit<EntryFile, 'changedAt'>,
  change: EntryChange,
): Promise<{ readonly text: string; readonly entries: readonly StandingEntry[] }> {
  const before = await entriesOf({ path, bytes });
  const [{ parseDocument, visit }, { entryFields, readEntries }] = await Promise.all([
    import('yaml'),
    import('./entries.ts'),
  ]);
  const old = bytes === undefined ? '' : textOf(path, bytes);
  const document = parseDocument(old.trim() === '' ? newFile : old);
  // Entries are looked up by their name as text. Therefore convert names such as 2026, which YAML reads as numbers.
  visit(document, {
    Scalar: (key, scalar) => {
      if (key === 'key') scalar.value = String(scalar.value);
    },
  });
  const textNow = (): string => document.toString({ lineWidth: 0 });
  const parse = (): readonly StandingEntry[] => {
    try {
      return readEntries(path, textNow());
    } catch (error) {
      throw error instanceof UsageError ? inFlags(error, entryFields) : error;
    }
  };
  change(document, before, path, parse);
  return { entries: parse(), text: textNow() };
}

/** Rewords an error so that it names the flag. The line that the error names was never written to the file. */
function inFlags(error: UsageError, fields: readonly string[]): UsageError {
  const message = error.message
    .replace(/^.*?, line \d+, column \d+: (?:orders\.)?/, '')
    .replace(
      new RegExp(String.raw`^\S+?\.(${fields.join('|')})(?:\[\d+\])? `),
      (_, field: string) => `--${field.replace('_', '-')} `,
    );
  return new UsageError(`${message}; nothing was changed`, { ...error.facts, cause: error });
}

const newFile = `# Standing orders: what is bought again and again, and when. \`errand standing run\` buys what is due.
# See \`errand standing add --help\`; \`errand schema StandingFile\` lists every field.
version: 1
orders: {}
`;

/** @throws StorageError if the file cannot be written; the old file is then unchanged. */
function replaceFile(path: string, text: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600;
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    chmodSync(draft, mode & 0o777);
    renameSync(draft, path);
  } catch (cause) {
    removeIfPossible(draft);
    throw new StorageError(`${path} cannot be written (${reasonOf(cause)}); nothing was changed`, { cause });
  }
}
