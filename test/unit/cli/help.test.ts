import type { Command as Commander } from 'commander';
import { describe, expect, test } from 'vitest';
import { type HelpStyle, layOutPage, layOutTopic } from '../../../src/cli/help/layout.ts';
import { globalOptionsTitle, pageOf } from '../../../src/cli/help/page.ts';
import { topics } from '../../../src/cli/help/topics.ts';
import { paintFor } from '../../../src/cli/output/paint.ts';
import { foldCommand, wrap } from '../../../src/cli/output/wrap.ts';
import { describedProgram, entries } from '../../../src/commands/program.ts';
import { isNarrow } from '../../../src/format/width.ts';

const program = await describedProgram();
const plain = await paintFor(false);
const look = (width: number): HelpStyle => ({ width, paint: plain, asTyped: (text) => text });
const all = (command: Commander): Commander[] => [command, ...command.commands.flatMap(all)];
const pages = all(program).map(pageOf);
const help = (words: string, width: number): string => {
  const page = pages.find(({ name }) => name === words);
  return page ? layOutPage(page, look(width)) : expect.fail(words);
};

/** The words of a text regardless of line breaks; a shell line may end in a backslash. */
const wordsOf = (text: string): string[] =>
  text
    .replaceAll(' \\\n', '\n')
    .split('\n')
    // Each line of a note starts with the note sign.
    .map((line) => line.replace(/^ {2}# /, ''))
    .join('\n')
    .replace(/(?<=\])\s+(?=\[)/g, '')
    .split(/\s+/);

/** A URL to copy may exceed the terminal's width. */
const isOneWord = (line: string): boolean => /^ {4}'http\S+'(?: \\)?$/.test(line);

describe.each([40, 50, 80, 120])('help in %i columns', (width) => {
  test('fits, and no word and no placeholder is broken', () => {
    expect(pages.length).toBeGreaterThan(110);
    for (const page of pages) {
      const text = layOutPage(page, look(width));
      const tooLong = text.split('\n').filter((line) => line.length > width && !isOneWord(line));
      expect([page.name, tooLong]).toEqual([page.name, []]);
      expect(wordsOf(text)).toEqual(wordsOf(layOutPage(page, look(10_000))));
    }
  });

  test('topics fit', () => {
    for (const topic of Object.values(topics)) {
      const lines = layOutTopic(topic, look(width)).split('\n');
      expect(lines.filter((line) => line.length > width)).toEqual([]);
    }
  });
});

test('each character of the help takes one column, so that lengths are widths', () => {
  const texts = pages.map((page) => layOutPage(page, look(80)));
  for (const line of texts.flatMap((text) => text.split('\n'))) expect(isNarrow(line), line).toBe(true);
});

test('global options come last, in one line that names the topic with all of them', () => {
  const topic = layOutTopic(topics.options ?? expect.fail('no topic'), look(80));
  for (const { name, sections } of pages) {
    const found = sections.findIndex(({ title }) => title === globalOptionsTitle);
    if (found < 0) continue;
    expect([name, found]).toEqual([name, sections.length - 1]);
    expect(help(name, 80)).toMatch(/\n\nGlobal options: errand help options\n$/);
    for (const part of sections[found]?.parts ?? [])
      for (const { term } of 'items' in part ? part.items : [])
        if (!term.includes('--version')) expect(topic).toContain(`  ${term}`);
  }
});

test('every noun stands in a group of the program', () => {
  const titles = help('errand', 80).match(/^\S.*(?=:$)/gm);
  expect(titles).toEqual([
    ...['Start', 'Orders', 'After delivery', 'Thousands', 'Money', 'Programs', 'Sandbox', 'Setup'],
    ...['Options', 'More'],
  ]);
  for (const { name } of entries) expect(help('errand', 80)).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
});

test('what stands beside a long flag moves below it where the terminal is narrow', () => {
  expect(help('errand order create', 50)).toContain(`  --product <url>
      product URL[,quantity=N]
      [,variant=Label:Value][,condition=New];
      repeats
`);
  expect(help('errand order create', 80)).toContain('  --max-price-cents <n>       the same in cents\n');
});

test('a text is broken at spaces and between brackets, and a longer word stays whole', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('a[,b=c][,d=e] f', 8)).toEqual(['a[,b=c]', '[,d=e] f']);
  expect(wrap('https://example.com/long x', 5)).toEqual(['https://example.com/long', 'x']);
  expect(wrap('', 5)).toEqual(['']);
});

test('a long command goes on in a line that a shell takes with it, never within quotes', () => {
  expect(foldCommand("errand a --b 'c d' --e", 19)).toEqual(['errand a \\', "  --b 'c d' --e"]);
  expect(foldCommand("errand a --long 'c d e f'", 19)).toEqual(['errand a --long \\', "  'c d e f'"]);
  expect(foldCommand('errand a', 19)).toEqual(['errand a']);
});
