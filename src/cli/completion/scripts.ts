import { readFileSync } from 'node:fs';
import { shellWord } from '../../platform/shell.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

interface Script {
  /** Its file in `completions/`: the name under which the shell looks for it. */
  readonly file: string;
  /** Where the script in the file names the program: `errand` on the PATH. */
  readonly byName: string;
  /** What names the program by its path instead. */
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

/** What the shells load. The build writes where this lies from the built program. */
const folder = new URL('../../../completions/', import.meta.url);

/** The script around the name of the program. */
function template(shell: Shell): { readonly before: string; readonly after: string } {
  const { file, byName } = scripts[shell];
  const text = readFileSync(new URL(file, folder), 'utf8');
  const [before = '', after = ''] = text.split(byName);
  return { before, after };
}

/**
 * What a shell reads to complete `errand`. It names no command: it asks the program at each TAB, so it changes only
 * with the way of asking. It asks the program that printed it: an alias is no command that a script could call.
 * @param program the path of this program
 */
export function completionScript(shell: Shell, program: string): string {
  const { before, after } = template(shell);
  return before + scripts[shell].byPath(program) + after;
}

/** Whether a text is the script of this version, whichever program it asks. */
export function isCurrentScript(shell: Shell, text: string): boolean {
  const { before, after } = template(shell);
  return text.length > before.length + after.length && text.startsWith(before) && text.endsWith(after);
}
