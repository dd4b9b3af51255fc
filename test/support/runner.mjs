// Runs command lines of the built program one after another in this process, as if each had one of its own: its arguments,
// environment, folder, streams, pid and exit code. A run is over when nothing is left that would keep a process alive.
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { dirname } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setImmediate as soon } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

const entry = fileURLToPath(new URL('../../dist/main.cjs', import.meta.url));
const dist = dirname(entry);
const home = process.cwd();
const { exit } = process;
const { cache, extensions } = createRequire(import.meta.url);

/** The program's files as V8 has compiled them: each run evaluates them, and compiles none again. */
const scripts = new Map();
const head = '(function (exports, require, module, __filename, __dirname) {';
const loadOther = extensions['.js'];
extensions['.cjs'] = (module, filename) => {
  // Only the files whose names hold a hash have no `import()`, which a script cannot do.
  if (dirname(filename) !== dist || !/-[\w-]{8}\.cjs$/.test(filename)) return loadOther(module, filename);
  const script =
    scripts.get(filename) ??
    new Script(`${head}${readFileSync(filename, 'latin1')}\n})`, { filename, columnOffset: -head.length });
  scripts.set(filename, script);
  const own = (id) => module.require(id);
  script.runInThisContext().call(module.exports, module.exports, own, module, filename, dist);
};

/** So many runs have the same modules: what a module keeps until its process ends must not hide a fault of the next runs. */
const maxRuns = 40;
let runs = 0;

/** @param isNew whether the run must have modules that no other has run. */
function load(isNew) {
  const files = Object.keys(cache).filter((file) => dirname(file) === dist);
  runs += 1;
  // undici goes on with its timers where it has stopped.
  if (isNew || runs > maxRuns || files.some((file) => file.includes('undici'))) {
    for (const file of files) delete cache[file];
    runs = 1;
  }
  return createRequire(import.meta.url)(entry);
}

/** What ends with a process though it keeps none alive. */
const timers = new Set();
const sockets = new Set();
for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
  const set = globalThis[name];
  const remembered = (...args) => {
    const timer = set(...args);
    timers.add(timer);
    return timer;
  };
  globalThis[name] = Object.defineProperties(remembered, Object.getOwnPropertyDescriptors(set));
}
for (const side of ['client', 'server']) subscribe(`net.${side}.socket`, ({ socket }) => sockets.add(socket));

function endRest() {
  for (const timer of timers) {
    clearTimeout(timer);
    clearImmediate(timer);
  }
  timers.clear();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
}

/** Open files of this process between two runs, where there is a /proc. */
let openFiles = 0;
const openFilesNow = () => {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
};

/** A database that the program has closed is open, with its locks, as long as one of its statements is there. */
async function closeDatabases() {
  gc({ type: 'minor' });
  await soon();
  if (openFilesNow() <= openFiles) return;
  gc();
  await soon();
  openFiles = openFilesNow();
}

/** What a preload or the program may put its own in place of, as it was before the first run. */
const originals = [globalThis, Date, performance, process, crypto, os].map((object) => ({
  object,
  properties: Object.getOwnPropertyDescriptors(object),
}));

function restoreGlobals() {
  for (const { object, properties } of originals) {
    for (const [name, now] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      const before = properties[name];
      if (before === undefined) delete object[name];
      else if (now.value !== before.value || now.get !== before.get)
        Object.defineProperty(object, name, before);
    }
  }
  syncBuiltinESMExports();
}

/** Listens before the first run, and is not the run's to take away. */
const listeners = new Map();
const listenersNow = () => new Map(process.eventNames().map((name) => [name, process.rawListeners(name)]));

function restoreListeners() {
  for (const [name, now] of listenersNow())
    for (const listener of now)
      if (!listeners.get(name)?.includes(listener)) process.removeListener(name, listener);
}

function sink() {
  const chunks = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

const show = (name, value) => Object.defineProperty(process, name, { configurable: true, value });

/**
 * Processes that do nothing. Each lives while a run does, and lends it its pid: whoever finds that in a journal, in this
 * process or in another, sees by it whether the run has ended. The one before has ended when the next begins.
 */
const lend =
  'end() { kill -9 $pid && wait $pid; }; while read -r; do end; sleep 1d >&- & pid=$!; echo $pid; done; end';
const standIns = spawn('bash', ['-c', `trap : PIPE; ${lend}`], { stdio: ['pipe', 'pipe', 'ignore'] });
for (const handle of [standIns, standIns.stdin, standIns.stdout]) handle.unref();
const nextStandIn = async () => {
  standIns.stdin.write('\n');
  return Number(await new Promise((resolve) => standIns.stdout.once('data', resolve)));
};

let standIn;
/** Whether the modules have run with what a preload has put in place of a part of Node. */
let hadPreloads = false;

/** The run that goes on; undefined between two. */
let run;

function begin({ argv, file = 'errand', folder, env, stdin, columns, preloads = [] }) {
  const [out, err] = [sink(), sink()];
  if (columns) Object.assign(out.stream, { isTTY: true, columns, rows: 40 });
  run = { out, err, usage: process.cpuUsage() };
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(folder ?? home);
  show('argv', [process.execPath, file, ...argv]);
  const input = new Readable({ read() {} });
  input.push(stdin);
  input.push(null);
  show('stdin', input);
  show('stdout', out.stream);
  show('stderr', err.stream);
  show('pid', standIn);
  process.exit = (code) => {
    process.exitCode = code;
    finish({ isSpent: true });
    throw new Error('the program has ended itself');
  };
  // As `bin/errand.js` has it.
  process.exitCode = 13;
  process.channel.unref();
  for (const preload of preloads) {
    delete cache[preload];
    createRequire(import.meta.url)(preload);
  }
  // A preload is the start's own, and so is what a process has learned of a database that machines share.
  const isNew = preloads.length > 0 || hadPreloads || env.ERRAND_DATABASE_URL !== undefined;
  hadPreloads = preloads.length > 0;
  load(isNew)
    .main(process)
    .then((code) => {
      process.exitCode = code;
    }, crash);
}

function crash(error) {
  // What comes when the run is over, a process would not have lived to see.
  if (run) finish({ crash: String(error?.stack ?? error) });
}

async function finish(ended) {
  const { out, err, usage } = run;
  run = undefined;
  process.channel.ref();
  const code = process.exitCode ?? 0;
  process.emit('exit', code);
  process.exitCode = undefined;
  restoreListeners();
  restoreGlobals();
  endRest();
  process.chdir(home);
  const { user, system } = process.cpuUsage(usage);
  const answer = { code, ...ended, busyMs: (user + system) / 1000, stdout: out.text(), stderr: err.text() };
  // What has been closed says so meanwhile.
  await closeDatabases();
  standIn = await nextStandIn();
  process.send(answer);
}

process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
process.on('warning', (warning) => run?.err.stream.write(`${warning.stack}\n`));
// Nothing is left to wait for.
process.on('beforeExit', () => run && finish());
process.on('disconnect', () => exit());
process.on('message', (line) => {
  try {
    begin(line);
  } catch (error) {
    crash(error);
  }
});
for (const [name, before] of listenersNow()) listeners.set(name, before);
standIn = await nextStandIn();
process.send({ ready: true });
