import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { shell } from '../support/run.ts';
import { makeWorkspace } from '../support/workspace.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const built = join(root, 'dist');
const text = (...path: string[]): string => readFileSync(join(...path), 'utf8');
/** Scripts of the program and of its library entry points. */
const scripts = ['.', 'sdk'].flatMap((folder) =>
  readdirSync(join(built, folder))
    .filter((name) => /\.c?js$/.test(name))
    .map((name) => join(folder, name)),
);
const notices = text(built, 'THIRD-PARTY-NOTICES');

/** All imports of a script, eager and lazy. */
const importsOf = (script: string): string[] =>
  [
    ...text(built, script).matchAll(
      /\b(?:from\s*["']|(?:import\s*\(?|(?<!["'`])require\()\s*["'`])([\w@.][\w@./:-]*)["'`]/g,
    ),
  ].map(([, name = '']) => name);

/** Finds the enclosing package with a version, given one of its files. */
function packageOf(file: string): { name: string; version: string; license: string; folder: string } {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(text(folder, 'package.json'));
      if (manifest.version) return { ...manifest, folder };
    } catch {
      // The package root is further up.
    }
  }
  return expect.fail(`${file} belongs to no package`);
}

/** Lists bundled packages from the source maps, which record the origin of every part. */
function bundledPackages(): ReturnType<typeof packageOf>[] {
  // The bundler's runtime and re-export-only scripts have no source map.
  const mapped = scripts.filter((script) => existsSync(join(built, `${script}.map`)));
  const sources = mapped.flatMap((script): string[] =>
    JSON.parse(text(built, `${script}.map`)).sources.map((source: string) =>
      join(built, dirname(script), source),
    ),
  );
  const foreign = [...new Set(sources)].filter((source) => source.includes('/node_modules/'));
  const packages = foreign.map(packageOf);
  return [...new Map(packages.map((one) => [`${one.name} ${one.version}`, one])).values()];
}

describe('the licences of what the bundle holds', () => {
  const packages = bundledPackages();
  const titles = notices.split('\n').filter((line) => line.includes(' | '));

  test('each package is named once with its licence and its source, and its licence is there word for word', () => {
    expect(packages.length).toBeGreaterThan(40);
    for (const { name, version, license, folder } of packages) {
      const own = titles.filter((title) => title.startsWith(`${name} ${version} | ${license} | https://`));
      expect([name, own.length]).toEqual([name, 1]);
      const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
      // A package may omit the text of a standard licence that it names, or that its repository alone has.
      const texts = [`${name}-licence.txt`, `${license.toLowerCase()}.txt`].map((file) =>
        join(root, '.ci', file),
      );
      const wording =
        licence === undefined
          ? readFileSync(texts.find((file) => existsSync(file)) ?? name, 'utf8')
          : text(folder, licence);
      const part = notices.split(/^-{80}$/m).find((one) => one.includes(`${own[0]}\n`));
      expect(part, name).toContain(wording.trim());
    }
  });

  test('no other is named, but for what packages and the bundler put in by themselves', () => {
    const known = packages.map(({ name, version }) => `${name} ${version}`);
    const others = titles.map((title) => title.split(' | ')[0] ?? '').filter((name) => !known.includes(name));
    expect(others.map((name) => name.replace(/ [\d.]+$/, ''))).toEqual(['llhttp (in undici)', 'rolldown']);
  });

  test('nothing is imported but Node and the bundle', () => {
    const outside = scripts.flatMap(importsOf).filter((name) => !name.startsWith('./') && !isBuiltin(name));
    // The entry point for tests imports vitest.
    expect(outside.filter((name) => name !== 'vitest')).toEqual([]);
  });
});

