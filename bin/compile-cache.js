// V8's compiled code of this program, kept from one start to the next: a third of a start goes to compiling.
// Node's own cache (`module.enableCompileCache`) came with Node 22, and keeps less: only what is compiled when a file is
// loaded, not the functions that run first after that.
const { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { basename, dirname, isAbsolute, join } = require('node:path');
const { constants, Script } = require('node:vm');

/** The folder of the user's caches; undefined where the environment names none. */
function cachesOf({ env, platform }) {
  if (platform === 'win32') return env.LOCALAPPDATA;
  if (env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME)) return env.XDG_CACHE_HOME;
  if (!env.HOME || !isAbsolute(env.HOME)) return undefined;
  return platform === 'darwin' ? join(env.HOME, 'Library', 'Caches') : join(env.HOME, '.cache');
}

/** What lies in the folder is run: it must be this user's own, and nobody else may write there. */
function isOwn(folder, { getuid, platform }) {
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) return false;
  return platform === 'win32' || (stats.uid === getuid() && (stats.mode & 0o022) === 0);
}

/** Whether Node is to keep compiled code its own way, or needs to compile all of it: to count what runs, to map errors. */
const isLeftToNode = ({ env, sourceMapsEnabled }) =>
  Boolean(env.NODE_COMPILE_CACHE || env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE) ||
  sourceMapsEnabled;

/** A file whose name holds a hash of what is in it. */
const hasHash = /-[\w-]{8}\.cjs$/;

const head = '(function (exports, require, module, __filename, __dirname) {';

/** @returns undefined where there is none. */
function read(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Whole on the disk before it has its name: V8 takes what it finds, and half of it would end the process. */
function write(file, data) {
  const part = `${file}.${process.pid}`;
  try {
    writeFileSync(part, data, { mode: 0o600, flush: true });
    renameSync(part, file);
  } catch {
    rmSync(part, { force: true });
  }
}

/** Loads the files of a program with the code that is kept of them in a folder, and keeps what is not there at the end. */
function keepCompiled(process, program, folder) {
  const compiled = [];
  const load = require.extensions['.js'];
  require.extensions['.cjs'] = (module, filename) => {
    if (dirname(filename) !== program || !hasHash.test(filename)) return load(module, filename);
    const file = join(folder, basename(filename));
    const cachedData = read(file);
    const source = `${head}${readFileSync(filename, 'latin1')}\n})`;
    const script = new Script(source, {
      filename,
      cachedData,
      columnOffset: -head.length,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (!cachedData || script.cachedDataRejected) compiled.push({ script, file });
    const own = (id) => module.require(id);
    script.runInThisContext().call(module.exports, module.exports, own, module, filename, program);
  };
  process.on('exit', () => {
    for (const { script, file } of compiled) write(file, script.createCachedData());
  });
}

/**
 * Uses the cache of the program in a folder, and makes it where there is none. Where no folder can be had, the start is only
 * slower.
 */
function useCompileCache(process, program) {
  const caches = cachesOf(process);
  if (!caches || isLeftToNode(process)) return;
  const own = join(caches, 'errand');
  const folder = join(own, `${process.version}-${process.arch}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isOwn(own, process)) keepCompiled(process, program, folder);
  } catch {
    // Read-only, full, or no folder at all.
  }
}

module.exports = { useCompileCache };
