// Loaded before each command of the generator: whose machine it is, and a process that no other machine has.
const { readFileSync } = require('node:fs');
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const os = require('node:os');

os.hostname = () => 'workshop';
os.userInfo = () => ({ username: 'ada', uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 });
// Beyond the pids that any system gives; when it has started is real.
const pid = 2_000_000_000 + (process.pid % 100_000_000);
Object.defineProperty(process, 'pid', { value: pid });
fs.readFileSync = (path, ...more) =>
  readFileSync(path === `/proc/${pid}/stat` ? '/proc/self/stat' : path, ...more);
syncBuiltinESMExports();
