import { join } from 'node:path';
import { absolutePath, type Environment, homeOf } from './paths.ts';

export interface CompletionPlace {
  readonly shell: 'bash' | 'zsh' | 'fish';
  readonly file: string;
}

/** Standard locations in which a shell looks for the completion script of a program. */
export function completionPlaces(
  environment: Environment,
  platform: NodeJS.Platform,
): readonly CompletionPlace[] {
  if (platform === 'win32') return [];
  const home = homeOf(environment);
  const data = absolutePath(environment.XDG_DATA_HOME) ?? join(home, '.local/share');
  const config = absolutePath(environment.XDG_CONFIG_HOME) ?? join(home, '.config');
  const prefixes = ['/usr', '/usr/local', '/opt/homebrew'];
  const bash = [
    join(environment.BASH_COMPLETION_USER_DIR || join(data, 'bash-completion'), 'completions'),
    '/etc/bash_completion.d',
    ...prefixes.map((prefix) => join(prefix, 'share/bash-completion/completions')),
    '/opt/homebrew/etc/bash_completion.d',
  ].flatMap((folder) => [join(folder, 'errand'), join(folder, 'errand.bash')]);
  const zsh = [
    ...(environment.FPATH ?? '').split(':').filter((folder) => folder !== ''),
    ...['.zfunc', '.zsh/completions', '.oh-my-zsh/completions', '.oh-my-zsh/custom/completions'].map(
      (folder) => join(home, folder),
    ),
    ...prefixes.flatMap((prefix) =>
      ['share/zsh/site-functions', 'share/zsh/vendor-completions'].map((folder) => join(prefix, folder)),
    ),
  ].map((folder) => join(folder, '_errand'));
  const fish = [
    join(config, 'fish/completions'),
    ...prefixes.map((prefix) => join(prefix, 'share/fish/vendor_completions.d')),
  ].map((folder) => join(folder, 'errand.fish'));
  return [
    ...bash.map((file) => ({ shell: 'bash', file }) as const),
    ...[...new Set(zsh)].map((file) => ({ shell: 'zsh', file }) as const),
    ...fish.map((file) => ({ shell: 'fish', file }) as const),
  ];
}
