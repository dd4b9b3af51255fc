import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errand } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const { beginWithoutTraces, tracesSecrets } = await import(
  new URL('../../bin/node-debug.js', import.meta.url).href
);
const key = 'zz_live_Qm9vPZ3x7RfKc2T8wLdY';
let requests = 0;
const server = createServer((_, response) => {
  requests += 1;
  response.writeHead(500).end();
});
const canBecome = 'execve' in process;
let workspace: Workspace;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  workspace = makeWorkspace({
    ERRAND_BASE_URL: `http://127.0.0.1:${port}`,
    ERRAND_API_KEY: key,
  });
});
afterAll(() => {
  server.close();
  workspace.remove();
});

describe("Node's own traces", () => {
  test.each(['http', 'HTTP', 'undici', 'fetch', 'net,tls', 'stream', 'worker', 'child_process', 'ht*', '*'])(
    'NODE_DEBUG=%s prints no key: it is left out, or nothing is sent',
    async (names) => {
      workspace.environment.NODE_DEBUG = names;
      requests = 0;
      const { code, stdout, stderr } = await errand(workspace, ['order', 'list', '--retries', '0']);
      expect(stdout + stderr).not.toContain(key);
      expect(stderr).toContain(`NODE_DEBUG=${names} makes Node print keys and passwords`);
      expect(stderr).not.toMatch(/^(?:HTTP|UNDICI|FETCH|NET|TLS|STREAM|WORKER|CHILD_PROCESS) \d+:/m);
      expect([code, requests]).toEqual(canBecome ? [9, 1] : [2, 0]);
    },
  );

  test('a trace that holds no secret stays', async () => {
    workspace.environment.NODE_DEBUG = 'module';
    expect((await errand(workspace, ['--version'])).stderr).toMatch(/^MODULE \d+:/m);
  });

  test.each(['', 'module', 'timer,esm'])('%j holds none', (names) => {
    expect(tracesSecrets({ NODE_DEBUG: names })).toBe(false);
  });

  test('where a process can become another one, it begins again with what it was given', () => {
    const became: unknown[] = [];
    let printed = '';
    beginWithoutTraces({
      env: { NODE_DEBUG: 'http', KEPT: '1' },
      execPath: '/node',
      execArgv: ['--flag'],
      argv: ['/node', '/errand.js', 'order', 'list'],
      platform: 'linux',
      stderr: { write: (text: string) => (printed += text) },
      execve: (...given: unknown[]) => became.push(...given),
    });
    expect(became).toEqual(['/node', ['/node', '--flag', '/errand.js', 'order', 'list'], { KEPT: '1' }]);
    expect(printed).toBe(
      'warning: NODE_DEBUG=http makes Node print keys and passwords, so it is left out; --debug traces requests without secrets\n',
    );
  });
});
