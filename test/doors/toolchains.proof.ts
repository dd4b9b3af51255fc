import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installLocked } from '../support/install-locked.ts';
import { everyDoor, type Project, packedProject } from '../support/packed.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const tools = join(here, 'node_modules');
let project: Project;

beforeAll(async () => {
  await installLocked(here, 'webpack');
  project = packedProject();
  mkdirSync(join(project.folder, 'home'));
  write('program.js', `${everyDoor}main();\n`);
});
afterAll(() => project.remove());

const write = (name: string, text: string): void => writeFileSync(join(project.folder, name), text);

/** Runs a program in the project, with a journal and a state of its own, and a home in which caches stay. */
function run(
  program: string,
  ...args: readonly string[]
): { code: number | null; stdout: string; stderr: string } {
  const own = mkdtempSync(join(project.folder, 'own-'));
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: project.folder,
    env: {
      ...{ PATH: process.env.PATH, HOME: join(project.folder, 'home'), FOLDER: join(own, 'journal') },
      ...{ CI: '1', NO_COLOR: '1' },
      ...{ ERRAND_CONFIG_DIR: join(own, 'config'), ERRAND_STATE_DIR: join(own, 'state') },
    },
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  return { code: status, stdout, stderr };
}
const node = (...args: readonly string[]) => run(process.execPath, ...args);

describe('a bundle of every door in CommonJS runs', () => {
  const runs = (file: string): void => {
    const { code, stdout, stderr } = node(file);
    expect([stderr, stdout, code]).toEqual(['', '0\n', 0]);
  };

  test('by webpack', () => {
    write(
      'webpack.cjs',
      `require(${JSON.stringify(join(tools, 'webpack'))})({
        mode: 'production',
        optimization: { minimize: false },
        target: 'node',
        entry: './program.js',
        output: { path: __dirname + '/out', filename: 'webpack.cjs' },
      }, (error, stats) => {
        console.log(error ?? stats.toString());
        process.exitCode = error || stats.hasErrors() ? 1 : 0;
      });`,
    );
    const { code, stdout, stderr } = node('webpack.cjs');
    expect(code, stdout + stderr).toBe(0);
    runs('out/webpack.cjs');
  });

  test('by rollup', () => {
    write(
      'rollup.config.mjs',
      `import { nodeResolve } from ${JSON.stringify(join(tools, '@rollup/plugin-node-resolve/dist/es/index.js'))};
      export default {
        input: 'program.js',
        output: { file: 'out/rollup.cjs', format: 'cjs', inlineDynamicImports: true },
        plugins: [nodeResolve()],
      };`,
    );
    const { code, stderr } = node(join(tools, 'rollup/dist/bin/rollup'), '-c', 'rollup.config.mjs');
    expect(code, stderr).toBe(0);
    runs('out/rollup.cjs');
  });

  test('by Vite, for a server', () => {
    write(
      'vite.config.mjs',
      `export default {
        ssr: { noExternal: true },
        build: {
          ssr: 'program.js',
          outDir: 'out-vite',
          rollupOptions: { output: { format: 'cjs', entryFileNames: 'vite.cjs' } },
        },
      };`,
    );
    const { code, stdout, stderr } = node(join(tools, 'vite/bin/vite.js'), 'build');
    expect(code, stdout + stderr).toBe(0);
    runs('out-vite/vite.cjs');
  });
});

describe('the test bed works', () => {
  const asTest = `${everyDoor}test('an order is placed once', main);\n`;

  test('in Jest', () => {
    write('shop.jest.test.js', asTest);
    const jest = join(tools, 'jest/bin/jest.js');
    const { code, stderr } = node('--experimental-vm-modules', jest, '--ci', 'shop.jest');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('1 passed');
  });

  test('in node:test', () => {
    write('shop.node.mjs', `import test from 'node:test';\n${asTest}`);
    const { code, stdout } = node('--test', '--test-reporter=tap', 'shop.node.mjs');
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('# pass 1');
  });
});

/** A file of the one platform package that is installed. */
const ofPlatform = (scope: string, ...path: readonly string[]): string =>
  join(tools, scope, readdirSync(join(tools, scope))[0] ?? '', ...path);

describe.each([
  ['Bun', () => ofPlatform('@oven', 'bin/bun'), []],
  ['Deno', () => ofPlatform('@deno', 'deno'), ['run', '--allow-all']],
] as const)('%s', (_, program, first) => {
  test('runs the library', () => {
    const { code, stdout, stderr } = run(program(), ...first, 'program.js');
    expect([stdout, code], stderr).toEqual(['0\n', 0]);
  });

  test('starts the program, which does the main job, and starts it once more from its cache', () => {
    const errand = (...args: readonly string[]) =>
      run(program(), ...first, 'node_modules/errand/bin/errand.js', ...args, '-o', 'json');
    const done = errand('quickstart', '--query', 'tracking_numbers[0].status');
    expect([done.stdout.trim(), done.code], done.stderr).toEqual(['"delivered"', 0]);
    const found = errand('search', 'coffee', '--limit', '1', '--query', 'length(@)');
    expect([found.stdout.trim(), found.code], found.stderr).toEqual(['1', 0]);
  });
});
