import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

interface Got {
  readonly status: number | undefined;
  readonly body: string;
}

/** Sends a request with a custom `Host`, as a browser does after DNS rebinding. */
function get(port: number, path: string, headers: Record<string, string>, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
    sent.on('error', reject).end();
  });
}

const paths = ['/', '/orders', '/shop', '/device', '/claim/x', '/openapi.json', '/v1/retailers', '/nowhere'];

describe('the served sandbox', () => {
  test('serves neither its API nor its pages under a name that it was not given', async () => {
    const { port } = await serveAt(workspace, '--memory');
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      '8.8.8.8',
      'localhost.evil.example',
      'a@localhost',
    ];
    for (const path of paths) {
      for (const host of foreign) {
        const { status, body } = await get(port, path, { host });
        expect([path, host, status]).toEqual([path, host, 421]);
        expect(JSON.parse(body)).toMatchObject({ code: 'bad_request' });
      }
    }
    const minted = await get(port, '/sandbox/keys', { host: 'evil.example' }, 'POST');
    expect(minted).toMatchObject({ status: 421 });
    expect(minted.body).toContain('--allow-host evil.example');
    const page = await get(port, '/device', { host: '<script>.example', accept: 'text/html' });
    expect(page.status).toBe(421);
    expect(page.body).not.toContain('<script>.example');
    const shown = await get(port, '/device', { host: 'evil.example', accept: 'text/html' });
    expect(shown.body).toContain('does not serve evil.example');
  });

  test('serves the names and the address of this machine', async () => {
    const { port } = await serveAt(workspace, '--memory');
    for (const host of ['localhost', `127.0.0.1:${port}`, 'api.localhost:9', `[::1]:${port}`, 'LOCALHOST'])
      expect([host, (await get(port, '/shop', { host })).status]).toEqual([host, 200]);
  });

  test('--allow-host names another, with its port or with any', async () => {
    const { port } = await serveAt(
      workspace,
      '--memory',
      '--allow-host',
      'api.test',
      '--allow-host',
      'b.test:81',
    );
    const statuses = [];
    for (const host of ['api.test', 'API.test:4848', 'b.test:81', 'b.test', 'c.api.test'])
      statuses.push((await get(port, '/shop', { host })).status);
    expect(statuses).toEqual([200, 200, 200, 421, 421]);
  });

  test.each(['http://x', 'a/b', 'a b', '', 'a@b', 'a:99999'])('--allow-host %j is refused', async (name) => {
    const { code, stderr } = await errand(workspace, ['sandbox', 'serve', '--memory', '--allow-host', name]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--allow-host')]);
  });

  test('its keys do not follow from the seed, its ids do', async () => {
    const mint = async (): Promise<{ api_key: string; claim_url: string }> => {
      const { port } = await serveAt(workspace, '--memory', '--seed', '7');
      return JSON.parse((await get(port, '/sandbox/keys', {}, 'POST')).body);
    };
    const [one, other] = [await mint(), await mint()];
    expect(one.api_key).not.toBe(other.api_key);
    expect(new URL(one.claim_url).pathname).not.toBe(new URL(other.claim_url).pathname);
  });
});

describe('with --allow-remote', () => {
  const register = async (port: number, url: string): Promise<unknown> => {
    const { api_key } = JSON.parse((await get(port, '/sandbox/keys', {}, 'POST')).body);
    const response = await fetch(`http://127.0.0.1:${port}/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ webhook_url: url }),
    });
    return response.status;
  };

  test('no caller makes the sandbox call its own machine, unless the receiver is named', async () => {
    const { port } = await serveAt(
      workspace,
      '--memory',
      '--allow-remote',
      '--allow-webhook',
      'localhost:3000',
    );
    for (const url of [
      'http://127.0.0.1:3000/',
      'http://localhost:3001/',
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://a.localhost/',
    ])
      expect([url, await register(port, url)]).toEqual([url, 400]);
    expect(await register(port, 'http://localhost:3000/hooks')).toBe(200);
  });

  test('without it loopback receivers are called as ever', async () => {
    const { port } = await serveAt(workspace, '--memory');
    expect(await register(port, 'http://127.0.0.1:3000/')).toBe(200);
  });
});
