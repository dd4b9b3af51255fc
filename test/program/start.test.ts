import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const dist = new URL('../../dist/', import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, dist), 'utf8');

/** The built files that come with one at once, itself included: each costs a start about a millisecond. */
function loadedWith(file: string, found = new Set<string>()): string[] {
  if (found.has(file)) return [...found];
  found.add(file);
  for (const [, next = ''] of text(file).matchAll(
    /\b(?:import|export)\s*(?:[\w$*{}\s,]+from)?\s*"\.\/([^"]+)"/g,
  ))
    loadedWith(next, found);
  return [...found];
}

const plain = (files: readonly string[]): string[] =>
  files.map((file) => file.replace(/-[\w-]{8}\.js$/, '').replace(/\.js$/, ''));

/** The file that another one imports later, by the beginning of its name. */
const later = (file: string, name: string): string =>
  new RegExp(`import\\(\`\\./(${name}-[^\`]+)\``).exec(text(file))?.[1] ?? `no ${name} in ${file}`;

describe('the built program loads', () => {
  test('for --version its beginning alone', () => {
    expect(plain(loadedWith('main.js'))).toEqual(['main', 'first']);
  });

  test('for the help no command that runs, no library but the parser of the command line', () => {
    expect(plain(loadedWith(later('main.js', 'help')))).toEqual(['help', 'rolldown-runtime', 'first']);
  });

  test('for a TAB one file', () => {
    expect(plain(loadedWith('complete.js'))).toEqual(['complete']);
  });
});
