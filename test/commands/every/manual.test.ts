import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { manPage } from '../../../src/cli/help/man-page.ts';
import { topics } from '../../../src/cli/help/topics.ts';
import { knownCommands } from '../../support/known-commands.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, 'dist/man');
const names = readdirSync(folder).toSorted();
const commands = await knownCommands();

/** In CI a missing reader fails the tests; elsewhere they are skipped with a note. */
const hasMan = (process.env.PATH ?? '').split(delimiter).some((one) => existsSync(join(one, 'man')));
const isPossible = hasMan || process.env.ERRAND_CI === '1';
const skipped = isPossible ? '' : ' (skipped: no man; apt-get install man-db)';

/** Output of `man` in an 80-column terminal; asserts that it reports no warnings. */
const man = (...args: readonly string[]): string => manAt(80, ...args);

function manAt(columns: number, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('man', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', MANWIDTH: String(columns) },
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

test('there is a page for each command, each noun and each topic, and the package lists them', () => {
  const nouns = commands.flatMap(({ path }) => {
    const words = path.split(' ');
    return words.map((_, index) => ['errand', ...words.slice(0, index + 1)].join('-'));
  });
  const expected = [
    'errand.1',
    ...new Set(nouns.map((name) => `${name}.1`)),
    ...Object.keys(topics).map((name) => `errand-${name}.7`),
  ].toSorted();
  expect(names).toEqual(expected);
  const { man: listed } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(listed).toEqual(names.map((name) => `dist/man/${name}`));
});

test('every page that a page refers to is there', () => {
  const missing = names.flatMap((name) => {
    const [, also = ''] = readFileSync(join(folder, name), 'utf8').split('.SH SEE ALSO\n');
    const pages = [...also.matchAll(/\\fB(\S+?)\\fR\((\d)\)/g)].map(
      ([, page = '', section = '']) => `${page.replaceAll('\\-', '-')}.${section}`,
    );
    expect(pages).not.toEqual([]);
    return pages.filter((page) => !names.includes(page)).map((page) => `${name}: ${page}`);
  });
  expect(missing).toEqual([]);
});

describe.skipIf(!isPossible)(`man pages, read by man${skipped}`, () => {
  const texts = new Map<string, string>();

  test('are read without a warning, and fit 80 columns', () => {
    // The pages follow each other, each ending in a line with its name.
    const all = man('--warnings=w', '-l', ...names);
    const pages = all.split(/^errand \S+ +ERRAND\S*\(\d\)\n/m);
    expect(pages.pop()?.trim()).toBe('');
    expect(pages).toHaveLength(names.length);
    for (const [index, name] of names.entries()) {
      const text = pages[index] ?? '';
      expect(text).toContain(name.replace(/\.(\d)$/, '($1)').toUpperCase());
      texts.set(name, text);
      expect([name, text.split('\n').filter((line) => line.length > 80)]).toEqual([name, []]);
      const headings = text.match(/^[A-Z].*$/gm)?.slice(1) ?? [];
      const usual = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXAMPLES', 'EXIT STATUS', 'SEE ALSO'];
      const present = usual.filter((heading) => headings.includes(heading));
      expect([name, headings.filter((heading) => usual.includes(heading))]).toEqual([name, present]);
      for (const heading of name.endsWith('.1') ? [...usual.slice(0, 3), ...usual.slice(5)] : usual.slice(6))
        expect([name, headings]).toEqual([name, expect.arrayContaining([heading])]);
    }
  });

  test('fit 60 columns, but for command lines that are copied', () => {
    const wide = manAt(60, '-l', ...names)
      .split('\n')
      .filter((line) => line.length > 60);
    expect(wide.filter((line) => !/^ {11}(?:\S| {2}\S| {3}\S)/.test(line))).toEqual([]);
    expect(wide.join('\n')).not.toContain('[,');
  });

  test('show every option and every example as they are typed', () => {
    for (const { path, command } of commands) {
      const text = texts.get(`errand-${path.replaceAll(' ', '-')}.1`) ?? '';
      for (const key of Object.keys(command.options ?? {})) {
        const flag =
          command.options?.[key]?.flag ?? `--${key.replace(/[A-Z]/g, (sign) => `-${sign.toLowerCase()}`)}`;
        expect(text, path).toMatch(new RegExp(`^ {7}(?:-\\w, )?${flag}(?: |$)`, 'm'));
      }
      const joined = text.replace(/ \\\n +/g, ' ');
      for (const { command: line } of command.examples)
        expect(joined, path).toContain(`           ${line}\n`);
    }
  });

  test('are found by their names, with what they are in a few words', () => {
    const workspace = makeWorkspace();
    onTestFinished(() => workspace.remove());
    const path = join(workspace.folder, 'man');
    for (const name of names) {
      const section = join(path, `man${name.at(-1)}`);
      mkdirSync(section, { recursive: true });
      symlinkSync(join(folder, name), join(section, name));
    }
    expect(man('-M', path, 'errand')).toContain('ERRAND(1)');
    expect(man('-M', path, 'errand-order-create')).toContain('Place an order for product URLs');
    expect(man('-M', path, '7', 'errand-policy')).toContain(`${topics.policy?.summary}`);
    const whatis = execFileSync('lexgrog', names, { cwd: folder, encoding: 'utf8' }).trim().split('\n');
    expect(whatis).toHaveLength(names.length);
    for (const line of whatis) expect(line).toMatch(/^(\S+)\.[17]: "\1 - \S.*"$/);
  });

  test('print any text as it is, and take none of it for a request', () => {
    const workspace = makeWorkspace();
    onTestFinished(() => workspace.remove());
    const odd = ['.SH FAKE', "'br x", '\\fBbold\\fR \\n(.x', '...', '`a` ^b ~c "d" - e\\', 'café ✔'];
    const page = {
      name: 'errand odd',
      usage: 'errand odd <x> [options]',
      summary: odd[0] ?? '',
      description: odd,
      sections: [
        { title: 'Options', isAligned: true, parts: [{ items: odd.map((text) => ({ term: text, text })) }] },
        { title: 'Examples', parts: [{ examples: odd.map((text) => ({ command: text, note: text })) }] },
      ],
    };
    writeFileSync(join(workspace.folder, 'odd.1'), manPage(page, '1.0.0', []));
    const text = man('--warnings=w', '-l', join(workspace.folder, 'odd.1'));
    for (const line of odd) {
      expect(text).toContain(`\n       ${line}\n`);
      expect(text).toContain(`\n           ${line}\n`);
    }
    expect(text).not.toMatch(/^FAKE/m);
  });
});
