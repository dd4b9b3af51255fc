import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { knownCommands } from '../../support/known-commands.ts';
import { shell } from '../../support/run.ts';
import { makeWorkspace, prefer } from '../../support/workspace.ts';
import { stderrProblem, stdoutProblem, stories, storySteps } from './story.ts';

/** While a story has CLOCK_STILL_AT set, no time passes. */
const clockSet = fileURLToPath(new URL('../../support/clock-set.cjs', import.meta.url));
const typedLines = stories.flatMap((name) => storySteps(name).map(({ line }) => line));
const commands = await knownCommands();

// Each has a workspace of its own, and most of them wait for their sandbox.
describe.concurrent('stories: what a user types and sees', () => {
  test.for(stories)('%s', async (name, { expect }) => {
    const isStill = storySteps(name).some(({ variable }) => variable === 'CLOCK_STILL_AT');
    const workspace = makeWorkspace(isStill ? { NODE_OPTIONS: `--require ${clockSet}` } : {});
    try {
      prefer(workspace, { 'sandbox-speed': 20 });
      for (const step of storySteps(name)) {
        const { code, stdout, stderr } = await shell(workspace, step.line);
        const shown = `${name}:${step.number} $ ${step.line}\n--- stdout\n${stdout}--- stderr\n${stderr}--- exit ${code}`;
        expect(code, shown).toBe(step.code);
        if (step.variable) workspace.environment[step.variable] = stdout.trim();
        else expect(stdoutProblem(step.stdout, lines(stdout)), shown).toBeUndefined();
        expect(stderrProblem(step.stderr, lines(stderr)), shown).toBeUndefined();
      }
    } finally {
      workspace.remove();
    }
  });
});

test.each(commands)('a story runs `$path`', ({ path, command }) => {
  const parent = path.replace(/ [^ ]+$/, '');
  const typed = command.isDefault ? `(?:${path}|${parent})` : path;
  const isRun = typedLines.some((line) => new RegExp(`\\berrand ${typed}(?![\\w-])`).test(line));
  expect(isRun, `no story in test/commands/stories/ runs errand ${path}`).toBe(true);
});

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
