import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hangsAfterMs } from './limits.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A user's TypeScript project with only the packed package and its dependencies installed. */
export interface Project {
  readonly folder: string;
  readonly tarball: string;
  /**
   * Compiles the sources, keyed by file name; emits JavaScript next to them. @returns compiler output; '' if there are
   * no errors.
   */
  compile(sources: Readonly<Record<string, string>>, options?: Readonly<Record<string, unknown>>): string;
  /** Runs a file of the project with Node. @param more further arguments */
  run(
    file: string,
    environment?: Readonly<Record<string, string>>,
    more?: readonly string[],
  ): { code: number | null; stdout: string; stderr: string };
  remove(): void;
}

/** A program's `main` that uses every entry point: it places an order in its own sandbox and reads it back. */
export const everyDoor = `
import { createClient } from 'errand';
import { openJournal, placeOrder } from 'errand/safely';
import { startSandbox } from 'errand/sandbox';

async function main() {
  const sandbox = await startSandbox({ port: 0 });
  const { baseUrl, apiKey } = sandbox;
  const client = createClient({ baseUrl, apiKey });
  const journal = await openJournal({ folder: process.env.FOLDER, program: 'bundle' });
  const order = { ...sandbox.exampleOrder, idempotency_key: 'bundle-1' };
  const { order: placed } = await placeOrder(client, journal, order);
  const { body } = await client.call('order.get', { path: { order_id: placed.id } });
  console.log(body.id === placed.id && journal.unsettled().length);
  await journal.close();
  await client.close();
  await sandbox.close();
}
`;

/** A strict project's compiler options. */
const strict = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  module: 'nodenext',
  target: 'es2023',
  types: ['node'],
};

/** @param links further packages to install in the project */
export function packedProject(links: readonly string[] = []): Project {
  const folder = mkdtempSync(join(tmpdir(), 'errand-project-'));
  const npm = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const tarball = join(folder, execFileSync('npm', npm, { cwd: root, encoding: 'utf8' }).trim());
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'errand'), { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', join(modules, 'errand'), '--strip-components', '1']);
  for (const name of ['@photostructure/sqlite', '@types/node', 'undici-types', ...links]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return {
    folder,
    tarball,
    compile(sources, options = {}) {
      for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, name), text);
      const config = { compilerOptions: { ...strict, ...options }, files: Object.keys(sources) };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const { stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', '.'], {
        cwd: folder,
        encoding: 'utf8',
      });
      return stdout + stderr;
    },
    run(file, environment = {}, more = []) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...more], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder, ...environment },
        encoding: 'utf8',
        timeout: hangsAfterMs,
      });
      return { code: status, stdout, stderr };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
