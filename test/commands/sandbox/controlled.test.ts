import { createServer, request as forward, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { Receiver } from '../../support/receiver.ts';
import { begin, errand, orderOf } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let service: TestService;

beforeEach(async () => {
  service = await TestService.start();
  workspace = makeWorkspace();
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});

const json = { 'content-type': 'application/json' };

const orders = async (): Promise<string> =>
  (await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim();

const verbs = [
  ['reset', '--yes'],
  ['advance', '3d'],
  ['snapshot', 'kept'],
  ['snapshot'],
  ['restore', 'kept'],
];

describe('what acts on a sandbox as a whole acts on the one that is named', () => {
  const naming: readonly (readonly [how: string, args: () => string[], environment: () => object])[] = [
    ['by --base-url', () => ['--base-url', service.baseUrl], () => ({})],
    ['by a profile', () => ['--profile', 'served'], () => ({})],
    ['by the environment', () => [], () => ({ ERRAND_BASE_URL: service.baseUrl })],
  ];

  test.each(naming)('%s', async (_, args, environment) => {
    const order = await orderOf(workspace, 'test-slow');
    await errand(workspace, ['profile', 'set', 'served', '--base-url', service.baseUrl]);
    const sandbox = async (...words: string[]) => {
      Object.assign(workspace.environment, environment());
      const run = await errand(workspace, ['sandbox', ...words, ...args()]);
      delete workspace.environment.ERRAND_BASE_URL;
      expect(run.code, run.stderr).toBe(0);
      return run;
    };
    await service.order('test-slow');
    const total = async () => (await service.send('GET', '/orders')).body.total;
    expect((await sandbox('snapshot', 'kept', '-o', 'id')).stdout).toBe('kept\n');
    const { stdout } = await sandbox('advance', '3d', '-o', 'json');
    expect(JSON.parse(stdout)).toEqual({ now: '2026-03-04T12:00:00.000Z', advanced_ms: 259_200_000 });
    await service.order('test-slow', { idempotency_key: 'another' });
    await sandbox('restore', 'kept');
    expect(await total()).toBe(1);
    expect((await sandbox('snapshot', '-o', 'id')).stdout).toBe('kept\n');
    await sandbox('reset', '--yes');
    expect((await service.send('GET', '/orders')).status).toBe(401);
    // The embedded sandbox is unchanged.
    expect(await orders()).toBe(order);
    const now = await errand(workspace, ['order', 'get', order, '-o', 'json', '--query', 'status']);
    expect(now.stdout.trim()).toBe('"pending"');
    expect((await errand(workspace, ['sandbox', 'snapshot', '-o', 'id'])).stdout).toBe('');
  });

  test('a sandbox in memory of another process is controlled, its webhooks sent on the way', async () => {
    const served = await serveAt(workspace, '--memory', '--seed', '7');
    const at = ['--base-url', served.url];
    const receiver = await Receiver.start();
    const { stdout: key } = await errand(workspace, ['sandbox', 'mint', '--no-store', '-o', 'id', ...at]);
    workspace.environment.ERRAND_API_KEY = key.trim();
    const post = async (path: string, body: object): Promise<void> => {
      const headers = { authorization: `Bearer ${key.trim()}`, 'content-type': 'application/json' };
      const sent = await fetch(served.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(sent.ok).toBe(true);
    };
    await post('/users', { webhook_url: receiver.at() });
    await post('/orders', orderBody(`${served.url}/shop/test-success`));
    expect((await errand(workspace, ['sandbox', 'advance', '1h', ...at])).code).toBe(0);
    expect(receiver.received.length).toBeGreaterThan(1);
    const list = await errand(workspace, ['order', 'list', '--fields', 'created_at', ...at]);
    expect(list.stdout).toMatch(/^1h ago$/m);
    await receiver.stop();
  });

  test('embedded, webhooks are sent on the way too, and again where they are refused', async () => {
    const receiver = await Receiver.start();
    receiver.reply = () => ({ status: receiver.received.length === 1 ? 503 : 200 });
    await errand(workspace, ['webhook', 'register', receiver.at()]);
    await orderOf(workspace, 'test-success');
    const advanced = await errand(workspace, ['sandbox', 'advance', '1d']);
    expect(advanced.code, advanced.stderr).toBe(0);
    const events = receiver.received.map(({ event }) => event);
    expect(events.length).toBeGreaterThan(2);
    await receiver.stop();
  });

  test('an advance that waits for a receiver ends with Ctrl-C, and what was not delivered stays due', async () => {
    const receiver = await Receiver.start();
    receiver.reply = () => new Promise(() => {});
    await errand(workspace, ['webhook', 'register', receiver.at()]);
    await orderOf(workspace, 'test-success');
    const advancing = begin(workspace, 'errand', ['sandbox', 'advance', '1d']);
    const ended = new Promise<number | null>((resolve) => advancing.on('exit', resolve));
    await receiver.until(1);
    advancing.kill('SIGINT');
    expect(await ended).toBe(130);
    receiver.reply = () => ({ status: 200 });
    expect((await errand(workspace, ['sandbox', 'advance', '1d'])).code).toBe(0);
    expect(receiver.received.length).toBeGreaterThan(2);
    await receiver.stop();
  });

  test('works from another profile where the embedded sandbox is named', async () => {
    await orderOf(workspace, 'test-slow');
    await errand(workspace, ['profile', 'set', 'served', '--base-url', service.baseUrl, '--use']);
    const reset = await errand(workspace, ['sandbox', 'reset', '--yes', '--base-url', 'embedded:']);
    expect(reset.code, reset.stderr).toBe(0);
    await errand(workspace, ['profile', 'use', 'local']);
    expect(await orders()).toBe('');
  });

  test('a reset forgets the keys of the sandbox that is gone, and no others', async () => {
    await orderOf(workspace, 'test-slow');
    await errand(workspace, ['profile', 'set', 'second', '--base-url', 'embedded:']);
    await errand(workspace, ['sandbox', 'mint', '--profile', 'second']);
    await errand(workspace, ['profile', 'set', 'served', '--base-url', service.baseUrl]);
    await errand(workspace, ['sandbox', 'mint', '--profile', 'served']);
    expect((await errand(workspace, ['sandbox', 'reset', '--yes'])).code).toBe(0);
    const keys = async () =>
      (await errand(workspace, ['profile', 'list', '-o', 'csv', '--fields', 'name,api_key'])).stdout;
    const list = await keys();
    expect(list.replaceAll('\r', '')).toMatch(/^local,$/m);
    expect(list.replaceAll('\r', '')).toMatch(/^second,$/m);
    expect(list).toMatch(/^served,\w+_test_/m);
    expect((await errand(workspace, ['sandbox', 'reset', '--yes', '--profile', 'served'])).code).toBe(0);
    expect((await keys()).replaceAll('\r', '')).toMatch(/^served,$/m);
  });
});

test('a reset keeps the keys of its snapshots, and a restore says which of them was in use then', async () => {
  await orderOf(workspace, 'test-slow');
  await errand(workspace, ['sandbox', 'snapshot', 'before']);
  const reset = await errand(workspace, ['sandbox', 'reset', '--yes']);
  expect(reset.stderr).toContain('keys of its snapshots are kept: `errand auth list` shows them');
  await errand(workspace, ['sandbox', 'mint']);
  const restored = await errand(workspace, ['sandbox', 'restore', 'before']);
  const command = /`(errand auth use \w+)` goes back to \S+…/.exec(restored.stderr)?.[1] ?? '';
  expect((await errand(workspace, ['order', 'list'])).code).toBe(3);
  expect((await errand(workspace, command.split(' ').slice(1))).code).toBe(0);
  expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout).not.toBe('');
  const again = await errand(workspace, ['sandbox', 'restore', 'before']);
  expect(again.stderr).not.toContain('auth use');
});

test('a served sandbox on the data of the embedded one is emptied for both, and no key of it is left', async () => {
  await orderOf(workspace, 'test-slow');
  const served = await serveAt(workspace);
  const reset = await errand(workspace, ['sandbox', 'reset', '--yes', '--base-url', served.url]);
  expect(reset.code, reset.stderr).toBe(0);
  expect(reset.stderr).toContain(`\`errand sandbox mint --base-url ${served.url}\` mints a new key`);
  expect(await orders()).toBe('');
});

test('a command that is run with a sandbox of its own controls that one', async () => {
  const line =
    'errand sandbox advance 1h -o id && errand sandbox fault 503 -o json && errand sandbox reset --yes';
  const run = await errand(workspace, ['sandbox', 'exec', '--', 'sh', '-c', line]);
  expect(run.code, run.stderr).toBe(0);
  expect((await errand(workspace, ['sandbox', 'fault', '-o', 'json', '--query', 'faults'])).stdout).toBe(
    '[]\n',
  );
});

test('through a gateway to another machine only triggers go, since a key says whose they are', async () => {
  const gateway = createServer((request, response) => {
    const passed = forward(
      service.baseUrl + request.url,
      {
        method: request.method,
        headers: {
          ...request.headers,
          host: new URL(service.baseUrl).host,
          'x-forwarded-for': '203.0.113.7',
        },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const at = ['--base-url', `http://127.0.0.1:${Object(gateway.address()).port}`];
  workspace.environment.ERRAND_API_KEY = service.key;
  const order = (await service.order('test-slow')).body.id;
  const reset = await errand(workspace, ['sandbox', 'reset', '--yes', ...at]);
  expect(reset.code).toBe(2);
  expect(reset.stderr).toContain('sandbox reset acts on a sandbox of this machine');
  expect(reset.stderr).toContain('this request comes through a proxy; nothing was changed');
  const triggered = await errand(workspace, ['sandbox', 'trigger', 'placed', order, ...at]);
  expect(triggered.code, triggered.stderr).toBe(0);
  expect((await service.send('GET', `/orders/${order}`)).body.status).toBe('order_placed');
  gateway.closeAllConnections();
  await new Promise((resolve) => gateway.close(resolve));
});

describe('a service that is no sandbox', () => {
  const answers: readonly (readonly [what: string, answer: (response: ServerResponse) => void])[] = [
    [
      'knows no such path',
      (response) => response.writeHead(404, json).end('{"code":"not_found","message":"no"}'),
    ],
    ['takes no such method', (response) => response.writeHead(405).end()],
    [
      'lets nobody in',
      (response) => response.writeHead(403, json).end('{"code":"forbidden","message":"no"}'),
    ],
    [
      'sends a page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello'),
    ],
    ['sends other JSON', (response) => response.writeHead(200, json).end('{"sandbox":"another","now":"x"}')],
    ['sends a list', (response) => response.writeHead(200, json).end('[]')],
    ['leads elsewhere', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ];

  test.each(answers)('that %s is changed by nothing, and so is the embedded one', async (what, answer) => {
    const order = await orderOf(workspace, 'test-slow');
    const sent: string[] = [];
    const server = createServer((request, response) => {
      sent.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'no key'}`);
      answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${Object(server.address()).port}`;
    workspace.environment.ERRAND_API_KEY = 'zz_test_0123456789abcdef';
    const tried = what === 'knows no such path' ? verbs : verbs.slice(0, 1);
    for (const verb of [...tried, ['trigger', 'placed', order]]) {
      const refused = await errand(workspace, ['sandbox', ...verb, '--base-url', url]);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(
        `sandbox ${verb[0]} acts on a sandbox of errand's, and --base-url names ${url}; `,
      );
      expect(refused.stderr).toContain('nothing was changed');
    }
    delete workspace.environment.ERRAND_API_KEY;
    expect(new Set(sent)).toEqual(new Set(['GET /sandbox/control no key']));
    expect(await orders()).toBe(order);
    await new Promise((resolve) => server.close(resolve));
  });

  test('and nothing at all is sent to one that other machines reach', async () => {
    const order = await orderOf(workspace, 'test-slow');
    for (const verb of verbs) {
      const refused = await errand(workspace, ['sandbox', ...verb, '--base-url', 'https://service.invalid']);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(
        `sandbox ${verb[0]} acts on a sandbox of this machine, and --base-url names https://service.invalid; nothing was changed`,
      );
    }
    expect(await orders()).toBe(order);
  });
});

describe('sandbox mint', () => {
  test('keeps the key that a profile has beside the new one, and says how to go back', async () => {
    const order = await orderOf(workspace, 'test-slow');
    const minted = await errand(workspace, ['sandbox', 'mint']);
    expect(minted.code, minted.stderr).toBe(0);
    expect(await orders()).toBe('');
    const [, back = ''] = /`errand (auth use [^`]*)`/.exec(minted.stderr) ?? [];
    expect((await errand(workspace, back.split(' '))).code).toBe(0);
    expect(await orders()).toBe(order);
    expect((await errand(workspace, ['sandbox', 'mint', '--no-store', '-o', 'id'])).stdout).toMatch(
      /^\w+_test_/,
    );
    expect(await orders()).toBe(order);
    const replaced = await errand(workspace, ['sandbox', 'mint', '--replace']);
    expect(replaced).toMatchObject({ code: 2, stdout: '' });
    expect(replaced.stderr).toContain('--replace is not needed any more: a key that the profile has is kept');
  });

  test('at another address leaves the profile as it was, and prints the key whole', async () => {
    const order = await orderOf(workspace, 'test-slow');
    const minted = await errand(workspace, [
      'sandbox',
      'mint',
      '--base-url',
      service.baseUrl,
      '--fields',
      'api_key',
    ]);
    expect(minted.code, minted.stderr).toBe(0);
    const key = /\w+_test_\w+/.exec(minted.stdout)?.[0] ?? '';
    expect(minted.stderr).toContain('not stored: profile local is for another address');
    expect((await service.send('GET', '/orders', undefined, key)).status).toBe(200);
    expect(await orders()).toBe(order);
    const refused = await errand(workspace, ['sandbox', 'mint', '--store', '--base-url', service.baseUrl]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--store: profile local is for embedded:');
  });

  test('stores a key in a profile of the address it was minted at', async () => {
    await errand(workspace, ['profile', 'set', 'served', '--base-url', service.baseUrl, '--use']);
    const minted = await errand(workspace, ['sandbox', 'mint']);
    expect(minted.stderr).toContain('stored for profile served');
    expect((await errand(workspace, ['order', 'list'])).code).toBe(0);
  });
});