describe('the package', () => {
  const workspace = makeWorkspace();
  const npm = (...args: string[]): string =>
    execFileSync('npm', [...args, '--ignore-scripts', '--silent'], { cwd: root, encoding: 'utf8' });

  test('holds what runs and its notices, and nothing else', () => {
    const [{ files }] = JSON.parse(npm('pack', '--dry-run', '--json'));
    const packed = files.map(({ path }: { path: string }) => path);
    const doors = Object.values<{ types?: string; default?: string }>(
      JSON.parse(text(root, 'package.json')).exports,
    );
    const entries = doors.flatMap(({ default: script }) => (script ? [script.replace('./dist/', '')] : []));
    const reached = new Set(['main.cjs', 'quick.cjs', 'complete.cjs', ...entries]);
    for (const script of reached)
      for (const name of importsOf(script))
        if (name.startsWith('./')) reached.add(join(dirname(script), name));
    const declared = new Set(doors.flatMap(({ types }) => (types ? [types.replace('./', '')] : [])));
    for (const file of declared)
      for (const [, name = ''] of text(root, file).matchAll(/\bfrom '(\.[^']+)\.js'/g))
        declared.add(join(dirname(file), `${name}.d.ts`));
    const inFolder = (folder: string) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
    expect(packed.toSorted()).toEqual(
      [
        ...['LICENSE', 'README.md', 'docs/SKILL.md', 'package.json', 'dist/THIRD-PARTY-NOTICES'],
        ...[...reached].map((name) => `dist/${name}`),
        ...declared,
        ...inFolder('bin'),
        ...inFolder('completions'),
        ...inFolder('dist/commands'),
        ...inFolder('dist/man'),
      ].toSorted(),
    );
  });

  test('runs by itself', () => {
    onTestFinished(() => workspace.remove());
    const file = npm('pack', '--pack-destination', workspace.folder).trim();
    execFileSync('tar', ['-xzf', file], { cwd: workspace.folder });
    mkdirSync(join(workspace.folder, 'node_modules'));
    symlinkSync(
      join(root, 'node_modules/@photostructure'),
      join(workspace.folder, 'node_modules/@photostructure'),
    );
    const run = (...args: string[]): string =>
      execFileSync(process.execPath, ['package/bin/errand.js', ...args], {
        cwd: workspace.folder,
        env: workspace.environment,
        encoding: 'utf8',
      });
    expect(JSON.parse(run('wallet', '-o', 'json'))).toHaveProperty('balance');
    expect(run('__complete', '--', 'wal')).toContain('wallet');
  });

  test('completes where npm puts it, globally or for npx', async () => {
    const project = makeWorkspace({ npm_config_offline: 'true', npm_config_update_notifier: 'false' });
    onTestFinished(() => project.remove());
    const tarball = npm('pack', '--pack-destination', project.folder).trim();
    const unpack = (folder: string): string =>
      `mkdir -p "${folder}" && tar -xzf '${tarball}' -C "${folder}" && mv "${folder}/package" "${folder}/errand"`;
    const steps = [
      'set -e; rm .bin/errand; echo "{}" > package.json',
      `${unpack('node_modules')}; mkdir node_modules/.bin; ln -s ../errand/bin/errand.js node_modules/.bin/errand`,
      `${unpack('global tools/lib/node_modules')}; mkdir 'global tools/bin'`,
      "ln -s ../lib/node_modules/errand/bin/errand.js 'global tools/bin/errand'",
      'npx --no-install errand completion bash > npx.bash',
      '"global tools/bin/errand" completion bash > global.bash',
    ];
    const { code, stderr } = await shell(project, steps.join('\n'));
    expect([code, stderr]).toEqual([0, '']);
    for (const script of ['npx.bash', 'global.bash']) {
      const tab = `source '${script}'; cd /; COMP_LINE='errand wal' COMP_POINT=10 COMP_WORDS=(errand wal) COMP_CWORD=1; _errand`;
      expect(await shell(project, `${tab}; echo "\${COMPREPLY[@]}"`)).toMatchObject({ stdout: 'wallet\n' });
    }
  });
});

test('a place in the built program leads to its line of the sources', () => {
  const script = scripts.find((name) => name.startsWith('wallet-')) ?? '';
  const column = text(built, script).indexOf('wallet') + 1;
  const where = execFileSync(process.execPath, ['.ci/where.js', `dist/${script}:1:${column}`], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(where).toMatch(/^src\/commands\/wallet\/[\w-]+\.ts:\d+:\d+\n$/);
});
