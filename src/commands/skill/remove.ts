import { defineCommand } from '../../cli/define.ts';
import { ErrandError } from '../../platform/errors.ts';
import { agree, installedAt, readTarget, removeSkill, targetOption } from './file.ts';

export const remove = defineCommand({
  name: 'remove',
  summary: 'Remove the SKILL.md that skill install wrote',
  description: 'A file that somebody changed, or a link, is left alone.',
  options: {
    target: targetOption,
    yes: { kind: 'flag', description: 'without confirmation' },
  },
  examples: [{ command: 'errand skill remove --target claude --yes', note: 'in a script' }],
  output: { record: 'SkillFile' },
  exitCodes: { 4: 'none is installed there' },
  related: ['skill install'],
  async run(context, { target: given, yes }) {
    const target = readTarget(given);
    const there = installedAt(context, target);
    const { file } = there;
    if (there.text === undefined)
      throw new ErrandError('not_found', `there is no ${file}`, { retryable: false });
    const command = `errand skill remove --target ${target}`;
    if (!(await agree(context, `Remove ${file}?`, { yes, command })))
      return { kind: 'none', hints: ['nothing was removed'] };
    removeSkill(there);
    return {
      kind: 'record',
      record: { target, file, result: 'removed' as const },
      columns: [
        { name: 'file', path: 'file' },
        { name: 'result', path: 'result' },
      ],
      id: 'file',
    };
  },
});
