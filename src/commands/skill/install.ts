import { defineCommand } from '../../cli/define.ts';
import {
  agree,
  differenceLines,
  installedAt,
  markedSkill,
  readTarget,
  targetOption,
  writeSkill,
} from './file.ts';

export const install = defineCommand({
  name: 'install',
  summary: 'Put SKILL.md where an agent looks for it, after showing where',
  description:
    'An agent that has a shell reads there how to buy with errand. Only the named folder below your home is written, no link is followed, and a file that somebody changed is left alone. Again after an update it shows what changes.',
  options: {
    target: targetOption,
    yes: { kind: 'flag', description: 'without confirmation' },
  },
  examples: [
    { command: 'errand skill install --target agents --yes', note: 'a folder that several agents read' },
    { command: 'errand skill install --target claude --yes', note: 'without a question' },
  ],
  output: { record: 'SkillFile' },
  related: ['skill remove', 'mcp'],
  async run(context, { target: given, yes }) {
    const target = readTarget(given);
    const there = installedAt(context, target);
    const { file } = there;
    const text = markedSkill(context);
    const before = there.text;
    const result = before === text ? 'unchanged' : before === undefined ? 'installed' : 'updated';
    if (before !== text) {
      context.note(`${before === undefined ? 'new file' : 'replaces'}: ${file}`);
      if (before !== undefined) for (const line of differenceLines(before, text)) context.note(line);
      const command = `errand skill install --target ${target}`;
      if (!(await agree(context, `Write ${file}?`, { yes, command })))
        return { kind: 'none', hints: ['nothing was written'] };
      writeSkill(there, text);
    }
    return {
      kind: 'record',
      record: { target, file, result },
      columns: [
        { name: 'file', path: 'file' },
        { name: 'result', path: 'result' },
      ],
      id: 'file',
    };
  },
});
