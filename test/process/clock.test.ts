import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errand, orderOf, spawned } from '../support/run.ts';
import { serveAt } from '../support/served.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const clockSet = fileURLToPath(new URL('../support/clock-set.cjs', import.meta.url));
type Json = Readonly<Record<string, unknown>>;

const day = 24 * 3600 * 1000;

/** Sets the machine's clock some time after the program has started. */
const whereClockIsSet = (workspace: Workspace, ms: number, afterMs = 1_300): Workspace => ({
  ...workspace,
  environment: {
    ...workspace.environment,
    NODE_OPTIONS: `--require=${clockSet}`,
    CLOCK_SET_MS: String(ms),
    CLOCK_SET_AFTER_MS: String(afterMs),
  },
});

/** Concurrent tests each register their own cleanup. */
type Finished = (clean: () => void) => void;

function aPlace(onFinished: Finished): Workspace {
  const workspace = makeWorkspace();
  onFinished(workspace.remove);
  return workspace;
}

async function silentService(onFinished: Finished): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {}));
  onFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${Object(server.address()).port}`;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Wait {
  readonly name: string;
  /** Exit code on timeout. */
  readonly code: number;
  readonly prepare: (workspace: Workspace, onFinished: Finished) => Promise<string[]>;
}

/** Every wait with a user-set limit, with its preparation. */
const waits: readonly Wait[] = [
  {
    name: 'order watch',
    code: 8,
    prepare: async (workspace) => ['order', 'watch', await orderOf(workspace, 'test-never')],
  },
  {
    name: 'account forwarding --wait',
    code: 8,
    async prepare(workspace) {
      const add = ['account', 'add', '--email', 'a@example.com', '--password-file', '-', '-o', 'id'];
      const { stdout } = await errand(workspace, add, { stdin: 'secret' });
      return ['account', 'forwarding', stdout.trim(), '--wait'];
    },
  },
  { name: 'webhook listen', code: 8, prepare: async () => ['webhook', 'listen'] },
  {
    name: 'a service that is silent',
    code: 9,
    prepare: async (_, onFinished) => [
      ...['retailer', 'list', '--retries', '0', '--base-url', await silentService(onFinished)],
    ],
  },
];

describe.concurrent('a clock that is set while a command waits', () => {
  describe.each([
    ['back', -2 * day],
    ['forward', 2 * day],
  ] as const)('%s by two days', (_, ms) => {
    test.for(waits)('moves no deadline: $name', async ({ code, prepare }, { onTestFinished }) => {
      const workspace = aPlace(onTestFinished);
      const args = await prepare(workspace, onTestFinished);
      const began = performance.now();
      const ended = await spawned(whereClockIsSet(workspace, ms), [
        ...args,
        '--timeout',
        '2500ms',
        '-o',
        'json',
      ]);
      expect(ended.code, ended.stderr).toBe(code);
      expect(performance.now() - began).toBeGreaterThan(2_400);
    });

    test('leaves the durations that are told true', async ({ onTestFinished }) => {
      const workspace = aPlace(onTestFinished);
      const args = [
        'order',
        'watch',
        await orderOf(workspace, 'test-never'),
        '--timeout',
        '2500ms',
        '-o',
        'ndjson',
      ];
      const { stdout } = await spawned(whereClockIsSet(workspace, ms), args);
      const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      expect(summary).toMatchObject({ type: 'summary', waiting: 1 });
      expect(summary.elapsed_ms).toBeGreaterThanOrEqual(2_500);
      expect(summary.elapsed_ms).toBeLessThan(day);
    });
  });
});

test('a clock that is set back leaves the life of an order at a served sandbox as it was', async () => {
  const workspace = aPlace(onTestFinished);
  const setAfterMs = 1_500;
  const began = performance.now();
  const { url } = await serveAt(whereClockIsSet(workspace, -2 * day, setAfterMs), '--memory');
  const call = async (method: string, path: string, key = '', body = {}): Promise<Json> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    return Object(await response.json());
  };
  const { api_key: key, example_order: order } = await call('POST', '/sandbox/keys');
  const products = [{ url: `${url}/shop/test-success`, quantity: 1 }];
  const { id } = await call('POST', '/orders', String(key), { ...Object(order), products });
  await sleep(Math.max(0, setAfterMs - (performance.now() - began)));
  await expect
    .poll(async () => (await call('GET', `/orders/${id}`, String(key))).status)
    .toBe('order_placed');
});
