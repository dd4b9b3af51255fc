import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { aimOf } from './other-node.ts';
import { program } from './program.ts';
import { median, type Row, spell, timeBeside } from './table.ts';

/** Runs per command, interleaved so that background load affects all alike. */
const rounds = 25;

export interface Command {
  readonly name: string;
  readonly file?: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Multiple of `node -e 0`. */
  readonly aim?: number;
}

export const nothing: Command = { name: 'node -e 0', args: ['-e', '0'] };

/** Start-up time of commands that do no I/O waits, against bare Node. */
export async function measure(folder: string): Promise<Row[]> {
  const env = { ERRAND_CONFIG_DIR: join(folder, 'config'), ERRAND_STATE_DIR: join(folder, 'state') };
  const own = (name: string, args: readonly string[], aim?: number): Command => ({
    name,
    args: [program, ...args],
    env,
    ...(aim !== undefined && { aim }),
  });
  // Data for completion: a key, an address and orders in the embedded sandbox.
  const product = 'http://127.0.0.1:4848/shop/test-never';
  time(own('', ['order', 'create', '--product', product, '--max-price', '$0.10', '--ship-to', 'home']));
  const standing = { ...env, ERRAND_CONFIG_DIR: join(folder, 'recurring') };
  // Adding one asks a service for its time, and a run with nothing due asks none.
  time({ ...own('', ['standing', 'add', 'coffee', ...distantOrder]), env: standing });
  const nowhere = { ERRAND_BASE_URL: 'http://127.0.0.1:9', ERRAND_API_KEY: 'sbx_test_0' };
  const recurring = (name: string, args: readonly string[]): Command => ({
    ...own(name, args),
    env: { ...standing, ...nowhere },
  });
  const path = recurring('errand config path', ['config', 'path']);
  const idle = recurring('errand standing run, nothing due', ['standing', 'run']);
  const rows = besideNode([
    own('errand --version', ['--version'], aimOf({ on20: 1.12, on24: 1.15 })),
    own('errand --help', ['--help'], aimOf({ on20: 1.25, on24: 1.35 })),
    own(
      'a TAB: errand order list --',
      ['__complete', '--', 'order', 'list', '--'],
      aimOf({ on20: 1.2, on24: 1.25 }),
    ),
    own(
      'a TAB: errand order get',
      ['__complete', '--', 'order', 'get', ''],
      aimOf({ on20: 1.25, on24: 1.3 }),
    ),
    own('errand order --help', ['order', '--help']),
    own('errand config path', ['config', 'path']),
  ]);
  const [pathMs = 0, idleMs = 0] = inTurn([path, idle]);
  return [...rows, timeBeside(idle.name, idleMs, { name: path.name, ms: pathMs }, 1.2)];
}

/** A standing order whose first date is years away. */
const distantOrder = [
  ...[
    '--product',
    'https://shop.example/a',
    '--max-price',
    '$50',
    '--every',
    '1mo',
    '--starts',
    '2090-01-01',
  ],
  ...[
    '--first-name',
    'Ada',
    '--last-name',
    'Example',
    '--address-line1',
    '100 Congress Avenue',
    '--city',
    'Austin',
  ],
  ...['--state', 'TX', '--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100'],
];

/** Median times in ms over interleaved runs; excludes the first run of each, which reads the program from disk. */
export function inTurn(commands: readonly Command[]): number[] {
  for (const command of commands) time(command);
  const times = commands.map(() => [] as number[]);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, command] of commands.entries()) times[index]?.push(time(command));
  }
  return times.map(median);
}

/** Compares each command with bare Node. */
function besideNode(commands: readonly Command[]): Row[] {
  const [bare = 0, ...own] = inTurn([nothing, ...commands]);
  return [
    { name: nothing.name, figure: spell(bare) },
    ...commands.map(({ name, aim }, index) =>
      timeBeside(name, own[index] ?? 0, { name: nothing.name, ms: bare }, aim),
    ),
  ];
}

function time({ file = process.execPath, args, env }: Command): number {
  const started = process.hrtime.bigint();
  const { status, stderr } = spawnSync(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return Number(process.hrtime.bigint() - started) / 1e6;
}
