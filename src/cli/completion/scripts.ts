import { readFileSync } from 'node:fs';
import { shellWord } from '../../platform/shell.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

interface Script {
  /** File name in `completions/`, as the shell expects it. */
  readonly file: string;
  /** The part of the script that calls the program by its name on the PATH, `errand`. */
  readonly byName: string;
  /** Returns the replacement for `byName` that calls the program by its path. */
  byPath(path: string): string;
}

const posix = { byName: 'command errand ', byPath: (path: string) => `command node ${shellWord(path)} ` };

const scripts: Readonly<Record<Shell, Script>> = {
  bash: { file: 'errand.bash', ...posix },
  zsh: { file: '_errand', ...posix },
  fish: {
    file: 'errand.fish',
    byName: posix.byName,
    byPath: (path) => `command node '${path.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}' `,
  },
  powershell: {
    file: 'errand.ps1',
    byName: "$name = 'errand'; $asks = @()",
    byPath: (path) => `$name = 'node'; $asks = @('${path.replaceAll("'", "''")}')`,
  },
};

/** Folder of the completion scripts that shells load. The build locates the folder relative to the built program. */
const folder = new URL('../../../completions/', import.meta.url);

/** Returns the parts of the script before and after the program name. */
function template(shell: Shell): { readonly before: string; readonly after: string } {
  const { file, byName } = scripts[shell];
  const text = readFileSync(new URL(file, folder), 'utf8');
  const [before = '', after = ''] = text.split(byName);
  return { before, after };
}

/**
 * Returns the completion script of `errand`. The script contains no list of commands. Instead, it runs the program on
 * each TAB, so the script changes only if the way of running the program changes. The script calls the program by path,
 * since a script cannot use an alias.
 * @param program is the path of this program.
 */
export function completionScript(shell: Shell, program: string): string {
  const { before, after } = template(shell);
  return before + scripts[shell].byPath(program) + after;
}

/** Whether a text is this version's completion script, regardless of which program the script calls. */
export function isCurrentScript(shell: Shell, text: string): boolean {
  const { before, after } = template(shell);
  return text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after);
}
