import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { batchStatuses, orderStatuses, returnStatuses } from '../../src/api/enums.ts';
import { orderState } from '../../src/api/order-state.ts';
import { stateWords } from '../../src/api/state-words.ts';
import { definitions } from '../../src/cli/help/page.ts';
import { describedProgram } from '../../src/commands/program.ts';
import type { Column } from '../../src/format/result.ts';
import { editableLines } from '../../src/orders/input/review.ts';
import { foldedWord } from '../../src/run/parse-option.ts';
import { errand } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { pages } from './markdown.ts';
import { questionTexts } from './questions.ts';

const page = pages.find(({ name }) => name === 'docs/words.md')?.text ?? '';

/** First and last cells of a section's table. */
function rows(section: string): (readonly [string, string])[] {
  const text = page.split(/^## /m).find((one) => one.startsWith(section)) ?? expect.fail(`no ${section}`);
  return [...text.matchAll(/^\| `([^`]+)` \|.*?([^|]*) \|$/gm)].map(([, word = '', last = '']) => [
    word,
    last,
  ]);
}

const words = (section: string): string[] => rows(section).map(([word]) => word);

/** Every list verb that publishes its columns, by its words, with its options. */
async function lists(): Promise<{ words: string[]; columns: readonly Column[]; options: string[] }[]> {
  const found: Awaited<ReturnType<typeof lists>> = [];
  const walk = (parent: Awaited<ReturnType<typeof describedProgram>>, before: string[]): void => {
    for (const command of parent.commands) {
      const path = [...before, command.name()];
      const { columns } = definitions.get(command)?.command ?? {};
      const options = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
      if (columns) found.push({ words: path, columns, options });
      walk(command, path);
    }
  };
  walk(await describedProgram(), []);
  return found;
}

type Described = Awaited<ReturnType<typeof describedProgram>>;

/** The command that a line names, by as many of its words as are commands. */
function commandOf(program: Described, [word, ...more]: readonly string[]): Described | undefined {
  const found = program.commands.find((one) => one.name() === word);
  return found && (commandOf(found, more) ?? found);
}

describe('docs/words.md', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = makeWorkspace();
    await errand(workspace, ['sandbox', 'mint']);
  });
  afterAll(() => workspace.remove());

  test('lists each heading of a list once, and no other', async () => {
    const headings = words('Headings');
    expect(headings).toEqual([...new Set(headings)]);
    const shown = (await lists()).flatMap(({ columns }) => columns.map(({ name }) => name));
    expect([...headings].sort()).toEqual([...new Set(shown)].sort());
  });

  test('names where each heading stands in the JSON', async () => {
    const columns = (await lists()).flatMap(({ columns: own }) => own);
    const wrong = rows('Headings').flatMap(([heading, last]) => {
      const paths = columns.flatMap(({ name, path }) => (name === heading ? [path] : []));
      const named = [...last.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path.replaceAll('[]', '.0'));
      // A column that is made of several fields has its own name for a path.
      const isMade = paths.includes(heading);
      return named
        .filter((path) => !isMade && !paths.includes(path))
        .map((path) => `${heading}: ${path}, not ${paths}`);
    });
    expect(wrong).toEqual([]);
  });

  test('lists each line of an order that can be changed before it is placed', async () => {
    expect(words('Lines of an order')).toEqual([...editableLines]);
    const order = (await describedProgram()).commands.find((one) => one.name() === 'order');
    const taken = order?.commands.find((one) => one.name() === 'create')?.options.map(({ long }) => long);
    for (const [word, last] of rows('Lines of an order'))
      expect(taken, word).toContain(/--[a-z-]+/.exec(last)?.[0]);
  });

  test('lists each question of a terminal once, and no other, with what answers it', async () => {
    const questions = words('Questions');
    expect(questions).toEqual([...new Set(questions)]);
    expect([...questions].sort()).toEqual(questionTexts());
    const program = await describedProgram();
    for (const [question, last] of rows('Questions')) {
      const answers = [...last.matchAll(/`([^`]+)`/g)].map(([, line = '']) => line.split(' '));
      if (!/^ (?:by|not asked) /.test(last)) expect(answers, question).not.toEqual([]);
      for (const line of answers) {
        const command = commandOf(program, line);
        expect(command, line.join(' ')).toBeDefined();
        const flag = line.find((word) => word.startsWith('--'));
        if (flag)
          expect(
            command?.options.map(({ long }) => long),
            line.join(' '),
          ).toContain(flag);
      }
    }
  });

  test('lists each state once, and no other', () => {
    expect(words('States of an order')).toEqual(Object.keys(stateWords));
    expect(words('States of a return')).toEqual([...returnStatuses]);
    expect(words('States of a batch')).toEqual([...batchStatuses]);
  });

  test('--fields takes every heading of every list, as it is shown and with dashes', async () => {
    for (const { words: path, columns } of await lists()) {
      const names = columns.map(({ name }) => name);
      for (const fields of [names, names.map((name) => name.replaceAll(' ', '-').toUpperCase())]) {
        const { code, stderr, stdout } = await errand(workspace, [
          ...path,
          '--fields',
          fields.join(','),
          '-o',
          'json',
        ]);
        expect([code, stderr]).toEqual([0, '']);
        for (const record of JSON.parse(stdout)) expect(Object.keys(record)).toEqual(fields);
      }
    }
  });

  test('--status takes every state that an order is shown in', async () => {
    const parcels = (status: string) => [{ status }];
    const shown = [
      ...orderStatuses.map((status) => orderState({ status, items: [], parcels: [] }).text),
      ...['in_transit', 'delivered', 'available_for_pickup', 'undeliverable'].map(
        (status) => orderState({ status: 'order_placed', items: [], parcels: parcels(status) }).text,
      ),
    ];
    expect(new Set(shown.map(foldedWord))).toEqual(new Set(Object.keys(stateWords).map(foldedWord)));
    for (const state of [
      ...shown,
      'failed: price',
      'delivered in part',
      '1 of 2 delivered',
      ...orderStatuses,
    ])
      for (const flag of ['--status', '--state'])
        expect((await errand(workspace, ['order', 'list', flag, state])).code, state).toBe(0);
  });

  test('what is no state is refused here, with the nearest', async () => {
    const { code, stderr } = await errand(workspace, ['order', 'list', '--status', 'delivred']);
    expect(code).toBe(2);
    expect(stderr).toContain('not "delivred"; did you mean delivered?');
    const both = ['order', 'list', '--status', 'delivered', '--tracking-status', 'in_transit'];
    expect((await errand(workspace, both)).stderr).toContain(
      '--status delivered and --tracking-status exclude each other',
    );
  });

  test('lists of what is made have --since and --until, and no other names for them', async () => {
    const made = (await lists()).filter(({ words: [noun = ''] }) =>
      ['order', 'return', 'bulk'].includes(noun),
    );
    expect(made).toHaveLength(3);
    for (const { options } of made) expect(options).toEqual(expect.arrayContaining(['--since', '--until']));
    for (const { options } of await lists()) expect(options.join(' ')).not.toMatch(/-(?:after|before)\b/);
  });
});

test('a day or a month that --until names is included; the earlier name takes a moment', async () => {
  const workspace = makeWorkspace();
  try {
    await errand(workspace, ['quickstart']);
    const count = async (...args: string[]): Promise<number> =>
      (await errand(workspace, ['order', 'list', '-o', 'id', ...args])).stdout.split('\n').length - 1;
    const today = new Date().toISOString().slice(0, 10);
    expect(await count('--until', today)).toBe(1);
    expect(await count('--until', today.slice(0, 7), '--since', today.slice(0, 7))).toBe(1);
    expect(await count('--until', 'yesterday')).toBe(0);
    expect(await count('--created-before', today)).toBe(0);
    expect(await count('--created-after', today)).toBe(1);
    const [order = ''] = (await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.split('\n');
    await errand(workspace, ['return', 'create', '--order', order, '--reason', 'damaged']);
    const returns = async (...args: string[]): Promise<string[]> =>
      JSON.parse((await errand(workspace, ['return', 'list', '-o', 'json', ...args])).stdout);
    expect(await returns('--since', 'today')).toHaveLength(1);
    expect(await returns('--until', 'yesterday')).toHaveLength(0);
  } finally {
    workspace.remove();
  }
});
