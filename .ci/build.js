// Builds the program: one entry with lazy chunks, so that a command loads only what it uses.
import { accessSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { writeInAscii } from './ascii.js';
import { noteBuilt, sourcesHash } from './built.js';
import { builtinsLazy, builtinsTaken } from './builtins.js';
import { writeDeclarations } from './declarations.js';
import { doors } from './doors.js';
import { createNotices } from './notices.js';
import { stubs } from './stubs.js';

const withStubs = {
  name: 'with-stubs',
  resolveId(source, importer = '') {
    const folders = importer.split(/[\\/]/);
    const found = stubs.findIndex(({ library, module }) => module === source && folders.includes(library));
    if (found >= 0) return `\0stub:${found}`;
  },
  load(id) {
    const [, index] = /^\0stub:(\d+)$/.exec(id) ?? [];
    return index && stubs[index].code;
  },
};

/** A part of the sources, for what the build asks of it. */
async function loadSource(source) {
  const folder = mkdtempSync(join(tmpdir(), 'errand-build-'));
  try {
    const file = join(folder, 'source.mjs');
    await write(source, { file, codeSplitting: false });
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What completion must know of every command, asked of the commands themselves. */
async function programTree() {
  const { describeProgram } = await loadSource('src/commands/describe.ts');
  return await describeProgram();
}

/** Writes a man page for each command and topic. npm links those that package.json lists, so the list is kept in step. */
async function writeManual() {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const { manual } = await loadSource('src/manual.ts');
  const pages = await manual(manifest.version);
  mkdirSync('dist/man');
  for (const [name, text] of pages) writeFileSync(join('dist', 'man', name), text);
  const man = [...pages.keys()].map((name) => `dist/man/${name}`).toSorted();
  if (JSON.stringify(manifest.man) === JSON.stringify(man)) return;
  writeFileSync('package.json', `${JSON.stringify({ ...manifest, man }, null, 2)}\n`);
  console.error('package.json lists the man pages anew; commit it');
}

/** A TAB loads no command: their description is written here, in place of made at each start. */
const programTreeWritten = {
  name: 'program-tree-written',
  load(id) {
    if (!/commands[\\/]program-tree\.ts$/.test(id)) return;
    return { code: "export { programTree } from './built-tree.ts';", moduleType: 'js' };
  },
};

/** Whether words after it, or after what is below it, walk the whole program. */
const mirrorsBelow = ({ mirrors, children = [] }) => mirrors === true || children.some(mirrorsBelow);

/** The program with the heads of its children, then each child whole, a file each. */
async function writeProgramTree() {
  const { children, ...root } = await programTree();
  const heads = children.map((child) => {
    const { name, text, aliases } = child;
    return { name, text, aliases, ...(mirrorsBelow(child) && { mirrors: true }) };
  });
  const folder = join('dist', 'commands');
  mkdirSync(folder);
  for (const one of [{ ...root, children: heads }, ...children])
    writeFileSync(join(folder, `${one.name}.json`), JSON.stringify(one));
}

/** The program's own help needs no parser of command lines: its page is made here too. */
const rootPageMade = {
  name: 'root-page-made',
  async load(id) {
    if (!/commands[\\/]root-page\.ts$/.test(id)) return;
    const { rootPage } = await loadSource('src/commands/root-page.ts');
    const json = JSON.stringify(JSON.stringify(await rootPage()));
    return { code: `export const rootPage = async () => JSON.parse(${json});`, moduleType: 'js' };
  },
};

/** What the other entries leave to the program they do not hold. */
const besideMain = {
  name: 'beside-main',
  resolveId: (source) => (source === './main.ts' ? { id: './main.cjs', external: true } : undefined),
};

/** The script and the style of the sandbox's pages stand in the bundle as texts. */
const assetsInlined = {
  name: 'assets-inlined',
  load(id) {
    if (!/sandbox[\\/]console[\\/]assets\.ts$/.test(id)) return;
    const reads = /readFileSync\(new URL\('([^']+)', import\.meta\.url\), 'utf8'\)/g;
    const textOf = (_, path) => JSON.stringify(readFileSync(new URL(path, pathToFileURL(id)), 'utf8'));
    return { code: readFileSync(id, 'utf8').replace(reads, textOf), moduleType: 'ts' };
  },
};

/** The scripts of the shells lie beside `dist`. */
const completionsFound = {
  name: 'completions-found',
  load(id) {
    if (!/cli[\\/]completion[\\/]scripts\.ts$/.test(id)) return;
    const code = readFileSync(id, 'utf8').replace("'../../../completions/'", "'../completions/'");
    return { code, moduleType: 'ts' };
  },
};

/** `docs` lies beside `dist`. */
const skillFound = {
  name: 'skill-found',
  load(id) {
    if (!/commands[\\/]skill[\\/]file\.ts$/.test(id)) return;
    const code = readFileSync(id, 'utf8').replace("'../../../docs/SKILL.md'", "'../docs/SKILL.md'");
    return { code, moduleType: 'ts' };
  },
};

/** No file is read for it, so that whoever bundles a door needs none. */
const versionMade = {
  name: 'version-made',
  load(id) {
    if (!/src[\\/]platform[\\/]version\.ts$/.test(id)) return;
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    return { code: `export const version = ${JSON.stringify(version)};`, moduleType: 'js' };
  },
};

const heavy = /[\\/]node_modules[\\/]|[\\/]src[\\/]sandbox[\\/]/;

/** Whether a module and all that comes with it is our own and small. */
function isLight(id, graph, seen = new Set()) {
  if (heavy.test(id)) return false;
  seen.add(id);
  return importedBy(id, graph).every((one) => seen.has(one) || isLight(one, graph, seen));
}

const importedBy = (id, graph) => graph.getModuleInfo(id)?.importedIds ?? [];

/** What comes with a module at once, itself included. */
function withImports(id, graph, found = new Set()) {
  if (!found.has(id)) {
    found.add(id);
    for (const one of importedBy(id, graph)) withImports(one, graph, found);
  }
  return found;
}

/**
 * Which modules share a file, for one more costs a start about a millisecond. The first that needs a module has it:
 * `errand --version` and `--help`, the help, every command that runs, orders, the checks of what is sent, the embedded sandbox.
 */
const groups = [
  {
    name: 'first',
    needs: [
      'platform/errors',
      'platform/streams',
      'cli/output/writer',
      'cli/handles',
      'commands/root-help',
      'cli/help/layout',
      'platform/version',
      'platform/streams',
      'platform/memory',
    ],
  },
  { name: 'help', needs: ['commands/program', 'cli/help/show'] },
  {
    name: 'command',
    needs: [
      'cli/mount',
      'cli/context',
      'cli/output/render',
      'cli/output/json',
      'cli/output/id',
      'cli/output/record-view',
      'cli/client/open',
    ],
  },
  {
    name: 'order',
    needs: [
      ...['commands/order/index', 'cli/report-printed', 'journal/journal', 'config/actor', 'config/keys'],
      ...['cli/private-command', 'http/transport/embedded'],
      // What the sandbox and other commands share: neither must load the other for it.
      ...['api/bulk-row', 'api/control', 'api/sandbox-faults', 'api/country', 'platform/net/addresses'],
    ],
  },
  // A run that has nothing to do loads no more.
  { name: 'standing', needs: ['commands/standing/index'] },
  { name: 'network', needs: ['http/transport/network'] },
  { name: 'schemas', needs: ['orders/input/check'] },
  { name: 'sandbox', needs: ['sandbox-door'], of: /[\\/]src[\\/]sandbox/ },
].map(({ name, needs, of = /^/ }, index) => {
  const roots = needs.map((root) => resolve(`src/${root}.ts`));
  // Fails if a file is gone. Otherwise its modules would move to another chunk unnoticed.
  for (const root of roots) accessSync(root);
  return {
    debugName: name,
    priority: 9 - index,
    name: (id, graph) =>
      of.test(id) && roots.some((root) => withImports(root, graph).has(id)) ? name : null,
  };
});

const shared = {
  debugName: 'shared',
  minShareCount: 2,
  name: (id, graph) => (isLight(id, graph) ? 'shared' : null),
};

const ownSource = /^(?!.*[\\/]node_modules[\\/]).*[\\/]src[\\/]/;

/** Libraries within the doors wait by real timers too, where a test has faked those of its process. */
const ownTimers = resolve('src/platform/own-timers.ts');
const realTimers = Object.fromEntries(
  ['setImmediate', 'setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'clearImmediate'].map(
    (name) => [name, [ownTimers, name]],
  ),
);

async function write(input, { inject = {}, ...output }, ...plugins) {
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: ['@photostructure/sqlite', 'vitest'],
    transform: { inject },
    // A copy of its own, beside `csv-parse`: V8 makes the parser faster as long as there is one of it.
    resolve: { alias: { 'csv-parse/sync': createRequire(import.meta.url).resolve('csv-parse/sync') } },
    // None of our own files is imported for what its loading does.
    treeshake: { moduleSideEffects: [{ test: ownSource, sideEffects: false }] },
    plugins: [withStubs, builtinsTaken, builtinsLazy, ...plugins],
    // How long each of our plugins takes is nothing that an install need say.
    checks: { pluginTimings: false },
    onLog(level, log, handler) {
      // Some modules are both lazy and not, as their users need them.
      if (log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') handler(level, log);
    },
  });
  await bundle.write({ format: 'esm', minify: true, ...output });
  await bundle.close();
}

const sources = sourcesHash();
const notices = createNotices();
rmSync('dist', { recursive: true, force: true });
const mapped = { sourcemap: true, sourcemapExcludeSources: true };
// Node loads each file of CommonJS in a fraction of what a module takes.
const inCommonJs = {
  dir: 'dist',
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
};
const comments = { legal: true, annotation: false, jsdoc: false };
await write(
  'src/main.ts',
  {
    ...mapped,
    ...inCommonJs,
    comments,
    codeSplitting: { groups: [...groups, shared] },
  },
  assetsInlined,
  completionsFound,
  skillFound,
  rootPageMade,
  versionMade,
  notices.plugin,
);
// What is over before much could be loaded shares no file with the program.
for (const entry of ['complete', 'quick'])
  await write(
    `src/${entry}.ts`,
    { ...mapped, ...inCommonJs, chunkFileNames: `${entry}-[name]-[hash].cjs` },
    besideMain,
    programTreeWritten,
    rootPageMade,
    versionMade,
    notices.plugin,
  );
await write(
  Object.fromEntries(doors.map((door) => [door, `src/integrations/sdk/${door}.ts`])),
  {
    ...mapped,
    comments,
    dir: 'dist/sdk',
    chunkFileNames: '[name]-[hash].js',
    // An error that nobody catches is shown with its class and the line it comes from.
    minify: 'dce-only',
    inject: realTimers,
    codeSplitting: true,
  },
  assetsInlined,
  versionMade,
  notices.plugin,
);
for (const folder of ['dist', 'dist/sdk']) writeInAscii(folder);
await writeDeclarations(loadSource, 'dist/types');
notices.write('dist/THIRD-PARTY-NOTICES');
await writeProgramTree();
await writeManual();
noteBuilt(sources);
