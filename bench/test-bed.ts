import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atMost, median, type Row } from './table.ts';

const rounds = 21;
const door = fileURLToPath(new URL('../dist/sdk/sandbox.js', import.meta.url));

interface Times {
  readonly imported: number;
  readonly started: number;
  readonly delivered: number;
  readonly again: number;
}

/** A typical test in a separate process; each lap is ms since the previous one. */
const script = `
const { port } = JSON.parse(process.argv[1]);
const times = {};
let began = performance.now();
const lap = (name) => {
  times[name] = performance.now() - began;
  began = performance.now();
};
const { startSandbox } = await import(${JSON.stringify(door)});
lap('imported');
const sandbox = await startSandbox({ port, clock: 'frozen' });
lap('started');
const headers = { authorization: 'Bearer ' + sandbox.apiKey, 'content-type': 'application/json' };
const body = JSON.stringify(sandbox.exampleOrder);
const { id } = await (await sandbox.fetch('/orders', { method: 'POST', headers, body })).json();
await sandbox.advance('3d');
const order = await (await sandbox.fetch('/orders/' + id, { headers })).json();
if (order.tracking_numbers[0].status !== 'delivered') throw new Error('not delivered');
lap('delivered');
await (await startSandbox({ port })).close();
lap('again');
await sandbox.close();
console.log(JSON.stringify(times));
`;

function run(port: number | false): Times {
  const args = ['--input-type=module', '-e', script, JSON.stringify({ port })];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** How long a test waits for its sandbox: medians over separate processes. */
export async function measure(): Promise<Row[]> {
  const served = Array.from({ length: rounds }, () => run(0));
  const socketless = Array.from({ length: rounds }, () => run(false));
  const middle = (of: readonly Times[], each: (times: Times) => number): number => median(of.map(each));
  const whole = ({ imported, started }: Times): number => imported + started;
  return [
    atMost(
      'startSandbox(), the first of a process',
      middle(served, ({ started }) => started),
      150,
      'ms',
    ),
    atMost(
      'the same without a socket',
      middle(socketless, ({ started }) => started),
      150,
      'ms',
    ),
    { name: 'its import and startSandbox()', figure: `${middle(served, whole).toFixed(1)} ms` },
    atMost(
      'startSandbox() and close(), the next',
      middle(served, ({ again }) => again),
      150,
      'ms',
    ),
    {
      name: 'first order placed and delivered in it',
      figure: `${middle(socketless, ({ delivered }) => delivered).toFixed(1)} ms`,
    },
  ];
}
