import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { program } from './program.ts';
import { createOrder, startSandbox } from './sandbox.ts';
import { besideNode, type Command } from './startup.ts';
import type { Row } from './table.ts';

const has = (name: string): boolean => spawnSync(name, ['--version']).status === 0;

/** One order read: served and embedded, beside bare Node, and what else reads one record over HTTP. */
export async function measure(folder: string): Promise<Row[]> {
  const sandbox = await startSandbox(folder);
  try {
    const id = await createOrder(sandbox);
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
    const header = `authorization: ${sandbox.headers.authorization}`;
    const others: Command[] = [
      { name: 'curl', file: 'curl', args: ['-sf', url, '-H', header] },
      { name: 'gh api (its own record)', file: 'gh', args: ['api', url, '-H', header] },
    ].filter(({ file }) => has(file));
    return besideNode([
      {
        name: 'errand order get ID -o json, served',
        args: [program, 'order', 'get', id, '-o', 'json'],
        env: sandbox.env,
        aim: 2.2,
      },
      {
        name: 'errand order get ID -o json, embedded',
        args: [program, 'order', 'get', embedded, '-o', 'json'],
        env,
        aim: 2.6,
      },
      ...others,
    ]);
  } finally {
    await sandbox.stop();
  }
}
