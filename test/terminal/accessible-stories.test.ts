import { describe, test } from 'vitest';
import { stories, storySteps } from '../commands/stories/story.ts';
import { Terminal } from '../support/terminal.ts';
import { isWhole } from '../support/whole.ts';
import { makeWorkspace, prefer } from '../support/workspace.ts';
import { moves } from './accessible.ts';

/** Stories that redraw without ACCESSIBLE; `npm run proofs -- terminals` plays all. */
const drawing = [
  'an-operators-day',
  'every-outcome',
  'first-order',
  'hear-an-order',
  'plan-and-apply',
  'taken-back',
];
const played = stories.filter((name) => isWhole || drawing.includes(name.replace('.story', '')));

describe.concurrent('with ACCESSIBLE=1 no cursor is moved, whatever is typed', () => {
  test.for(played)('%s', async (name, { expect }) => {
    const workspace = makeWorkspace({ ACCESSIBLE: '1' });
    prefer(workspace, { 'sandbox-speed': 20 });
    // Each line prints to the terminal; nobody is there to answer.
    const lines = storySteps(name).map(({ line, variable }) =>
      variable === undefined ? ` ( ${line}\n)` : `export ${variable}="$(${line}\n)"`,
    );
    const script = ['exec < /dev/null', ...lines, 'echo the end'].join('\n');
    const terminal = new Terminal(workspace, 'bash', ['-c', script], { columns: 80, rows: 24 });
    try {
      await terminal.ended();
      expect(terminal.text).toContain('the end');
      expect(terminal.raw).not.toMatch(moves);
    } finally {
      terminal.close();
      workspace.remove();
    }
  });
});
