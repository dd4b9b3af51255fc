import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, test } from 'vitest';
import { own, textIn } from '../../src/api/json.ts';
import { pages } from './markdown.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { text = '' } = pages.find(({ name }) => name === 'docs/architecture.md') ?? {};

/** The sections that are lists of steps; their heading says how many files they may take. */
const lists = text.split(/^## /m).flatMap((section) => {
  const [, name, files] = /^(.*): (\d+) files\n/.exec(section) ?? [];
  const lines = section.match(/^\d+\. .*$/gm) ?? [];
  return name === undefined ? [] : [{ name, files: Number(files), lines }];
});

interface Step {
  readonly number: number;
  readonly file: string;
  readonly functions: readonly string[];
  readonly calls: readonly {
    readonly step: number;
    readonly name: string;
    /** The name under which it is called. */
    readonly as: string;
    readonly seam: string | undefined;
  }[];
}

function stepOf(line: string): Step {
  const [, number, file = '', functions = '', calls] =
    /^(\d+)\. `([^`]+)` ((?:`\w+`(?:, )?)+): [^→]+?(?: → (.+))?$/.exec(line) ?? [];
  expect(number, `a step of the form of the others: ${line}`).toBeDefined();
  return {
    number: Number(number),
    file,
    functions: functions.match(/\w+/g) ?? [],
    calls: (calls?.split(', ') ?? []).map((call) => {
      const [, step, name = '', as = name, seam] =
        /^(\d+) `(\w+)`(?: as `(\w+)`)?(?: \((import|callback|interface)\))?$/.exec(call) ?? [];
      expect(step, `a call of the form of the others: ${call}`).toBeDefined();
      return { step: Number(step), name, as, seam };
    }),
  };
}

/** What a file declares and imports, at once or by `import()`. */
class Source {
  /** Functions, classes, methods and variables, each with the identifiers in its code. */
  readonly declared = new Map<string, Set<string>>();
  readonly imported = new Set<string>();
  readonly loaded = new Set<string>();
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    this.#read(parseAst(readFileSync(join(root, file), 'utf8'), { lang: 'ts' }, file), []);
  }

  /** Identifiers in the code of these declarations. */
  mentions(names: readonly string[]): ReadonlySet<string> {
    return new Set(names.flatMap((name) => [...(this.declared.get(name) ?? [])]));
  }

  /** @param within the code of the declarations around the node. */
  #read(node: unknown, within: readonly Set<string>[]): void {
    if (typeof node !== 'object' || node === null) return;
    const type = textIn(node, 'type') ?? '';
    if (type === 'ImportDeclaration') this.#import(node, this.imported);
    // Types call nothing.
    const isType = type.startsWith('TS') && !/^TS(?:As|Satisfies)Expression$/.test(type);
    if (type === 'ImportDeclaration' || isType) return;
    if (type === 'ImportExpression') this.#import(node, this.loaded);
    if (type === 'Identifier' || type === 'PrivateIdentifier')
      for (const code of within) code.add(textIn(node, 'name') ?? '');
    const named = nameKey(node, type);
    const name = named && textIn(own(node, named), 'name');
    const code = name === undefined ? undefined : (this.declared.get(name) ?? new Set<string>());
    if (name !== undefined && code) this.declared.set(name, code);
    for (const [key, value] of Object.entries(node))
      if (key !== named || !code) this.#read(value, code ? [...within, code] : within);
  }

  #import(node: object, into: Set<string>): void {
    into.add(join(dirname(this.#file), textIn(own(node, 'source'), 'value') ?? ''));
  }
}

/** The field of a node that holds the name it declares. */
function nameKey(node: object, type: string): 'id' | 'key' | undefined {
  if (['FunctionDeclaration', 'ClassDeclaration', 'VariableDeclarator'].includes(type)) return 'id';
  const isMember = ['MethodDefinition', 'PropertyDefinition'].includes(type);
  const value = textIn(own(node, 'value'), 'type');
  const isFunction = value === 'FunctionExpression' || value === 'ArrowFunctionExpression';
  return isMember || (type === 'Property' && isFunction) ? 'key' : undefined;
}

const rooms = readdirSync(join(root, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test.each(rooms)(
  'src/%s/README.md leads to files that are there, and test/README.md to the tests of the room',
  (room) => {
    const readme = readFileSync(join(root, 'src', room, 'README.md'), 'utf8');
    const [, start = ''] = /^Start at (.*)$/m.exec(readme) ?? [];
    const named = [...start.matchAll(/`([\w/.-]+)`/g)].map(([, name = '']) => `src/${room}/${name}`);
    expect(named).not.toEqual([]);
    const tests = readFileSync(join(root, 'test/README.md'), 'utf8');
    const [, folders = ''] = new RegExp(`^\\| \`${room}\` \\| (.*) \\|$`, 'm').exec(tests) ?? [];
    expect(folders).toContain('`test/');
    named.push(...[...folders.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  },
);

describe('docs/architecture.md', () => {
  test('names every room', () => {
    const named = [...text.matchAll(/^\| `src\/(\w+)\/` \|/gm)].map(([, room = '']) => room);
    expect(named.toSorted()).toEqual(rooms.toSorted());
  });

  test('has the lists of three commands and of a page', () => {
    expect(lists.map(({ name }) => name)).toEqual([
      '`errand order list`',
      '`errand order create`',
      '`errand bulk upload`',
      "An order's page in the sandbox's console",
    ]);
  });

  describe.each(lists)('$name', ({ files, lines }) => {
    test('has no more steps than its heading says, a file each, and each but the first is called', () => {
      const steps = lines.map(stepOf);
      expect(steps.length).toBeLessThanOrEqual(files);
      expect(steps.map(({ number }) => number)).toEqual(steps.map((_, index) => index + 1));
      expect(new Set(steps.map(({ file }) => file)).size).toBe(steps.length);
      const called = new Set(steps.flatMap(({ calls }) => calls.map(({ step }) => step)));
      expect(steps.slice(1).filter(({ number }) => !called.has(number))).toEqual([]);
    });

    test.each(lines)('%s', (line) => {
      const { file, functions, calls } = stepOf(line);
      expect(existsSync(join(root, file)), `${file} exists`).toBe(true);
      const source = new Source(file);
      expect(functions.filter((name) => !source.declared.has(name))).toEqual([]);
      for (const { step, name, as, seam } of calls) {
        const { file: target } = stepOf(lines[step - 1] ?? '');
        expect(source.mentions(functions), `they call ${as}`).toContain(as);
        expect([...new Source(target).declared.keys()], `${target} declares ${name}`).toContain(name);
        if (seam === undefined) expect(source.imported, `${file} imports ${target}`).toContain(target);
        if (seam === 'import') expect(source.loaded, `${file} loads ${target} by import()`).toContain(target);
      }
    });
  });
});
