import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeKey } from '../../support/approval-workspace.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let service: TestService;
let workspace: Workspace;
let shared: string;
beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  shared = join(workspace.folder, 'shared');
  mkdirSync(shared, { mode: 0o700 });
  workspace.environment.ERRAND_CONFIG_DIR = join(shared, 'config');
  workspace.environment.ERRAND_STATE_DIR = join(shared, 'state');
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});

const create = (...flags: string[]) => {
  const order = orderBody(service.product('test-success'));
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(order));
  return errand(workspace, ['order', 'create', '--file', 'order.json', '--new', ...flags]);
};
const orders = async () => (await service.send('GET', '/orders')).body.orders.length;

/** Has a policy hold, in a folder of its own. */
function policy(text = 'limits: { per_order: $900 }'): void {
  const folder = join(workspace.folder, 'own');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'policy.yaml'), `version: 1\n${text}\n`, { mode: 0o600 });
  workspace.environment.ERRAND_POLICY = join(folder, 'policy.yaml');
}

/** How often stderr names the shared folder as one that others may change. */
const warnings = (stderr: string): number => stderr.split('who may put another folder').length - 1;

describe.runIf(process.platform !== 'win32')('a folder above those of errand that others may rename', () => {
  test('is warned about once in each run, and hinders nothing without a policy', async () => {
    chmodSync(shared, 0o777);
    const ended = await create('-o', 'id');
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain(
      `warning: ${shared} can be changed by other users (mode 0777), who may put another folder in the place of ${shared}/config and ${shared}/state. Let nobody else own it or write there: chmod go-w ${shared}`,
    );
    expect(warnings(ended.stderr)).toBe(1);
    expect(warnings((await errand(workspace, ['config', 'list'])).stderr)).toBe(1);
    expect(warnings((await errand(workspace, ['order', 'get', 'nonsense'])).stderr)).toBe(1);
    expect(await orders()).toBe(1);
  });

  test.each(['limits: { per_order: $900 }', 'approve: { above: $20 }\napprovers: [ada.pub]'])(
    'stops orders under the policy %s, and is said once',
    async (text) => {
      policy(text);
      makeKey({ ...workspace, folder: join(workspace.folder, 'own') }, 'ada');
      chmodSync(join(workspace.folder, 'own', 'ada.pub'), 0o600);
      chmodSync(shared, 0o777);
      const refused = await create('-o', 'json');
      expect(refused).toMatchObject({ code: 11, stdout: '' });
      expect(refused.stderr.trim().split('\n')).toHaveLength(1);
      expect(JSON.parse(refused.stderr).error).toMatchObject({
        category: 'policy',
        code: 'folder_replaceable',
        outcome: 'not_sent',
        message: expect.stringContaining(`${shared} can be changed by other users (mode 0777)`),
        hint: expect.stringContaining(`chmod go-w ${shared}`),
      });
      expect(warnings(refused.stderr)).toBe(1);
      expect(await orders()).toBe(0);
      chmodSync(shared, 0o755);
      expect((await create('-o', 'json')).code).toBe(text.startsWith('limits') ? 0 : 11);
    },
  );

  test('is found where the folder of the state alone is below it, and behind a link', async () => {
    policy();
    const mine = join(workspace.folder, 'mine');
    mkdirSync(mine, { mode: 0o700 });
    mkdirSync(join(shared, 'state'), { mode: 0o700 });
    symlinkSync(join(shared, 'state'), join(mine, 'state'));
    chmodSync(shared, 0o777);
    workspace.environment.ERRAND_CONFIG_DIR = join(mine, 'config');
    workspace.environment.ERRAND_STATE_DIR = join(mine, 'state');
    const refused = await create('-o', 'json');
    expect(refused.code).toBe(11);
    expect(JSON.parse(refused.stderr).error.message).toContain(`in the place of ${mine}/state`);
  });

  test('is a finding of doctor, with what to do', async () => {
    chmodSync(shared, 0o777);
    const { stdout, stderr } = await errand(workspace, ['doctor', '-o', 'json']);
    expect(JSON.parse(stdout)).toContainEqual({
      check: 'permissions',
      status: 'trouble',
      message: expect.stringContaining(`${shared} can be changed by other users (mode 0777)`),
      remedy: expect.stringContaining(`chmod go-w ${shared}`),
    });
    expect(warnings(stderr)).toBeLessThanOrEqual(1);
  });

  test.each([
    ['is sticky, like /tmp', () => chmodSync(shared, 0o1777)],
    ['only we may write', () => chmodSync(shared, 0o755)],
    [
      'only our own group may write',
      () => {
        chownSync(shared, process.geteuid?.() ?? 0, process.geteuid?.() ?? 0);
        chmodSync(shared, 0o775);
      },
    ],
  ])('is no such folder where it %s', async (_, arrange) => {
    policy();
    arrange();
    const ended = await create('-o', 'id');
    expect(ended.code).toBe(0);
    expect(ended.stderr).not.toContain('warning');
  });

  test.runIf(process.geteuid?.() === 0).each([
    ['belongs to another user', () => chownSync(shared, 4321, 4321), 'belongs to another user (uid 4321)'],
    [
      'another group may write',
      () => {
        chownSync(shared, 0, 4321);
        chmodSync(shared, 0o775);
      },
      'can be changed by other users (mode 0775)',
    ],
    [
      'is sticky, and belongs to another user',
      () => {
        chownSync(shared, 4321, 4321);
        chmodSync(shared, 0o1777);
      },
      'belongs to another user (uid 4321)',
    ],
  ])('is one that %s', async (_, arrange, why) => {
    policy();
    arrange();
    const refused = await create('-o', 'json');
    expect(refused.code).toBe(11);
    expect(JSON.parse(refused.stderr).error.message).toContain(why);
    expect(await orders()).toBe(0);
  });
});
