import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { knownCommands } from '../../support/known-commands.ts';
import { refills } from '../../support/refill.ts';

const here = new URL('./', import.meta.url);
const texts = readdirSync(here)
  .filter((name) => name.endsWith('.transcript'))
  .map((name) => ({ name, text: readFileSync(new URL(name, here), 'utf8') }));
/** What to do if a transcript is incomplete. */
const howTo = `write the lines to run in test/commands/transcripts/, then UPDATE_GOLDEN=1 npx vitest run test/commands/transcripts; read the diff`;
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

/** Required examples for each command. */
const views: Readonly<Record<string, (it: Shown) => boolean>> = {
  table: ({ line, printed, code }) => !asksJson(line) && code === 0 && printed !== '',
  JSON: ({ line, printed, code }) => asksJson(line) && code === 0 && /^[[{]/m.test(printed),
  'an error': ({ line, printed, code }) => !asksJson(line) && code !== 0 && /^! error: /m.test(printed),
  'an error in JSON': ({ line, printed, code }) =>
    asksJson(line) && code !== 0 && /^! \{"error":/m.test(printed),
};

/** Examples a command cannot have. */
const without: Readonly<Record<string, readonly string[]>> = {
  'order export': ['JSON'],
  // Prints only what the executed command prints.
  'sandbox exec': ['table', 'JSON'],
  'bulk results': ['JSON'],
  // A retry is not repeated while it is under way; see test/commands/bulk/retry.test.ts.
  'bulk retry': ['JSON'],
  'bulk template': ['JSON'],
  completion: ['JSON'],
  // It speaks a protocol regardless of -o.
  mcp: ['JSON'],
  'auth login': ['JSON'],
  // These confirm on stderr, and only in the table format.
  'sandbox reset': ['JSON'],
  'sandbox restore': ['JSON'],
  'order journal repair': ['JSON'],
  'auth token': ['JSON'],
  'auth logout': ['JSON'],
  'auth use': ['JSON'],
  'address remove': ['JSON'],
  'profile use': ['JSON'],
  'standing remove': ['JSON'],
  'profile delete': ['JSON'],
  'config set': ['JSON'],
  'profile database': ['JSON'],
  // These need a database shared by machines; see test/postgres.
  'order journal move': ['table', 'JSON'],
  'policy publish': ['table', 'JSON'],
  'policy trust': ['table', 'JSON'],
  // It opens an editor; see test/commands/config.
  'config edit': ['table', 'JSON'],
  // It ends only at its deadline or on a signal.
  'webhook listen': ['table', 'JSON'],
};

// An update run adds what the transcripts lack.
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
