import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: boolean;
}
interface Component {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

const lock: Readonly<Record<string, Locked>> = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
).packages;

/** The bill of materials that npm makes of the lock, which nothing has to be installed for. */
function billOf(...args: string[]): { specVersion: string; components: Component[] } {
  const options = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', ...args];
  return JSON.parse(execFileSync('npm', options, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }));
}

const hex = (integrity = ''): string =>
  Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');

/** Name, version and hash of each package that the lock has. */
const locked = (takes: (one: Locked) => boolean): Set<string> =>
  new Set(
    Object.entries(lock).flatMap(([path, one]) => {
      const name = path.split('node_modules/').at(-1) ?? '';
      return path === '' || !takes(one) ? [] : [`${name}@${one.version} ${hex(one.integrity)}`];
    }),
  );

const billed = (components: readonly Component[]): Set<string> =>
  new Set(components.map(({ name, version, hashes }) => `${name}@${version} ${hashes?.[0]?.content ?? ''}`));

describe('the bill of materials', () => {
  test('has what the lock has, with its hashes', () => {
    const { specVersion, components } = billOf();
    expect(Number(specVersion)).toBeGreaterThanOrEqual(1.5);
    const all = locked(() => true);
    for (const one of billed(components)) expect(all).toContain(one);
    const needed = [...locked(({ dev }) => dev !== true)];
    expect([...billed(components)]).toEqual(expect.arrayContaining(needed));
  });

  test('has what is installed with the package: the SQLite addon, which is optional, and no more', () => {
    const names = billOf('--omit', 'dev').components.map(({ name }) => name);
    expect(new Set(names)).toEqual(
      new Set(
        ['@photostructure/sqlite', 'node-addon-api', 'node-gyp-build'].filter((one) => names.includes(one)),
      ),
    );
    expect(billOf('--omit', 'dev', '--omit', 'optional').components).toEqual([]);
  });
});
