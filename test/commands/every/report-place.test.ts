import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand, shell } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
const scenario = 'version: 1\nexpect:\n  - wallet: default\n    body: { balance: 100000 }\n';
const at = (name: string): string => join(workspace.folder, name);
const contents = (name: string): string => readFileSync(at(name), 'utf8');
const play = (report: string) =>
  errand(workspace, ['sandbox', 'test', 'a.yaml', '--report', `junit=${report}`]);

beforeEach(() => {
  workspace = makeWorkspace();
  writeFileSync(at('a.yaml'), scenario);
});
afterEach(() => workspace.remove());

test('a report replaces an earlier report, and no other work', async () => {
  expect((await play('r.xml')).code).toBe(0);
  const first = contents('r.xml');
  writeFileSync(at('r.xml'), first.replace('tests="1"', 'tests="99"'));
  expect((await play('r.xml')).code).toBe(0);
  expect(contents('r.xml')).not.toContain('99');
  writeFileSync(at('empty.xml'), '');
  expect((await play('empty.xml')).code).toBe(0);
  expect(contents('empty.xml')).toContain('<testsuites');

  writeFileSync(at('b.yaml'), scenario);
  symlinkSync('a.yaml', at('link.xml'));
  for (const name of ['./a.yaml', 'b.yaml', 'link.xml']) {
    expect(await play(name)).toMatchObject({
      ...{ code: 2, stdout: '' },
      stderr: expect.stringContaining(`--report: ${name} is there, and is no JUnit report`),
    });
  }
  expect([contents('a.yaml'), contents('b.yaml')]).toEqual([scenario, scenario]);
  mkdirSync(at('sub'));
  for (const name of ['.', 'sub'])
    expect(await play(name)).toMatchObject({
      ...{ code: 2, stdout: '' },
      stderr: expect.stringContaining(`--report: ${name} is a folder; name a file`),
    });
});

test('a link is followed, be its file there or not', async () => {
  mkdirSync(at('out'));
  symlinkSync('out/report.xml', at('link.xml'));
  for (const _ of ['made', 'replaced']) {
    expect((await play('link.xml')).code).toBe(0);
    expect(lstatSync(at('link.xml')).isSymbolicLink()).toBe(true);
    expect(contents('out/report.xml')).toContain('</testsuites>');
    writeFileSync(at('out/report.xml'), '<?xml version="1.0"?>');
  }
  symlinkSync('circle.xml', at('circle.xml'));
  expect(await play('circle.xml')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('circle.xml cannot be written (ELOOP)'),
  });
});

test('a FIFO is written to, and refused where nobody reads', async () => {
  const line =
    'mkfifo pipe; cat pipe > read & errand sandbox test a.yaml --report junit=pipe; code=$?; wait; exit $code';
  expect((await shell(workspace, line)).code).toBe(0);
  expect(contents('read')).toContain('</testsuites>');
  expect(lstatSync(at('pipe')).isFIFO()).toBe(true);
  expect(await play('pipe')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('pipe cannot be written: nobody reads from it'),
  });
});

test('the file that stdout leads to keeps what was printed there', async () => {
  const { code } = await shell(workspace, 'errand sandbox test a.yaml -o json --report junit=all > all');
  expect(code).toBe(0);
  expect(contents('all')).toContain('</testsuites>');
  expect(contents('all')).toContain('"status": "held"');
});

/** Uses its own device node, so as not to endanger the machine's; only root can create one. */
test.skipIf(process.getuid?.() !== 0)('a device that is full is told, and stays a device', async () => {
  expect((await shell(workspace, 'mknod full c 1 7')).code).toBe(0);
  expect(await play('full')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/full cannot be written \((?:ENOSPC|EACCES)\)/),
  });
  expect(lstatSync(at('full')).isCharacterDevice()).toBe(true);
});
