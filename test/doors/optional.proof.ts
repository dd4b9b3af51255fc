import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installNode } from '../../bench/other-node.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'errand-optional-'));
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const tarball = execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }).trim();
  execFileSync('npm', ['init', '--yes'], { cwd: folder, stdio: 'ignore' });
  const install = ['install', '--omit=optional', '--no-audit', '--no-fund', `./${tarball}`];
  execFileSync('npm', install, { cwd: folder, stdio: 'ignore' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const errand = (node: string, ...args: string[]) =>
  spawnSync(node, [join(folder, 'node_modules/errand/bin/errand.js'), ...args], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, CI: '1' },
      ...{ ERRAND_CONFIG_DIR: join(folder, 'config'), ERRAND_STATE_DIR: join(folder, 'state') },
    },
    encoding: 'utf8',
  });

test('without optional dependencies there is one package, of less than 8 MB', () => {
  const modules = join(folder, 'node_modules');
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['errand']);
  const bytes = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(modules, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
  expect(bytes).toBeLessThan(8 * 1024 * 1024);
});

test('it does the main job on Node 22 and 24, which have SQLite', () => {
  for (const major of [22, 24]) {
    const node = installNode(major, mkdtempSync(join(folder, 'node-')));
    const { status, stdout, stderr } = errand(
      node,
      'quickstart',
      '-o',
      'json',
      '--query',
      'tracking_numbers[0].status',
    );
    expect([status, stdout.trim()], stderr).toEqual([0, '"delivered"']);
  }
});

test('on Node 20 it says what is missing, and what helps', () => {
  const node = installNode(20, mkdtempSync(join(folder, 'node-')));
  const { status, stderr } = errand(node, 'quickstart');
  expect(status).toBe(1);
  expect(stderr).toContain('has no SQLite, and errand was installed without it');
  expect(stderr).toContain('Node 22.13 or later');
});
