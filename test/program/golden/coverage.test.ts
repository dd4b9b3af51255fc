import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { refills } from '../../refill.ts';
import { knownCommands } from '../known-commands.ts';

const here = new URL('./', import.meta.url);
const texts = readdirSync(here)
  .filter((name) => name.endsWith('.transcript'))
  .map((name) => ({ name, text: readFileSync(new URL(name, here), 'utf8') }));
/** What to do where a transcript lacks something. */
const howTo = `write the lines to run in test/program/golden/, then UPDATE_GOLDEN=1 npx vitest run test/program/golden; read the diff`;
const commands = await knownCommands();

interface Shown {
  readonly line: string;
  readonly printed: string;
  readonly code: number;
}

const shown: Shown[] = texts.flatMap(({ text }) =>
  [...text.matchAll(/^\$ (.*)\n([\s\S]*?)^\? (\d+)$/gm)].map(([, line = '', printed = '', code]) => ({
    line,
    printed,
    code: Number(code),
  })),
);

const runs = (path: string) => (line: string) =>
  new RegExp(`\\berrand ${path}(?= |$)`).test(line) && !/ --(help|dry-run|curl)\b/.test(line);
const asksJson = (line: string): boolean => / -o (nd)?json\b/.test(line);

/** What a transcript shows of each command. */
const views: Readonly<Record<string, (it: Shown) => boolean>> = {
  table: ({ line, printed, code }) => !asksJson(line) && code === 0 && printed !== '',
  JSON: ({ line, printed, code }) => asksJson(line) && code === 0 && /^[[{]/m.test(printed),
  'an error': ({ line, printed, code }) => !asksJson(line) && code !== 0 && /^! error: /m.test(printed),
  'an error in JSON': ({ line, printed, code }) =>
    asksJson(line) && code !== 0 && /^! \{"error":/m.test(printed),
};

/** What a command does not have. */
const without: Readonly<Record<string, readonly string[]>> = {
  'order export': ['JSON'],
  // What the command that it runs prints, or nothing.
  'sandbox exec': ['table', 'JSON'],
  'bulk results': ['JSON'],
  'bulk template': ['JSON'],
  completion: ['JSON'],
  // It speaks a protocol, whatever -o says.
  mcp: ['JSON'],
  'auth login': ['JSON'],
  // These say on stderr that it is done, and only in the table format.
  'sandbox reset': ['JSON'],
  'sandbox restore': ['JSON'],
  'order journal repair': ['JSON'],
  'auth token': ['JSON'],
  'auth logout': ['JSON'],
  'auth use': ['JSON'],
  'address remove': ['JSON'],
  'profile use': ['JSON'],
  'profile delete': ['JSON'],
  'config set': ['JSON'],
  'profile database': ['JSON'],
  // They need a database that machines share: test/team.
  'order journal move': ['table', 'JSON'],
  'policy publish': ['table', 'JSON'],
  // It ends with its deadline or a signal only.
  'webhook listen': ['table', 'JSON'],
};

// A run that refills the transcripts fills in what they lack.
describe.skipIf(refills('UPDATE_GOLDEN'))('transcripts', () => {
  test.each(commands.map(({ path, command }) => [path, command.isDefault === true] as const))(
    'show the help of `%s`, its table, its JSON, and an error as text and as JSON',
    (path, isDefault) => {
      const typed = isDefault ? `(?:${path}|${path.replace(/ \S+$/, '')})` : path;
      expect(
        shown.filter(({ line }) => line === `errand ${path} --help`),
        howTo,
      ).toHaveLength(1);
      const ofCommand = shown.filter(({ line }) => runs(typed)(line));
      const missing = Object.keys(views).filter((view) => !ofCommand.some((it) => views[view]?.(it)));
      expect(
        missing.filter((view) => !without[path]?.includes(view)),
        howTo,
      ).toEqual([]);
    },
  );

  test.each(texts)('$name shows no key and no path of a machine', ({ text }) => {
    expect(text).not.toMatch(/\w_(test|live)_[A-Za-z0-9]{12}/);
    expect(text).not.toMatch(/\/(tmp|var|root|Users)\//);
  });
});
