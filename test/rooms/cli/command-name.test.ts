import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asTyped } from '../../../src/cli/output/as-typed.ts';
import { entries } from '../../../src/commands/program.ts';
import { commandName, type Started } from '../../../src/platform/streams.ts';
import { capture } from '../../support/streams.ts';

let folder: string;
const at = (...path: string[]): string => join(folder, ...path);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'errand-'));
  for (const one of ['checkout/bin', 'user', 'tools', 'project/node_modules/.bin', 'project/sub'])
    mkdirSync(at(one), { recursive: true });
  for (const one of [
    'checkout/bin/errand.js',
    'user/errand',
    'project/node_modules/.bin/errand',
    'tools/errand.cmd',
  ]) {
    writeFileSync(at(one), '');
    chmodSync(at(one), 0o755);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const name = (environment: Started['environment'], more: Partial<Started> = {}): string =>
  commandName({
    environment,
    platform: 'linux',
    file: at('checkout/bin/errand.js'),
    folder: at('tools'),
    ...more,
  });

test('it is errand where the PATH has it as a program', () => {
  expect(name({ PATH: `${at('tools')}:${at('user')}` })).toBe('errand');
  chmodSync(at('user/errand'), 0o644);
  expect(name({ PATH: at('user') })).not.toBe('errand');
  chmodSync(at('user/errand'), 0o755);
  expect(name({ PATH: at('checkout') })).not.toBe('errand');
});

test('what npm puts on the PATH while it runs is not there for the next command', () => {
  const path = `${at('project/node_modules/.bin')}:/usr/bin`;
  expect(name({ PATH: path, npm_execpath: '/usr/lib/npx-cli.js' })).toBe('npx errand');
  expect(name({ PATH: path })).toBe('errand');
  expect(name({ PATH: `${path}:${at('user')}`, npm_execpath: '/usr/lib/npx-cli.js' })).toBe('errand');
});

test('within its project it is npx errand, elsewhere Node with the file', () => {
  expect(name({ PATH: '' }, { folder: at('checkout/bin') })).toBe('npx errand');
  // The working directory was deleted while the program ran.
  expect(name({ PATH: '' }, { folder: undefined })).toMatch(/^node /);
  const installed = at('project/node_modules/errand/bin/errand.js');
  expect(name({ PATH: '' }, { file: installed, folder: at('project/sub') })).toBe('npx errand');
  expect(name({})).toBe(`node ${at('checkout/bin/errand.js')}`);
  expect(name({}, { file: '/a folder/bin/errand.js' })).toBe("node '/a folder/bin/errand.js'");
});

test('on Windows a program is found by its ending', () => {
  const windows = { platform: 'win32', file: 'C:\\errand\\bin\\errand.js' } as const;
  const path = { Path: `C:\\none;${at('tools')}` };
  expect(name({ ...path, PATHEXT: '.EXE;.CMD' }, windows)).toBe('errand');
  expect(name(path, windows)).toBe('errand');
  expect(name({ ...path, PATHEXT: '.EXE' }, windows)).toBe('node C:/errand/bin/errand.js');
});

test('every command line of a text is as it is typed, and nothing else of it', () => {
  const { io } = capture({ terminal: true }, { terminal: true });
  const here = { ...io, commandName: () => 'npx errand' };
  for (const { name: noun } of entries)
    expect(asTyped(`run \`errand ${noun} x\``, here)).toBe(`run \`npx errand ${noun} x\``);
  expect(asTyped('errand order list | errand order cancel -\nerrand help money', here)).toBe(
    'npx errand order list | npx errand order cancel -\nnpx errand help money',
  );
  const prose = 'errand failed; the errand order, my-errand order, errand ordering, /errand order';
  expect(asTyped('to go on: \u001b[36merrand order watch x\u001b[39m', here)).toBe(
    'to go on: \u001b[36mnpx errand order watch x\u001b[39m',
  );
  expect(asTyped(prose.replace('the errand order, ', ''), here)).toBe(
    prose.replace('the errand order, ', ''),
  );
});

test('for a pipe it stays errand', () => {
  const { io } = capture({ terminal: true });
  const here = { ...io, commandName: () => 'npx errand' };
  expect(asTyped('errand order list', here)).toBe('errand order list');
  expect(asTyped('errand order list', here, 'stdout')).toBe('npx errand order list');
});
