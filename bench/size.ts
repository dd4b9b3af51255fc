import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, mebibytes, type Row } from './table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Installed size on disk: the packed package with its dependencies. */
export async function measure(folder: string): Promise<Row[]> {
  const npm = (...args: string[]): string => execFileSync('npm', args, { cwd: folder, encoding: 'utf8' });
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  writeFileSync(join(folder, 'package.json'), '{}');
  npm('install', '--no-audit', '--no-fund', '--silent', '--prefer-offline', `./${packed}`);
  const modules = join(folder, 'node_modules');
  const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  const sizes = Object.keys(lock.packages)
    .map((path) => ({ name: path.replace(/^.*node_modules\//, ''), bytes: sizeOf(join(folder, path)) }))
    .toSorted((one, other) => other.bytes - one.bytes);
  const largest = sizes.slice(0, 3).map(({ name, bytes }) => `${name} ${mebibytes(bytes)}`);
  return [
    { ...atMost('installed size', sizeOf(modules) / 2 ** 20, 45, 'MB') },
    { name: 'the largest packages', figure: largest.join(', ') },
    atMost('packages installed', sizes.length, 60, 'packages'),
  ];
}

function sizeOf(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.blocks * 512;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), stat.blocks * 512);
}
