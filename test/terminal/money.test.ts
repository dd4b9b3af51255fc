import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { untilIdle } from '../support/idle.ts';
import { orderBody } from '../support/order-body.ts';
import { json, peer } from '../support/peer.ts';
import type { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { type LiveService, openLiveService } from './live.ts';
import { useTerminals } from './terminals.ts';

let service: LiveService;
let workspace: Workspace;

beforeEach(async () => {
  service = await openLiveService();
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify(orderBody(service.sandbox.product('test-success'))),
  );
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});
const terminalOf = useTerminals(() => workspace);

function open(...args: string[]): Terminal {
  return terminalOf('errand', args);
}

const ordersSent = () => service.sent.filter(({ method }) => method === 'POST');

describe('the question about real money', () => {
  const create = ['order', 'create', '--file', 'order.json'];

  test('yes places the order, and Enter alone does not', async () => {
    const refused = open(...create);
    await refused.shows('(y/N)');
    refused.type('\r');
    expect(await refused.ended()).toBe(130);
    expect(ordersSent()).toEqual([]);
    const agreed = open(...create);
    await agreed.shows('(y/N)');
    agreed.type('y\r');
    expect(await agreed.ended()).toBe(0);
    expect(ordersSent()).toHaveLength(1);
  });

  test('a policy that comes while it stands is followed', async () => {
    const asked = open(...create);
    await asked.shows('(y/N)');
    mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(workspace.folder, '.config', 'policy.yaml'),
      'version: 1\nlimits: { per_order: $50 }\n',
      {
        mode: 0o600,
      },
    );
    asked.type('y\r');
    expect(await asked.ended()).toBe(11);
    expect(asked.text.replace(/\s+/g, ' ')).toContain('$51.00 is more than $50.00 for an order');
    expect(ordersSent()).toEqual([]);
  });

  test.each([['y\r'], ['y'], ['\r\ry\r\r']])(
    'what was typed before it appeared is no answer to it: %j',
    async (keys) => {
      const terminal = open(...create);
      terminal.type(keys);
      await terminal.shows('(y/N)');
      await untilIdle(terminal.pid);
      expect(ordersSent()).toEqual([]);
      terminal.type('\r');
      expect(await terminal.ended()).toBe(130);
      expect(terminal.text).toContain('nothing was ordered');
      expect(ordersSent()).toEqual([]);
    },
  );

  test.each([
    [['--no-input', ...create]],
    [['order', '--no-input', 'create', '--file', 'order.json']],
    [[...create, '--no-input']],
  ])('--no-input asks nobody, wherever it stands: errand %j', async (args) => {
    const terminal = open(...args);
    expect(await terminal.ended()).toBe(2);
    expect(terminal.text).toContain('pass --yes to confirm, because --no-input is given');
    expect(ordersSent()).toEqual([]);
  });
});

test.each([
  ['order_fee_cents', -5],
  ['order_fee_cents', 1.5],
  ['order_fee_cents', '10'],
  ['spendable_balance', 1e30],
])('a wallet whose %s is %j is refused before anybody is asked', async (name, amount) => {
  const odd = await peer(json({ balance: 100, spendable_balance: 100, order_fee_cents: 10, [name]: amount }));
  const create = ['order', 'create', '--file', 'order.json', '--base-url', odd.url];
  const terminal = open(...create);
  expect(await terminal.ended()).toBe(9);
  expect(terminal.text.replace(/\s+/g, ' ')).toContain(`its ${name} is not an amount`);
  expect(terminal.text).not.toContain('(y/N)');
  expect(odd.received.every(({ method }) => method === 'GET')).toBe(true);
});

test.each([
  [['--no-input', 'order', 'create']],
  [['order', 'create', '--no-input']],
  [['sandbox', 'reset', '--no-input', '--base-url', 'embedded:']],
  [['--no-input', 'address', 'add', 'work']],
  [['account', 'add', '--no-input']],
  [['return', '--no-input', 'create']],
  [['auth', 'token', '--no-input']],
])('--no-input is obeyed by every command: errand %j', async (args) => {
  const terminal = open(...args);
  expect(await terminal.ended()).toBe(2);
  expect(terminal.text).not.toContain('? ');
});
