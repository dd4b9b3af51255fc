import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { homeOf, reasonOf } from '../../config/paths.ts';
import { sha256 } from '../../format/canonical.ts';
import { StorageError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

/** Where each agent looks for skills, relative to the user's home. */
const folders = {
  agents: '.agents/skills',
  claude: '.claude/skills',
  codex: '.codex/skills',
  gemini: '.gemini/skills',
  opencode: '.config/opencode/skills',
} as const;

// The cast is safe because an object literal has no keys but its own.
export const targets = Object.keys(folders) as Target[];
export type Target = keyof typeof folders;

export const targetOption = {
  kind: 'text',
  placeholder: 'agent',
  offers: targets,
  description: `whose folder: ${targets.join(', ')} (agents is shared by several)`,
} as const;

/** @throws UsageError for an unknown target, or none. */
export function readTarget(given: string | undefined): Target {
  const known = targets.find((name) => name === given);
  if (known !== undefined) return known;
  throw new UsageError(
    given === undefined
      ? `--target is missing; it takes ${targets.join(', ')}`
      : `--target takes ${targets.join(', ')}, not "${given}"`,
  );
}

/** The skill that comes with this program. The build locates it relative to the built program. */
const source = new URL('../../../docs/SKILL.md', import.meta.url);

const mark = /\n<!-- installed by errand \S{1,40}; sha256 ([0-9a-f]{64}) -->\n$/;

/**
 * Adds to the skill a line with the skill's hash. A later run can then tell whether somebody has changed the installed
 * file.
 */
export function markedSkill({ version }: Pick<Context, 'version'>): string {
  const text = readFileSync(source, 'utf8');
  return `${text}\n<!-- installed by errand ${version}; sha256 ${sha256(text)} -->\n`;
}

/** Whether errand wrote a file and nobody has changed the file since. */
function isOurs(text: string): boolean {
  const [whole = '', hash] = mark.exec(text) ?? [];
  return hash !== undefined && sha256(text.slice(0, text.length - whole.length)) === hash;
}

export interface Installed {
  readonly file: string;
  /** The file's current text; undefined if there is no file. */
  readonly text: string | undefined;
}

/**
 * Finds the file that is installed for an agent. Follows no link below the user's home.
 * @throws UsageError for a link, for a folder in place of the file, for a file that errand did not write, and for a
 * file that was changed since errand wrote it.
 */
export function installedAt({ environment }: Pick<Context, 'environment'>, target: Target): Installed {
  const home = homeOf(environment);
  const file = join(home, folders[target], 'errand', 'SKILL.md');
  const parts = relative(home, file).split(sep);
  for (const [at] of parts.entries()) {
    const path = join(home, ...parts.slice(0, at + 1));
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return { file, text: undefined };
    if (stat.isSymbolicLink()) throw new UsageError(`${path} is a link, which errand does not follow here`);
    const isLast = at === parts.length - 1;
    if (isLast ? !stat.isFile() : !stat.isDirectory())
      throw new UsageError(`${path} is no ${isLast ? 'file' : 'folder'}; errand leaves it alone`);
  }
  const text = readFileSync(file, 'utf8');
  if (isOurs(text)) return { file, text };
  throw new UsageError(`${file} is not as errand wrote it; it is left alone`, {
    hint: 'Move it away, and install anew.',
  });
}

/**
 * Writes the skill, whole or not at all.
 * @throws StorageError, also for a file that has appeared since.
 */
export function writeSkill({ file, text: before }: Installed, text: string): void {
  const made = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(made, text, { flag: 'wx', mode: 0o644 });
    if (before === undefined) linkSync(made, file);
    else renameSync(made, file);
  } catch (cause) {
    throw new StorageError(`${file} cannot be written (${reasonOf(cause)})`, { cause });
  } finally {
    rmSync(made, { force: true });
  }
}

/**
 * Removes the file. Also removes the file's folder if the folder is then empty.
 * @throws StorageError.
 */
export function removeSkill({ file }: Installed): void {
  try {
    unlinkSync(file);
    if (readdirSync(dirname(file)).length === 0) rmdirSync(dirname(file));
  } catch (cause) {
    throw new StorageError(`${file} cannot be removed (${reasonOf(cause)})`, { cause });
  }
}

/**
 * Returns the lines that only the old text has, followed by the lines that only the new text has. All are marked as in
 * a diff.
 */
export function differenceLines(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ];
}

/** @throws UsageError if nobody agrees. */
export async function agree(
  context: Context,
  question: string,
  { yes, command }: { readonly yes: boolean | undefined; readonly command: string },
): Promise<boolean> {
  if (yes) return true;
  if (context.interactive.yes) return (await context.prompt()).confirm(context, question);
  throw new UsageError(`pass --yes; cannot prompt, because ${context.interactive.why}`, {
    next: [{ command: `${command} --yes`, when: 'to do it without a question' }],
  });
}
