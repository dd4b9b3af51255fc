import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { beginWithCopies } from '../../support/copies.ts';
import { errand } from '../../support/run.ts';
import type { Workspace } from '../../support/workspace.ts';

const [key, token] = ['zz_test_0123456789abcdef', 'clientTokenOfTheOldService42'];
const [here, there] = ['http://127.0.0.1:9', 'http://localhost:9'];
let workspace: Workspace;

beginWithCopies(
  async (stored) => {
    await errand(stored, ['profile', 'set', 'work', '--base-url', here, '--use']);
    await errand(stored, ['auth', 'token'], { stdin: key });
    await errand(stored, ['auth', 'token', '--legacy'], { stdin: token });
  },
  (copy) => {
    workspace = copy;
  },
);

const set = (...flags: string[]) => errand(workspace, ['profile', 'set', 'work', ...flags]);
const kept = async () => {
  const { stdout } = await errand(workspace, ['profile', 'list', '-o', 'json']);
  const work = JSON.parse(stdout).find(({ name }: { name: string }) => name === 'work');
  return [work.api_key && 'key', work.legacy_token && 'token'];
};

describe('what is stored for one service goes to no other', () => {
  test('another base URL forgets both where that is meant, and says so', async () => {
    expect(await kept()).toEqual(['key', 'token']);
    const refused = await set('--base-url', there);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(
      `profile work has a key and a client token for ${here}, and another address would drop them; nothing was changed`,
    );
    expect(refused.stderr).toContain(`try: errand profile set work --base-url ${there} --replace`);
    expect(await kept()).toEqual(['key', 'token']);
    const { stderr } = await set('--base-url', there, '--replace');
    expect(stderr).toContain('dropped the key and the client token of work: stored for another service');
    expect(await kept()).toEqual([null, null]);
  });

  test('another legacy address forgets the client token, not the key', async () => {
    const { stderr } = await set('--legacy-base-url', there, '--replace');
    expect(stderr).toContain('dropped the client token of work: stored for another service');
    expect(await kept()).toEqual(['key', null]);
  });

  test('another base URL forgets the key though the legacy address stays', async () => {
    await set('--legacy-base-url', there, '--replace');
    await errand(workspace, ['auth', 'token', '--legacy'], { stdin: token });
    expect(await kept()).toEqual(['key', 'token']);
    await set('--base-url', there, '--legacy-base-url', there, '--replace');
    expect((await kept())[0]).toBeNull();
  });

  test('the same addresses keep both, in silence', async () => {
    const { stderr } = await set('--base-url', here, '--legacy-base-url', here);
    expect(stderr).not.toContain('dropped');
    expect(await kept()).toEqual(['key', 'token']);
  });

  test('a token that is stored does not reach the address of a flag or a variable', async () => {
    const heard: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      heard.push(`${headers.authorization} ${headers['x-api-key']}`);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await errand(workspace, ['legacy', 'product', 'https://shop.example/a', '--base-url', other]);
    await errand(workspace, ['order', 'list', '--base-url', other]);
    workspace.environment.ERRAND_LEGACY_BASE_URL = other;
    await errand(workspace, ['legacy', 'product', 'https://shop.example/a']);
    expect(heard.join()).not.toMatch(new RegExp(`${key}|${token}|${btoa(`${token}:`)}`));
  });
});

test('a client token that is stored is replaced with --replace only; the same one again is fine', async () => {
  const store = (stdin: string, ...more: string[]) =>
    errand(workspace, ['auth', 'token', '--legacy', ...more], { stdin });
  expect((await store(token)).code).toBe(0);
  const refused = await store('zz_test_another0123456789');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('already; nothing was stored');
  expect(refused.stderr).toContain('--replace — to store another in its place');
  expect(refused.stderr).not.toContain(token);
  expect((await store('zz_test_another0123456789', '--replace')).code).toBe(0);
  expect((await store(token)).code).toBe(2);
});

test('a key that is stored is kept beside the next one, forgotten with --replace; the same one again is fine', async () => {
  const store = (stdin: string, ...more: string[]) =>
    errand(workspace, ['auth', 'token', ...more], { stdin });
  const masked = async () =>
    (await errand(workspace, ['auth', 'list', '-o', 'csv', '--fields', 'key,in_use'])).stdout
      .replaceAll('\r', '')
      .trim()
      .split('\n')
      .slice(1);
  expect((await store(key)).stderr).not.toContain('kept');
  const second = await store('zz_test_another0123456789');
  expect(second.code).toBe(0);
  expect(second.stderr).toContain('zz_test_…cdef is kept beside it');
  expect(await masked()).toEqual(['zz_test_…6789,true', 'zz_test_…cdef,false']);
  const third = await store('zz_test_athird0123455555', '--replace');
  expect(third.stderr).toContain('in place of zz_test_…6789, which is forgotten');
  expect(await masked()).toEqual(['zz_test_…5555,true', 'zz_test_…cdef,false']);
  expect((await store(key)).code).toBe(0);
  expect(await masked()).toEqual(['zz_test_…cdef,true', 'zz_test_…5555,false']);
});
