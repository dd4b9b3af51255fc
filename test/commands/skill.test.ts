import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { targets } from '../../src/commands/skill/file.ts';
import { errand } from '../support/run.ts';
import { makeWorkspace } from '../support/workspace.ts';

function aHome() {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  const skill = (verb: string, target: string, ...more: string[]) =>
    errand(workspace, ['skill', verb, '--target', target, ...more]);
  const file = join(workspace.environment.HOME ?? workspace.folder, '.claude/skills/errand/SKILL.md');
  return { workspace, skill, file };
}

test('every target gets the skill of this version, and is rid of it again', async () => {
  const { skill } = aHome();
  for (const target of targets) {
    const installed = JSON.parse((await skill('install', target, '--yes', '-o', 'json')).stdout);
    expect(installed.result).toBe('installed');
    const text = readFileSync(installed.file, 'utf8');
    expect(text).toContain(readFileSync(new URL('../../docs/SKILL.md', import.meta.url), 'utf8'));
    expect((await skill('remove', target, '--yes')).code).toBe(0);
    expect(existsSync(dirname(installed.file))).toBe(false);
  }
});

test('one of an earlier version is replaced, after showing what changes', async () => {
  const { skill, file } = aHome();
  const older = 'An older skill\n';
  const hash = createHash('sha256').update(older).digest('hex');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${older}\n<!-- installed by errand 0.0.1; sha256 ${hash} -->\n`);
  expect(await skill('install', 'claude')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/- An older skill\n[\s\S]*\+ # Buying with errand\n[\s\S]*pass --yes/),
  });
  expect(readFileSync(file, 'utf8')).toContain(older);
  const { stdout } = await skill('install', 'claude', '--yes', '-o', 'json');
  expect(JSON.parse(stdout).result).toBe('updated');
  expect(readFileSync(file, 'utf8')).toContain('# Buying with errand');
});

test('a changed file, a file of another, a link and a folder are left alone', async () => {
  const { skill, file } = aHome();
  await skill('install', 'claude', '--yes');
  const changed = readFileSync(file, 'utf8').replace('Buying', 'Selling');
  for (const text of [changed, 'mine\n', '']) {
    writeFileSync(file, text);
    for (const verb of ['install', 'remove'])
      expect(await skill(verb, 'claude', '--yes')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is not as errand wrote it'),
      });
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  const other = aHome();
  mkdirSync(dirname(other.file), { recursive: true });
  symlinkSync(file, other.file);
  expect((await other.skill('install', 'claude', '--yes')).stderr).toContain('is a link');
  const third = aHome();
  mkdirSync(third.file, { recursive: true });
  expect((await third.skill('install', 'claude', '--yes')).stderr).toContain('is no file');
});

test('what else lies in the folder stays', async () => {
  const { skill, file } = aHome();
  await skill('install', 'claude', '--yes');
  writeFileSync(join(dirname(file), 'notes.md'), 'mine');
  expect((await skill('remove', 'claude', '--yes')).code).toBe(0);
  expect([existsSync(file), existsSync(join(dirname(file), 'notes.md'))]).toEqual([false, true]);
});
