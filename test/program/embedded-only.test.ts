import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestService } from '../service/service.ts';
import { errand, orderOf } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

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

const orders = async (): Promise<string> =>
  (await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim();

describe('what changes the embedded sandbox as a whole', () => {
  const verbs = [
    ['reset', '--yes'],
    ['advance', '3d'],
    ['snapshot', 'kept'],
    ['snapshot'],
    ['restore', 'kept'],
  ];

  test.each(verbs.map((verb) => [verb]))('does nothing where another service is named: %j', async (verb) => {
    const order = await orderOf(workspace, 'test-slow');
    await errand(workspace, ['sandbox', 'snapshot', 'kept']);
    const named: readonly (readonly [args: string[], words: string])[] = [
      [['--base-url', service.baseUrl], '--base-url'],
      [['--profile', 'served'], 'profile served'],
      [[], 'ERRAND_BASE_URL'],
    ];
    await errand(workspace, ['profile', 'set', 'served', '--base-url', service.baseUrl]);
    for (const [args, words] of named) {
      if (args.length === 0) workspace.environment.ERRAND_BASE_URL = service.baseUrl;
      const refused = await errand(workspace, ['sandbox', ...verb, ...args]);
      delete workspace.environment.ERRAND_BASE_URL;
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(
        `sandbox ${verb[0]} works on the embedded sandbox only, and ${words} names ${service.baseUrl}; nothing was changed`,
      );
    }
    expect(await orders()).toBe(order);
    const now = await errand(workspace, ['order', 'get', order, '-o', 'json', '--query', 'status']);
    expect(now.stdout.trim()).toBe('"pending"');
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
    const { stdout } = await errand(workspace, ['profile', 'list', '-o', 'csv', '--fields', 'name,api_key']);
    expect(stdout.replaceAll('\r', '')).toMatch(/^local,$/m);
    expect(stdout.replaceAll('\r', '')).toMatch(/^second,$/m);
    expect(stdout).toMatch(/^served,\w+_test_/m);
  });
});

describe('sandbox mint', () => {
  test('never replaces a key unasked, and mints none then', async () => {
    const order = await orderOf(workspace, 'test-slow');
    const refused = await errand(workspace, ['sandbox', 'mint', '-o', 'json']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    const { message, next } = JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '').error;
    expect(message).toContain('nothing was minted');
    expect(next.map(({ command }: { command: string }) => command)).toEqual([
      'errand sandbox mint -o json --replace',
      'errand sandbox mint -o json --no-store',
    ]);
    expect(await orders()).toBe(order);
    expect((await errand(workspace, ['sandbox', 'mint', '--no-store', '-o', 'id'])).stdout).toMatch(
      /^\w+_test_/,
    );
    expect(await orders()).toBe(order);
    const replaced = await errand(workspace, ['sandbox', 'mint', '--replace']);
    expect(replaced.stderr).toContain('stored for profile local');
    expect(await orders()).toBe('');
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
