import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { type Plugin, rolldown } from 'rolldown';
import { globalsOf, modulesOf, type Slot } from './node.ts';

/** Globals of Node that a module gets as parameters, so that each program has its own. */
const globalNames = [
  ...[
    'process',
    'Date',
    'Math',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'clearTimeout',
    'clearInterval',
  ],
  ...['clearImmediate', 'performance', 'fetch', 'WebAssembly', 'globalThis', 'global'],
] as const;

/** A script has no `import()`. */
const builtinImports = /\bimport\(("node:[\w/]+")\)/g;

const builtDist = fileURLToPath(new URL('../../dist', import.meta.url));

/** The built library, in a form that can be loaded into a process. @param folder gets the files. */
export function builtLibrary(folder: string, dist = builtDist): Promise<Program> {
  const entries = ['index', 'safely', 'sandbox'].map((name) => [name, join(dist, 'sdk', `${name}.js`)]);
  return bundled(Object.fromEntries(entries), folder);
}

/** Bundles entries into a folder, as what can be loaded into a process. */
export async function bundled(
  input: Readonly<Record<string, string>>,
  folder: string,
  ...plugins: Plugin[]
): Promise<Program> {
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: ['@photostructure/sqlite', 'vitest'],
    plugins,
    logLevel: 'silent',
  });
  await bundle.write({
    dir: folder,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
  });
  await bundle.close();
  return new Program(folder);
}

/** The built program's files as V8 has compiled them. */
export class Program {
  readonly #dist: string;
  /** Read at once, so that a build meanwhile changes nothing. */
  readonly #texts = new Map<string, string>();
  readonly #scripts = new Map<string, (...given: unknown[]) => void>();
  readonly #require = createRequire(import.meta.url);

  constructor(dist = builtDist) {
    this.#dist = dist;
    for (const name of readdirSync(dist).filter((one) => one.endsWith('.cjs')))
      this.#texts.set(join(dist, name), readFileSync(join(dist, name), 'utf8'));
  }

  /** @returns what loads the program's files, with what their slot has of Node in place of Node's own. */
  loader(slot: Slot): (entry: string) => unknown {
    const builtin = (id: string): unknown => own[id.replace(/^node:/, '')] ?? this.#require(id);
    const globals = globalsOf(slot, builtin);
    const own = modulesOf(slot, globals.process);
    const modules = new Map<string, { exports: unknown }>();
    const given = globalNames.map((name) => globals[name]);
    const load = (file: string): unknown => {
      const known = modules.get(file);
      if (known) return known.exports;
      const module = { exports: {} };
      modules.set(file, module);
      const require = (id: string): unknown =>
        id.startsWith('.') ? load(join(dirname(file), id)) : builtin(id);
      this.#script(file)(module.exports, require, module, file, dirname(file), ...given);
      return module.exports;
    };
    return (entry) => load(join(this.#dist, entry));
  }

  #script(file: string): (...given: unknown[]) => void {
    const known = this.#scripts.get(file);
    if (known) return known;
    const head = `(function (exports, require, module, __filename, __dirname, ${globalNames.join(', ')}) { (() => {`;
    const text = this.#texts.get(file)?.replace(builtinImports, 'Promise.resolve(require($1))');
    const code = `${head}${text}\n})() })`;
    const made: unknown = new Script(code, { filename: file, columnOffset: -head.length }).runInThisContext();
    const run = made as (...given: unknown[]) => void;
    this.#scripts.set(file, run);
    return run;
  }
}
