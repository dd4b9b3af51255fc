import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { defineCommand } from '../../cli/define.ts';
import { makeConfigFolder, reasonOf } from '../../config/paths.ts';
import { StorageError, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import { examplePolicy } from '../../spending/policy/example.ts';

export const init = defineCommand({
  name: 'init',
  summary: 'Write a policy with comments, to be changed as you need it',
  description:
    'It holds from then on: an order of more than $200.00, or a day of more than $2,000.00, is refused until the file says otherwise. A file that is there is never written over.',
  examples: [{ command: 'errand policy init', note: 'then edit the file that it names' }],
  output: { record: 'PolicyFile' },
  related: ['policy show', 'help policy'],
  async run(context) {
    const { value: file, from } = context.settings.policy;
    if (from === 'default') makeConfigFolder(dirname(file));
    try {
      writeFileSync(file, examplePolicy, { flag: 'wx', mode: 0o600 });
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')
        throw new UsageError(`${file} already exists; errand does not overwrite it`, {
          next: [{ command: 'errand policy show', when: 'to see what it says' }],
        });
      throw new StorageError(`${file} cannot be written (${reasonOf(cause)})`, { cause });
    }
    return {
      kind: 'record',
      record: {
        file,
        next: [{ command: 'errand policy show', when: 'to see what it says, once it is edited' }],
      },
      columns: [{ name: 'file', path: 'file' }],
      id: 'file',
      hints: [`edit ${shellWord(file)}, then look at it with \`errand policy show\``],
    };
  },
});
