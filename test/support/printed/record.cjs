// Loaded into each process that a test's workspace starts (NODE_OPTIONS): where it is the program and prints JSON, what it
// printed is kept for `check.ts`, also from within a pipe, a subshell or a terminal.
const { basename } = require('node:path');

const { argv, env } = process;
const wantsJson = argv.some((word) => word.includes('json')) || env.ERRAND_OUTPUT?.includes('json');
if (env.PRINTED_FOLDER && wantsJson && /^errand(\.js)?$/.test(basename(argv[1] ?? '')))
  record(env.PRINTED_FOLDER);

function record(folder) {
  const printed = { stdout: keep('stdout'), stderr: keep('stderr') };
  process.on('exit', (code) => {
    const { mkdirSync, renameSync, writeFileSync } = require('node:fs');
    const [stdout, stderr] = [printed.stdout(), printed.stderr()];
    try {
      mkdirSync(folder, { recursive: true });
      const name = `${folder}/${process.pid}-${process.hrtime.bigint()}`;
      const preset = env.ERRAND_OUTPUT ?? '';
      writeFileSync(`${name}.part`, JSON.stringify({ argv: argv.slice(2), preset, code, stdout, stderr }));
      renameSync(`${name}.part`, `${name}.json`);
    } catch {
      // The workspace is gone: its test is over.
    }
  });
}

/** More than this is no longer kept, bytes. */
const most = 8 * 1024 * 1024;

/**
 * Copies what is written to a stream, once the program has opened it: how it does that is its own affair. Its text; undefined where
 * its reader has gone, or there was too much.
 */
function keep(name) {
  const chunks = [];
  let size = 0;
  let stream;
  const { get, ...property } = Object.getOwnPropertyDescriptor(process, name);
  Object.defineProperty(process, name, { ...property, get: () => (stream ??= copied(get.call(process))) });
  return () =>
    size > most || stream?.errored || stream?.destroyed ? undefined : Buffer.concat(chunks).toString();

  function copied(opened) {
    const { write } = opened;
    opened.write = (chunk, ...more) => {
      size += chunk.length;
      if (size <= most) chunks.push(Buffer.from(chunk));
      return write.call(opened, chunk, ...more);
    };
    return opened;
  }
}
