import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expectFrozen, expectStable } from './frozen.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Door {
  readonly types: string;
  readonly default: string;
}

/** The doors for programs, by the names that they are imported under. */
const doors: readonly (readonly [string, Door])[] = Object.entries<Door | string>(
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports,
).flatMap(([name, door]) => (typeof door === 'string' ? [] : [[name, door] as const]));

const withoutComments = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^[ \t]*\/\/.*\n/gm, '')
    .replace(/^[ \t]*\n/gm, '');

/** The statements of a declaration file, its imports and what it passes on among them. */
const statementsOf = (file: string): string[] =>
  withoutComments(readFileSync(file, 'utf8'))
    .split(/^(?=(?:export|import|declare|interface|type|class|const|function)\b)/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '' && statement !== 'export {};');

const passedOn = /^(?:import|export)\b[^;]*\bfrom '(\.[^']+)';$/s;

/** A declaration file and all that it takes from others. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const statement of statementsOf(file)) {
    const [, from] = passedOn.exec(statement) ?? [];
    if (from !== undefined) reached(resolve(dirname(file), from.replace(/\.js$/, '.d.ts')), seen);
  }
  return seen;
}

/** What a file exports, under the names that it has for its importers. */
function exportsOf(file: string): string[] {
  return statementsOf(file).flatMap((statement): string[] => {
    const [, star] = /^export (?:type )?\* from '([^']+)';$/.exec(statement) ?? [];
    if (star !== undefined) return exportsOf(resolve(dirname(file), star.replace(/\.js$/, '.d.ts')));
    const [, list] = /^export (?:type )?\{([^}]*)\}/.exec(statement) ?? [];
    if (list !== undefined) return list.split(',').flatMap((one) => /(\w+)\s*$/.exec(one)?.[1] ?? []);
    const [, name] =
      /^export (?:declare )?(?:abstract )?(?:type|interface|class|const|function)\s+(\w+)/.exec(statement) ??
      [];
    return name === undefined ? [] : [name];
  });
}

const nameOf = (statement: string): string =>
  /^(?:export )?(?:declare )?(?:abstract )?(?:type|interface|class|const|function)\s+(\w+)/.exec(
    statement,
  )?.[1] ?? '';

/** The declarations of these names, and of all names in those: what else stands in a file is no program's. */
function usedOf(statements: readonly string[], names: Set<string>): string[] {
  const declared = statements.filter((statement) => nameOf(statement) !== '');
  for (let before = -1; before !== names.size; ) {
    before = names.size;
    for (const statement of declared)
      if (names.has(nameOf(statement))) for (const word of statement.match(/\w+/g) ?? []) names.add(word);
  }
  return declared
    .filter((statement) => names.has(nameOf(statement)))
    .map((statement) => statement.replace(/^export /, ''))
    .sort();
}

const exported = doors.flatMap(([name, { types }]) =>
  [...new Set(exportsOf(join(root, types)))].sort().map((one) => `${name}: ${one}`),
);

test('each door exports what it did', (context) => {
  expect(exported.length).toBeGreaterThan(100);
  expectStable(context, 'exports.txt', `${exported.join('\n')}\n`);
});

test('each declaration is what it was, wherever it stands', (context) => {
  const files = new Set(doors.flatMap(([, { types }]) => [...reached(join(root, types))]));
  const declared = usedOf([...files].flatMap(statementsOf), new Set(exported.join(' ').match(/\w+/g)));
  expectFrozen(context, 'declarations.txt', `${declared.join('\n')}\n`);
});

test('what a program can call of a door is declared', async () => {
  // `vitest` is imported by its own runner alone; here it is the one.
  for (const [name, door] of doors) {
    const values = Object.keys(await import(join(root, door.default)));
    const exported = exportsOf(join(root, door.types));
    expect([name, values.filter((value) => !exported.includes(value))]).toEqual([name, []]);
    expect(values.length).toBeGreaterThan(0);
  }
});
