import { expect, test } from 'vitest';
import { exitCodes } from '../../src/platform/errors.ts';
import { knownCommands } from '../support/known-commands.ts';
import { errand, type Finished, spawned } from '../support/run.ts';
import { lose, type Shopping, shopping } from '../support/shopping.ts';
import { makeWorkspace } from '../support/workspace.ts';

// Most tests run the program in a process that runs one command after another: a start of its own prints the same.

test.each((await knownCommands()).map(({ path }) => path))('errand %s --help', async (path) => {
  const workspace = makeWorkspace();
  try {
    const args = [...path.split(' '), '--help'];
    const start = await spawned(workspace, args);
    expect(start).toMatchObject({ code: 0, stderr: '' });
    expect(await errand(workspace, args)).toEqual(start);
  } finally {
    workspace.remove();
  }
});

const create = ['order', 'create', '--file', 'order.json', '--retries', '0'];
const nobody = '00000000-0000-4000-8000-000000000001';

/** A line that ends with each code; what only a signal or a full disk brings about is in tests of its own. */
const endings: readonly (readonly [
  keyof typeof exitCodes | 'success',
  readonly string[],
  ((shop: Shopping) => unknown)?,
])[] = [
  ['success', ['order', 'list', '-o', 'json']],
  ['success', ['wallet']],
  ['usage', ['order', 'list', '--colour', 'red']],
  [
    'authentication',
    ['wallet'],
    ({ workspace }) => Object.assign(workspace.environment, { ERRAND_API_KEY: 'x' }),
  ],
  ['not_found', ['order', 'get', nobody, '-o', 'json']],
  ['conflict', create, (shop) => shop.order()],
  ['payment', [...create, '--max-price', '$9000']],
  ['deadline', ['webhook', 'wait', '--order', nobody, '--event', 'request_succeeded', '--timeout', '1ms']],
  ['unavailable', ['wallet', '--base-url', 'http://127.0.0.1:9', '--retries', '0']],
  ['in_doubt', [...create, '--new'], (shop) => lose(shop, 'reset-after', 'reset-after')],
];

/** Replaces ids and ages, which differ between two runs. */
const alike = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[\w-]+/g, 'ID')
    .replaceAll(/\bjust now\b|\bnow\b|\b\d+[sm] ago\b/g, 'AGE');

const withoutIds = ({ stdout, stderr, ...ended }: Finished) => ({
  ...ended,
  stdout: alike(stdout),
  stderr: alike(stderr),
});

test.for(endings)('%s: %j', async ([name, args, prepare]) => {
  const shop = await shopping();
  await prepare?.(shop);
  const start = await spawned(shop.workspace, args);
  expect(start.code, start.stderr).toBe(name === 'success' ? 0 : exitCodes[name]);
  expect(withoutIds(await errand(shop.workspace, args))).toEqual(withoutIds(start));
});
