import { execFile } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { type ServedSandbox, serveAt } from '../../support/served.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const nobody = 65_534;

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

/** Runs a script against a sandbox as another local user; returns its output. */
const asAnother = (served: ServedSandbox, script: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const source = `const url = ${JSON.stringify(served.url)}; const port = ${served.port};
const post = (path, body, key) => fetch(url + path, { method: 'POST', body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...(key && { authorization: 'Bearer ' + key }) } });
(async () => {${script}})();`;
    const options = { uid: nobody, gid: nobody, cwd: '/', env: {}, timeout: 60_000 };
    execFile(process.execPath, ['-e', source], options, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr, { cause: error }));
      else resolve(stdout.trim());
    });
  });

const run = (served: ServedSandbox, ...args: string[]) =>
  errand(workspace, [...args, '--base-url', served.url]);

describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'another user of the machine',
  () => {
    test('neither sees nor controls a served sandbox; the user who serves it does', async () => {
      const served = await serveAt(workspace, '--memory');
      const statuses = await asAnother(
        served,
        `const all = ['/', '/console', '/console/keys', '/console/orders', '/sandbox/control'].map(async (path) => (await fetch(url + path)).status);
for (const action of ['reset', 'export', 'advance', 'snapshot', 'faults']) all.push((await post('/sandbox/control/' + action, {})).status);
all.push((await post('/console/time/reset', {})).status);
console.log([...new Set(await Promise.all(all))].join());`,
      );
      expect(statuses).toBe('403');
      const advanced = await run(served, 'sandbox', 'advance', '3d', '-o', 'json');
      expect(advanced.code, advanced.stderr).toBe(0);
      expect((await run(served, 'sandbox', 'reset', '--yes')).code).toBe(0);
      const page = await fetch(served.url, { headers: { accept: 'text/html' } });
      expect(page.status).toBe(200);
    });

    test('has the service as the specification has it: a key of its own, and orders', async () => {
      const served = await serveAt(workspace, '--memory');
      const order = orderBody(`${served.url}/shop/test-success`);
      const made = await asAnother(
        served,
        `const { api_key: key } = await (await post('/sandbox/keys', {})).json();
console.log((await post('/orders', ${JSON.stringify(order)}, key)).status);`,
      );
      expect(made).toBe('201');
    });

    test('does nothing by a connection that is closed before the response', async () => {
      const served = await serveAt(workspace, '--memory');
      const minted = await fetch(`${served.url}/sandbox/keys`, { method: 'POST' });
      const { api_key: key } = JSON.parse(await minted.text());
      await asAnother(
        served,
        `const net = require('node:net');
const request = 'POST /sandbox/control/reset HTTP/1.1\\r\\nhost: 127.0.0.1:' + port + '\\r\\ncontent-type: application/json\\r\\ncontent-length: 2\\r\\n\\r\\n{}';
for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => {
  const socket = net.connect(port, '127.0.0.1', () => { socket.write(request, () => turn % 2 ? socket.destroy() : socket.end()); });
  socket.on('close', resolve).on('error', () => {}).resume();
});`,
      );
      const orders = await fetch(`${served.url}/orders`, { headers: { authorization: `Bearer ${key}` } });
      expect(orders.status).toBe(200);
    });
  },
);
