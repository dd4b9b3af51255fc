/**
 * `npx tsx test/costs.ts [file or folder ...]` runs each test file alone and prints a table: CPU time, including
 * child processes, and idle wait. Needs an otherwise idle machine.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = join(root, 'node_modules/vitest/vitest.mjs');

interface Cost {
  readonly file: string;
  readonly tests: number;
  readonly failed: number;
  readonly seconds: number;
  readonly processorSeconds: number;
}

/** Test files `vitest list` finds for these arguments. */
async function filesFor(words: readonly string[]): Promise<string[]> {
  const { stdout } = await run([vitest, 'list', ...words, '--filesOnly', '--json']);
  const found: { file: string }[] = JSON.parse(stdout);
  return [...new Set(found.map(({ file }) => file.slice(root.length)))].toSorted();
}

async function costOf(file: string, folder: string): Promise<Cost> {
  const report = join(folder, 'report.json');
  const times = join(folder, 'times');
  const began = performance.now();
  await run([vitest, 'run', file, '--reporter=json', `--outputFile=${report}`], times);
  const { numTotalTests: tests, numFailedTests: failed } = JSON.parse(readFileSync(report, 'utf8'));
  return {
    file,
    tests,
    failed,
    seconds: (performance.now() - began) / 1000,
    processorSeconds: processorSeconds(readFileSync(times, 'utf8')),
  };
}

/** Runs Node. @param times file to which bash writes the CPU times of the process and its waited-for children. */
function run(args: readonly string[], times?: string): Promise<{ stdout: string }> {
  const measured = 'exec 3>"$TIMES"; { time "$@" 2>&4; } 4>&2 2>&3';
  const words = [process.execPath, ...args];
  const [command = '', ...rest] = times === undefined ? words : ['bash', '-c', measured, 'bash', ...words];
  const child = spawn(command, rest, {
    cwd: root,
    env: { ...process.env, TIMES: times, TIMEFORMAT: '%U %S' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve({ stdout }));
  });
}

const processorSeconds = (times: string): number =>
  times
    .trim()
    .split(' ')
    .reduce((sum, part) => sum + Number(part), 0);

/** Lower bound on idle time: elapsed minus CPU time. */
const waitSeconds = ({ seconds, processorSeconds }: Cost): number => Math.max(0, seconds - processorSeconds);

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const row = (cost: Cost): string =>
  line([
    cost.file.replace(/^test\//, ''),
    String(cost.tests),
    cost.processorSeconds.toFixed(1),
    waitSeconds(cost).toFixed(1),
    cost.failed > 0 ? `${cost.failed} failed` : '',
  ]);

const folder = mkdtempSync(join(tmpdir(), 'errand-costs-'));
try {
  console.log(
    [line(['file', 'tests', 'processor, s', 'wait, s', '']), line(Array(5).fill('---'))].join('\n'),
  );
  const sum = { tests: 0, failed: 0, seconds: 0, processorSeconds: 0 };
  for (const file of await filesFor(process.argv.slice(2))) {
    const cost = await costOf(file, folder);
    console.log(row(cost));
    for (const name of ['tests', 'failed', 'seconds', 'processorSeconds'] as const) sum[name] += cost[name];
  }
  console.log(row({ ...sum, file: 'all' }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
