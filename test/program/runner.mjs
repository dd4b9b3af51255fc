// Runs command lines of the built program one after another in this process, each with streams and surroundings of its
// own: thousands of answers are tried in the time that a few hundred processes would take.
import { EventEmitter } from 'node:events';
import { Readable, Writable } from 'node:stream';

const { main } = await import(new URL('../../dist/main.cjs', import.meta.url).href);

/** Why the line that runs now has failed outside of its own promise. */
let fail = () => {};
process.on('uncaughtException', (error) => fail(error));
process.on('unhandledRejection', (error) => fail(error));

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

/** What `main` takes for the process that it runs in. */
function surroundings({ argv, env, stdin, columns }) {
  const [out, err] = [sink(), sink()];
  if (columns) Object.assign(out.stream, { isTTY: true, columns, rows: 40 });
  const fake = Object.assign(new EventEmitter(), {
    argv: ['node', 'errand', ...argv],
    env,
    platform: process.platform,
    pid: process.pid,
    stdin: Object.assign(Readable.from([stdin]), { isTTY: false }),
    stdout: out.stream,
    stderr: err.stream,
  });
  return { fake, out, err };
}

process.on('message', async ({ limitMs, ...line }) => {
  const { fake, out, err } = surroundings(line);
  const started = process.cpuUsage();
  const ended = await new Promise((resolve) => {
    const timer = setTimeout(
      () => resolve({ code: null, crash: `still running after ${limitMs} ms` }),
      limitMs,
    );
    fail = (error) => resolve({ code: null, crash: String(error?.stack ?? error) });
    const settle = (outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    main(fake).then(
      (code) => settle({ code }),
      (error) => settle({ code: null, crash: String(error?.stack ?? error) }),
    );
  });
  const { user, system } = process.cpuUsage(started);
  process.send({ ...ended, busyMs: (user + system) / 1000, stdout: out.text(), stderr: err.text() });
});
process.send({ ready: true });
