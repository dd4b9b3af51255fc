// V8's compiled code of this program, kept from one start to the next: a third of a start goes to compiling.
// Node's own cache (`module.enableCompileCache`) came with Node 22, and keeps less: only what is compiled when a file is
// loaded, not the functions that run first after that.
const {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { basename, dirname, isAbsolute, join } = require('node:path');
const { Script } = require('node:vm');

/** The folder of errand's caches; undefined where the environment names none. */
function cacheOf({ env, platform }) {
  const within = (path, ...names) => (path && isAbsolute(path) ? join(path, ...names) : undefined);
  // The journal lies beside it, in `errand/Data`.
  if (platform === 'win32') return within(env.LOCALAPPDATA, 'errand', 'Cache');
  const usual = platform === 'darwin' ? ['Library', 'Caches'] : ['.cache'];
  return within(env.XDG_CACHE_HOME, 'errand') ?? within(env.HOME, ...usual, 'errand');
}

/** Makes a folder. @returns whether it is this user's own, and nobody else may write there: what lies in it is run. */
function makeOwn(folder, { getuid, platform }) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) return false;
  return platform === 'win32' || (stats.uid === getuid() && (stats.mode & 0o022) === 0);
}

/**
 * Whether Node is to keep compiled code its own way, or needs to compile all of it: to count what runs, to map errors. What
 * else loads such files was put there before the start, to change them. Bun has no V8.
 */
const isLeftToNode = ({ env, sourceMapsEnabled, versions }) =>
  versions.bun !== undefined ||
  Boolean(env.NODE_COMPILE_CACHE || env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE) ||
  sourceMapsEnabled ||
  require.extensions['.cjs'] !== undefined;

/** Where compiled code holds a hash of V8's flags: it is refused where they are others. */
const flagsAt = 12;
const flagsOf = (code) => code.subarray(flagsAt, flagsAt + 4);
const flagsNow = () => flagsOf(new Script('').createCachedData());

/** One folder for each V8 that would refuse the code of another, or, of another build of its version, end the process. */
function nameFor({ arch, env, execArgv, execPath, version }) {
  const flags = execArgv.length > 0 || env.NODE_OPTIONS ? [flagsNow().toString('hex')] : [];
  const { mtimeMs, size } = statSync(execPath);
  return [version, arch, size, Math.trunc(mtimeMs), ...flags].join('-');
}

/** A file whose name holds a hash of what is in it. It has no `import()`, which kept code cannot do on Node 20. */
const hasHash = /-[\w-]{8}\.cjs$/;

const head = '(function (exports, require, module, __filename, __dirname) {';

/** A file as the function that Node makes of it, joined as bytes: to join texts would fill V8's young generation. */
const asFunction = (filename) =>
  Buffer.concat([Buffer.from(head), readFileSync(filename), Buffer.from('\n})')]).latin1Slice();

/**
 * The code that a file holds, twice: V8 takes what it finds, and a wrong byte would end the process. To compare the two takes
 * less than to load what computes a checksum. @returns undefined where there is none, or not as it was written.
 */
function read(file) {
  try {
    const twice = readFileSync(file);
    const code = twice.subarray(0, twice.length / 2);
    return code.equals(twice.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Under its name once it is whole. In a container another process may have the same number. */
function write(file, code) {
  const part = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  try {
    writeFileSync(part, Buffer.concat([code, code]), { mode: 0o600, flag: 'wx' });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** What was written longer ago may be of a version that is gone, ms; of one that is there it is soon written again. */
const keptMs = 30 * 24 * 3600 * 1000;

/** What this file may have written, by its name: whatever else lies in a user's caches is not ours to remove. */
const ofVersion = /^v\d+\.\d+\.\d+-/;
const ofCode = /-[\w-]{8}\.cjs(?:\.\d+-\w+)?$/;

function removeOld(own) {
  const folders = readdirSync(own, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && ofVersion.test(entry.name),
  );
  for (const folder of folders.map(({ name }) => join(own, name)))
    for (const file of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, file.name);
      const isOurs = file.isFile() && ofCode.test(file.name);
      if (isOurs && lstatSync(path).mtimeMs < Date.now() - keptMs) rmSync(path, { force: true });
    }
}

/** Loads the files of a program with the code that is kept of them in a folder, and keeps what is not there at the end. */
function keepCompiled(process, program, folder) {
  const compiled = [];
  const load = require.extensions['.js'];
  // The program sets flags while it runs, none of which changes compiled code; how much it has loaded by then depends on how
  // fast the machine is. All code is kept under the flags of the start, and is loaded under those that V8 has by then.
  let flagsAtStart;
  let flags;
  let isFlagSet = false;
  process.on('errand:v8-flag', () => {
    isFlagSet = true;
  });
  require.extensions['.cjs'] = (module, filename) => {
    if (dirname(filename) !== program || !hasHash.test(filename)) return load(module, filename);
    const file = join(folder, basename(filename));
    const cachedData = read(file);
    if (isFlagSet) flags = flagsNow();
    isFlagSet = false;
    if (cachedData) flags?.copy(cachedData, flagsAt);
    const script = new Script(asFunction(filename), {
      filename,
      cachedData,
      columnOffset: -head.length,
    });
    const isNew = !cachedData || script.cachedDataRejected;
    if (isNew) compiled.push({ script, file });
    flagsAtStart ??= isNew ? flagsNow() : Buffer.from(flagsOf(cachedData));
    const own = (id) => module.require(id);
    script.runInThisContext().call(module.exports, module.exports, own, module, filename, program);
  };
  process.on('exit', () => {
    try {
      for (const { script, file } of compiled) {
        const code = script.createCachedData();
        // A V8 that holds its flags elsewhere has something else here, and is left alone.
        if (flagsOf(code).equals(flagsNow())) flagsAtStart.copy(code, flagsAt);
        write(file, code);
      }
      if (compiled.length > 0) removeOld(dirname(folder));
    } catch {
      // A full disk, or a folder that is gone: what is not kept is compiled again.
    }
  });
}

/**
 * Uses the cache of the program in a folder, and makes it where there is none. Where no folder can be had, the start is only
 * slower.
 */
function useCompileCache(process, program) {
  const own = cacheOf(process);
  if (!own || isLeftToNode(process)) return;
  try {
    const folder = join(own, nameFor(process));
    if (makeOwn(own, process) && makeOwn(folder, process)) keepCompiled(process, program, folder);
  } catch {
    // Read-only, full, or no folder at all.
  }
}

module.exports = { useCompileCache };
