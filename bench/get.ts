import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { aimOf } from './other-node.ts';
import { bare, program } from './program.ts';
import { createOrder, fillWallet, startSandbox } from './sandbox.ts';
import { type Command, inTurn, nothing } from './startup.ts';
import { type Row, spell, timeBeside } from './table.ts';

const listed = 20;

const has = (name: string): boolean => spawnSync(name, ['--version']).status === 0;

/**
 * Reads one order, served and embedded, and lists orders. Compares with bare Node, with other HTTP tools, and with a
 * script that does one bare `fetch` of the same URL and prints it, which is the lower bound for a read.
 */
export async function measure(folder: string): Promise<Row[]> {
  const sandbox = await startSandbox(folder);
  try {
    await fillWallet(sandbox);
    let id = '';
    for (let made = 0; made < listed; made += 1) id = await createOrder(sandbox);
    const env = {
      ERRAND_CONFIG_DIR: join(folder, 'own', 'config'),
      ERRAND_STATE_DIR: join(folder, 'own', 'state'),
    };
    const product = 'http://127.0.0.1:4848/shop/test-success';
    const made = [
      'order',
      'create',
      '--product',
      product,
      '--max-price',
      '$99',
      '--ship-to',
      'home',
      '-o',
      'id',
    ];
    const embedded = spawnSync(process.execPath, [program, ...made], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    }).stdout.trim();
    const url = `${sandbox.baseUrl}/orders/${id}`;
    const { authorization = '' } = sandbox.headers;
    const header = `authorization: ${authorization}`;
    const fetching = (name: string, address: string): Command => ({
      name,
      args: [bare('fetch.mjs'), address, authorization],
    });
    const own = (
      name: string,
      args: readonly string[],
      environment: NonNullable<Command['env']>,
    ): Command => ({
      name,
      args: [program, 'order', ...args],
      env: environment,
    });
    const others: Command[] = [
      { name: 'curl', file: 'curl', args: ['-sf', url, '-H', header] },
      { name: 'gh api (its own record)', file: 'gh', args: ['api', url, '-H', header] },
    ].filter(({ file }) => has(file));
    const commands = [
      nothing,
      fetching('a script of one bare fetch', url),
      fetching(`a script of one bare fetch of ${listed} orders`, `${sandbox.baseUrl}/orders?limit=${listed}`),
      own('errand order get ID -o json, served', ['get', id, '-o', 'json'], sandbox.env),
      own('errand order get ID -o json, embedded', ['get', embedded, '-o', 'json'], env),
      own(
        `errand order list -o table, ${listed} orders, served`,
        ['list', '--limit', String(listed), '-o', 'table'],
        sandbox.env,
      ),
      ...others,
    ];
    const times = inTurn(commands);
    const at = (index: number) => ({ name: commands[index]?.name ?? '', ms: times[index] ?? 0 });
    const beside = (index: number, other: number, aim?: number): Row =>
      timeBeside(at(index).name, at(index).ms, at(other), aim);
    return [
      { name: nothing.name, figure: spell(at(0).ms) },
      beside(1, 0),
      beside(2, 0),
      beside(3, 1, aimOf({ on20: 0.75, on24: 1 })),
      beside(4, 1, aimOf({ on20: 0.8, on24: 1.1 })),
      beside(5, 2, aimOf({ on20: 0.95, on24: 1.35 })),
      beside(3, 0),
      beside(4, 0),
      beside(5, 0),
      ...others.map((_, index) => beside(6 + index, 0)),
    ];
  } finally {
    await sandbox.stop();
  }
}
