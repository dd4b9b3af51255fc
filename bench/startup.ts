/** Start-up as a ratio to bare Node in the same run: medians of interleaved runs. Prints a table, writes nothing. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../bin/errand.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'));
const env = {
  ...process.env,
  ERRAND_CONFIG_DIR: join(folder, 'config'),
  ERRAND_STATE_DIR: join(folder, 'state'),
};
const rounds = Number(process.argv[2] ?? 25);

interface Row {
  readonly name: string;
  readonly args: readonly string[];
  readonly aim?: number;
}

const rows: readonly Row[] = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'errand --version', args: [program, '--version'], aim: 1.25 },
  { name: 'errand --help', args: [program, '--help'], aim: 1.35 },
  {
    name: 'a TAB: errand order list --',
    args: [program, '__complete', '--', 'order', 'list', '--'],
    aim: 1.35,
  },
  { name: 'a TAB: errand order get', args: [program, '__complete', '--', 'order', 'get', ''], aim: 1.35 },
  { name: 'errand order --help', args: [program, 'order', '--help'] },
  { name: 'errand config path', args: [program, 'config', 'path'] },
  { name: 'errand wallet -o json (embedded)', args: [program, 'wallet', '-o', 'json'] },
];

function time(args: readonly string[]): number {
  const started = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return Number(process.hrtime.bigint() - started) / 1e6;
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

try {
  // Something to complete: a key, an address and orders in the embedded sandbox.
  const product = 'http://127.0.0.1:4848/shop/test-never';
  time([program, 'order', 'create', '--product', product, '--max-price', '$0.10', '--ship-to', 'home']);
  for (const { args } of rows) time(args);
  const times = rows.map(() => [] as number[]);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { args }] of rows.entries()) times[index]?.push(time(args));
  }
  const bare = median(times[0] ?? []);
  console.log(
    `start-up, medians of ${rounds} interleaved runs; Node ${process.version}, ${cpus()[0]?.model}`,
  );
  for (const [index, { name, aim }] of rows.entries()) {
    const own = median(times[index] ?? []);
    const ratio = (own / bare).toFixed(2);
    console.log(`${name.padEnd(36)} ${own.toFixed(1).padStart(7)} ms  ${ratio}x${aim ? `  aim ${aim}` : ''}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
