import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findProgram } from '../../../src/platform/programs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'errand-programs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(...path: string[]): string {
  const file = join(folder, ...path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  return file;
}
const found = (path: string) => findProgram('key-helper', { PATH: path, HOME: '/home' });

describe.runIf(process.platform !== 'win32')('a program is found', () => {
  test('in the first folder of the PATH that has it, by its absolute path', () => {
    const file = program('second', 'key-helper');
    program('third', 'key-helper');
    const path = ['first', 'second', 'third'].map((name) => join(folder, name)).join(':');
    expect(found(path)).toEqual({ file, environment: { PATH: path, HOME: '/home' } });
  });

  test('only where it can be run, and is a file', () => {
    const file = program('one', 'key-helper');
    chmodSync(program('none', 'key-helper'), 0o644);
    mkdirSync(join(folder, 'folder', 'key-helper'), { recursive: true });
    const path = ['none', 'folder', 'one'].map((name) => join(folder, name)).join(':');
    expect(found(path)?.file).toBe(file);
  });

  test('not in the working folder, however the PATH names it, nor in a folder relative to it', () => {
    const file = program('one', 'key-helper');
    const link = join(folder, 'link');
    symlinkSync(process.cwd(), link);
    const here = ['', '.', './bin', 'node_modules/.bin', process.cwd(), `${process.cwd()}/`, link];
    const rest = join(folder, 'one');
    expect(found([...here, rest, ''].join(':'))).toEqual({
      file,
      environment: { PATH: rest, HOME: '/home' },
    });
  });

  test("not among a project's packages", () => {
    program('project', 'node_modules', '.bin', 'key-helper');
    expect(found(join(folder, 'project', 'node_modules', '.bin'))).toBeUndefined();
  });

  test('nowhere without a PATH', () => {
    expect(findProgram('key-helper', {})).toBeUndefined();
    expect(found('')).toBeUndefined();
  });
});
