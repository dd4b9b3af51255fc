// Loaded into a measured process: writes the most memory that it had, bytes, and its processor time, ms, into the file that BENCH_PEAK names.
const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env.BENCH_PEAK, `${Number(peak) * 1024} ${(user + system) / 1000}`);
});
