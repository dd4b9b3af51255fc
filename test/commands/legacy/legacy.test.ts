import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let service: TestService;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(async () => {
  await service.stop();
  workspace.remove();
});

/** Starts a service with a failed order and points the workspace at it. */
async function failed(...faults: string[]): Promise<string> {
  service = await TestService.start({ faults: faults.map((text) => readFault(text) ?? expect.fail(text)) });
  Object.assign(workspace.environment, { ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  const { id } = (await service.order('test-out-of-stock')).body;
  service.pass(20_000);
  return id;
}

const orders = async (): Promise<number> => (await service.send('GET', '/orders')).body.total;

describe('legacy retry', () => {
  test('a reset after the work leaves it in doubt: 10, sent once, with how to find out', async () => {
    const id = await failed('reset-after@POST /v1/orders/*');
    const { code, stdout, stderr } = await errand(workspace, ['legacy', 'retry', id, '-o', 'json']);
    expect([code, stdout]).toEqual([10, '']);
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
    expect(error).toMatchObject({ category: 'in_doubt', outcome: 'unknown', exit_code: 10, attempts: 1 });
    expect(await orders()).toBe(2);
    const [next] = error.next;
    expect((await errand(workspace, [...next.command.split(' ').slice(1), '-o', 'id'])).stdout).toContain(id);
  });

  test('a connection that is refused leaves nothing in doubt', async () => {
    const id = await failed();
    workspace.environment.ERRAND_BASE_URL = 'http://127.0.0.1:9';
    const { code } = await errand(workspace, ['legacy', 'retry', id, '--retries', '0']);
    expect(code).toBe(9);
    expect(await orders()).toBe(1);
  });

  test('a token that is no test key spends: nobody is asked, so --yes is needed and nothing is sent', async () => {
    const id = await failed();
    workspace.environment.ERRAND_LEGACY_TOKEN = 'client-token-of-the-account';
    const refused = await errand(workspace, ['legacy', 'retry', id]);
    expect([refused.code, refused.stderr.includes('pass --yes to confirm')]).toEqual([2, true]);
    expect((await errand(workspace, ['legacy', 'retry', id, '--yes'])).code).toBe(3);
    expect(await orders()).toBe(1);
  });
});

describe('a token that is missing or unknown', () => {
  test.each([
    ['missing', ''],
    ['unknown', 'client-token-that-nobody-knows'],
  ])('%s: the hint names the token of this surface', async (_, token) => {
    const id = await failed();
    Object.assign(workspace.environment, { ERRAND_API_KEY: '', ERRAND_LEGACY_TOKEN: token });
    const { code, stderr } = await errand(workspace, ['legacy', 'retry', id, '--yes']);
    expect([code, stderr.includes('errand auth token --legacy')], stderr).toEqual([3, true]);
  });
});

describe('where legacy requests go', () => {
  test('to ERRAND_LEGACY_BASE_URL, whatever the current surface is', async () => {
    const id = await failed();
    const { ERRAND_BASE_URL: address = '', ERRAND_API_KEY: key = '' } = workspace.environment;
    delete workspace.environment.ERRAND_BASE_URL;
    delete workspace.environment.ERRAND_API_KEY;
    Object.assign(workspace.environment, { ERRAND_LEGACY_BASE_URL: address, ERRAND_LEGACY_TOKEN: key });
    expect((await errand(workspace, ['legacy', 'retry', id])).code).toBe(0);
    expect(await orders()).toBe(2);
  });

  test('the test key of one service is no token for another', async () => {
    const id = await failed();
    workspace.environment.ERRAND_LEGACY_BASE_URL = 'http://127.0.0.1:9';
    const { code, stderr } = await errand(workspace, ['legacy', 'retry', id]);
    expect([code, stderr.includes('client token')]).toEqual([3, true]);
  });
});
