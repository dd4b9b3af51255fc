import { readFileSync } from 'node:fs';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

/** Each shell's script in `completions/`, by the name under which the shell looks for it. */
export const scriptFiles: Readonly<Record<Shell, string>> = {
  bash: 'errand.bash',
  zsh: '_errand',
  fish: 'errand.fish',
  powershell: 'errand.ps1',
};

/**
 * What a shell reads to complete `errand`. It names no command: it asks the program at each TAB, so it changes only
 * with the way of asking.
 */
export const completionScript = (shell: Shell): string =>
  readFileSync(new URL(`../completions/${scriptFiles[shell]}`, import.meta.url), 'utf8');
