#!/usr/bin/env node
// Starts the built program; a checkout that is not built runs its sources through tsx.
// CommonJS, as the built program is: Node starts it sooner than a module, and each of its files.
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const entry = entryFor(process.argv.slice(2));
const dist = join(__dirname, '..', 'dist');
const built = join(dist, `${entry}.cjs`);

/** A TAB, the version and the program's own help load nothing that runs a command. */
function entryFor([word = 'help', ...more]) {
  if (word === '__complete') return 'complete';
  const isQuick = more.length === 0 && ['--version', '-V', '--help', '-h', 'help'].includes(word);
  return isQuick ? 'quick' : 'main';
}

async function run() {
  if (process.env.NODE_DEBUG) {
    const { beginWithoutTraces, tracesSecrets } = require('./node-debug.js');
    if (tracesSecrets(process.env)) return beginWithoutTraces(process);
  }
  if (existsSync(built)) {
    if (entry === 'main') require('./compile-cache.js').useCompileCache(process, dist);
    return require(built).main(process);
  }
  (await import('tsx/esm/api')).register();
  const { main } = await import(`../src/${entry}.ts`);
  return main(process);
}

// What Node ends with where an await never settles; so does this, where nothing is left to wait for before `run` is done.
process.exitCode = 13;
run().then((code) => {
  process.exitCode = code;
});
