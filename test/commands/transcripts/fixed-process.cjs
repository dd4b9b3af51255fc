// Loaded before the program: what differs from one run of a process to the next stands still.
const crypto = require('node:crypto');
const { fstatSync } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const os = require('node:os');

const { GOLDEN_NOW, GOLDEN_STEP = '0' } = process.env;
/** Time moves only by waiting: a timer that the process waits for takes the clock along when it fires. */
if (GOLDEN_NOW !== undefined) {
  let now = Number(GOLDEN_NOW);
  Date.now = () => now;
  // What is measured without a clock that can be set stands still with it.
  Object.defineProperty(performance, 'now', { configurable: true, value: () => now - Number(GOLDEN_NOW) });
  const elapsed = () => [
    Math.floor((now - Number(GOLDEN_NOW)) / 1e3),
    ((now - Number(GOLDEN_NOW)) % 1e3) * 1e6,
  ];
  process.hrtime = Object.assign(elapsed, { bigint: process.hrtime.bigint });
  globalThis.Date = class extends Date {
    constructor(...parts) {
      super(...(parts.length === 0 ? [now] : parts));
    }
  };
  const setTimer = globalThis.setTimeout;
  // One that hands over a value only gives up on something else: whether it fires, the load of the machine decides.
  const setClockTimer = (callback, ms = 0, ...values) => {
    const due = now + ms;
    const timer = setTimer(() => {
      if (timer.hasRef() && values.length === 0) now = Math.max(now, due);
      callback(...values);
    }, ms);
    return timer;
  };
  globalThis.setTimeout = Object.assign(setClockTimer, setTimer);
}

let drawn = 0;
const digest = (length) => {
  drawn += 1;
  const name = `${GOLDEN_STEP} ${drawn}`;
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, block) =>
    crypto.createHash('sha256').update(`${name} ${block}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
};
crypto.randomBytes = digest;
crypto.randomUUID = () => {
  const hex = digest(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
};
os.hostname = () => 'laptop';
os.userInfo = () => ({ username: 'ada' });
syncBuiltinESMExports();

// Lists stand as most terminals show them; the help, of which the global options are a part that is kept once, has more room.
const columns = process.argv.includes('--help') ? 100 : 80;
// What the transcript shows is a terminal's; a pipe of the shell or a file is none. Node gives its children sockets.
// In BigInts: Node takes the last numbers for those of a folder that it knows, and would not follow the link to the program.
if (fstatSync(1, { bigint: true }).isSocket())
  Object.assign(process.stdout, { isTTY: true, columns, rows: 40 });
