// Loaded into a measured process: tells the most memory it had, bytes, in the file that BENCH_PEAK names.
const { readFileSync, writeFileSync } = require('node:fs');

process.on('exit', () => {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  writeFileSync(process.env.BENCH_PEAK, String(Number(peak) * 1024));
});
