// Node's own traces (NODE_DEBUG) print headers, addresses with their passwords, and the environment of child processes.

/** Those that print what passes through a program; a star may name any of them. */
const telling = /^(?:https?|http2|net|tls|stream|undici|fetch|websocket|child_process|worker|.*\*.*)$/i;

/** Whether Node was asked to trace what may be secret. */
const tracesSecrets = ({ NODE_DEBUG = '' }) =>
  NODE_DEBUG.split(',').some((name) => telling.test(name.trim()));

/**
 * Begins again without the traces. Node has read the variable before it runs any program, so it cannot be taken back;
 * where this process cannot become another one, it ends. @returns the exit code.
 */
function beginWithoutTraces(process) {
  const { NODE_DEBUG: name, ...environment } = process.env;
  const why = `NODE_DEBUG=${name} makes Node print keys and passwords`;
  if (typeof process.execve !== 'function' || process.platform === 'win32') {
    process.stderr.write(`error: ${why}\nhint: Unset it; --debug traces requests without secrets.\n`);
    return 2;
  }
  process.stderr.write(`warning: ${why}, so it is left out; --debug traces requests without secrets\n`);
  // It says that it is experimental, which is no business of a user of errand.
  process.emitWarning = () => {};
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    environment,
  );
  return 1;
}

module.exports = { beginWithoutTraces, tracesSecrets };
