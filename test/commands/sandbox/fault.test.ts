import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { embeddedShop, errand, orderOf } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const fault = async (...words: string[]) => {
  const run = await errand(workspace, ['sandbox', 'fault', ...words, '-o', 'json']);
  expect(run.code, run.stderr).toBe(0);
  return JSON.parse(run.stdout);
};
const wallet = async () => (await errand(workspace, ['wallet', '--retries', '0'])).code;

describe('faults of the embedded sandbox', () => {
  test('a share of them falls on a share of the commands, each a process of its own, the same for the same seed', async () => {
    await orderOf(workspace, 'test-slow');
    const codes = async () => {
      await fault('--off');
      await fault('503:50%@/wallet/me', '--seed', '3');
      const found = [];
      for (let sent = 0; sent < 6; sent += 1) found.push(await wallet());
      return found;
    };
    const first = await codes();
    expect(new Set(first)).toEqual(new Set([0, 9]));
    expect(await codes()).toEqual(first);
  });

  test('they are added in their order, switched off one by one, and the seed stays', async () => {
    await fault('503@/wallet/me', '--seed', '9');
    expect(await fault('delay=10ms', '503@/wallet/me')).toEqual({
      faults: ['503@/wallet/me', 'delay=10ms'],
      seed: 9,
    });
    expect(await wallet()).toBe(9);
    expect(await fault('--off', '503@/wallet/me')).toEqual({ faults: ['delay=10ms'], seed: 9 });
    expect(await wallet()).toBe(0);
    expect(await fault()).toEqual({ faults: ['delay=10ms'], seed: 9 });
  });

  test('switched on and off at the same time by several, none is lost', async () => {
    const paths = ['/p1', '/p2', '/p3', '/p4'];
    await orderOf(workspace, 'test-slow');
    await Promise.all(paths.map((path) => fault(`503@${path}`)));
    expect((await fault()).faults.toSorted()).toEqual(paths.map((path) => `503@${path}`));
    await Promise.all([fault('--off', '503@/p1'), fault('429@/p5'), fault('--off', '503@/p3')]);
    expect((await fault()).faults.toSorted()).toEqual(['429@/p5', '503@/p2', '503@/p4']);
  });

  test.each([
    ['truncate@POST /orders', 'the response broke off before its end'],
    ['reset-after@POST /orders', 'the connection was reset'],
    ['503-after@POST /orders', 'A fault that is on in this sandbox.'],
  ])('%s leaves an order in doubt, and settled it is one order', async (text, why) => {
    await orderOf(workspace, 'test-slow');
    await fault(text);
    const url = `${await embeddedShop()}test-success`;
    const order = [
      'order',
      'create',
      '--product',
      url,
      '--max-price',
      '$50',
      '--ship-to',
      'home',
      '--retries',
      '0',
    ];
    const lost = await errand(workspace, order);
    expect(lost.code, lost.stderr).toBe(10);
    expect(lost.stderr).toContain(why);
    await fault('--off');
    const resumed = await errand(workspace, ['order', 'journal', 'resume', '--all', '-o', 'id']);
    expect(resumed.code, resumed.stderr).toBe(0);
    const { stdout } = await errand(workspace, ['order', 'list', '-o', 'id']);
    expect(stdout.trim().split('\n')).toHaveLength(2);
    expect(stdout).toContain(resumed.stdout.trim());
  });

  test('a served one on the same data has them too, and its own until something else is said', async () => {
    await orderOf(workspace, 'test-slow');
    const served = await serveAt(workspace, '--fault', '500@/wallet/me');
    const status = async (path: string) => (await fetch(served.url + path)).status;
    expect([await status('/wallet/me'), await status('/retailers')]).toEqual([500, 200]);
    await fault('502@/retailers');
    expect([await status('/wallet/me'), await status('/retailers')]).toEqual([401, 502]);
    await fault('--off');
    expect([await status('/wallet/me'), await status('/retailers')]).toEqual([401, 200]);
  });
});

test('faults of a served sandbox are switched over its control surface, which has none itself', async () => {
  const service = await TestService.start();
  const at = ['--base-url', service.baseUrl];
  expect(await fault('refuse', ...at)).toEqual({ faults: ['refuse'], seed: 7 });
  await expect(service.send('GET', '/wallet/me')).rejects.toThrow();
  expect((await fetch(`${service.baseUrl}/healthz`)).status).toBe(200);
  expect(await fault('--off', ...at)).toEqual({ faults: [], seed: 7 });
  expect((await service.send('GET', '/wallet/me')).status).toBe(200);
  await service.stop();
});

test('what is not a fault is refused with what there is, and nothing is switched', async () => {
  await fault('delay=1ms');
  const refused = await errand(workspace, ['sandbox', 'fault', '503', 'explode']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('"explode" is not a fault; write one of refuse, reset-before, ');
  expect((await fault()).faults).toEqual(['delay=1ms']);
});

test.each(['503:0%', '503@FOO /orders', '403:forbidden@GET /orders?limit=1', '503@/healthz'])(
  '%s can never fall, and is refused',
  async (text) => {
    const { code, stdout, stderr } = await errand(workspace, ['sandbox', 'fault', text]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`"${text}" is not a fault`);
  },
);
