import { completionScript, shells } from '../../cli/completion/scripts.ts';
import { defineRootCommand } from '../../cli/define.ts';
import { UsageError } from '../../platform/errors.ts';

const setup = {
  bash: 'source <(errand completion bash) # in ~/.bashrc',
  zsh: 'source <(errand completion zsh) # in ~/.zshrc, after compinit',
  fish: 'errand completion fish | source # in config.fish',
  powershell: 'errand completion powershell | Out-String | Invoke-Expression # in $PROFILE',
};

export const command = defineRootCommand({
  description:
    'The script asks this program, by its path, at each TAB: commands, flags and their values, and what this machine knows of profiles, addresses, retailers and recent orders. It makes no request.',
  lists: [{ title: 'Setup', rows: setup }],
  arguments: [{ name: 'shell', offers: shells, description: shells.join(', '), required: true }],
  examples: [
    { command: 'source <(errand completion bash)', note: 'complete errand in this bash' },
    { command: 'errand completion zsh > _errand', note: 'a file for a folder of $fpath' },
    { command: 'errand completion fish | head -3', note: 'how it is used' },
  ],
  output: { text: 'a script for the shell' },
  related: ['doctor'],
  async run({ io }, { shell }) {
    const known = shells.find((name) => name === shell);
    if (!known) throw new UsageError(`shell takes one of ${shells.join(', ')}, not "${shell}"`);
    return { kind: 'stream', chunks: [completionScript(known, io.programFile)] };
  },
});
