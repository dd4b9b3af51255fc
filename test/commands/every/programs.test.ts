import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ApprovalWorkspace, makeKey, requestIdIn } from '../../support/approval-workspace.ts';
import { TestService } from '../../support/service.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let service: TestService;
let workspace: Workspace;
beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});

/** Puts a program into a folder of the workspace; it leaves its environment in a file of its name. */
function plant(folder: string, name: string, then = ''): void {
  const file = join(workspace.folder, folder, name);
  writeFileSync(file, `#!/bin/sh\nenv > '${ran(name)}'\n${then}`, { mode: 0o755 });
}
const ran = (name: string): string => join(workspace.folder, `${name}.ran`);

describe.runIf(process.platform === 'linux')('a program that errand runs by itself', () => {
  test.each(['.', '', './'])(
    'is not ssh-keygen of the working folder, with a PATH that begins with "%s"',
    async (first) => {
      const at = new ApprovalWorkspace(workspace, service);
      const ada = makeKey(workspace, 'ada');
      at.policy(undefined, ['ada']);
      const id = requestIdIn(await at.create(5000));
      plant('', 'ssh-keygen');
      workspace.environment.PATH = `${first}:${workspace.environment.PATH}`;
      const approved = await at.run(['approval', 'approve', id, '--key', ada, '-o', 'json']);
      expect(approved).toMatchObject({ code: 0 });
      expect(JSON.parse(approved.stdout)).toMatchObject({ state: 'approved', is_signed: true });
      expect(existsSync(ran('ssh-keygen'))).toBe(false);
    },
  );

  test('gets neither a key nor a PATH that leads into the working folder', async () => {
    const at = new ApprovalWorkspace(workspace, service);
    const ada = makeKey(workspace, 'ada');
    at.policy(undefined, ['ada']);
    const id = requestIdIn(await at.create(5000));
    plant('.bin', 'ssh-keygen', 'exit 1');
    const { PATH = '' } = workspace.environment;
    Object.assign(workspace.environment, { PATH: `${PATH}:.::bin`, ERRAND_LEGACY_TOKEN: 'a-token-of-old' });
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 11 });
    const environment = readFileSync(ran('ssh-keygen'), 'utf8');
    const [, path = ''] = /^PATH=(.*)$/m.exec(environment) ?? [];
    expect(path.split(':').filter((folder) => !folder.startsWith('/'))).toEqual([]);
    expect(environment).not.toContain(service.key);
    expect(environment).not.toMatch(/^ERRAND_(?:API_KEY|LEGACY_TOKEN|DATABASE_URL)=/m);
  });

  test('is not the opener of the working folder', async () => {
    plant('.bin', 'xdg-open');
    writeFileSync(join(workspace.folder, 'xdg-open'), `#!/bin/sh\ntouch '${ran('here')}'\n`, { mode: 0o755 });
    workspace.environment.PATH = `.:${workspace.environment.PATH}`;
    workspace.environment.ERRAND_BASE_URL = '';
    workspace.environment.DISPLAY = ':0';
    await new ApprovalWorkspace(workspace, service).run([
      ...['profile', 'set', 'served', '--base-url', service.baseUrl],
    ]);
    const terminal = new Terminal(workspace, join(workspace.folder, '.bin', 'errand'), [
      ...['auth', 'login', '--profile', 'served'],
    ]);
    try {
      await terminal.shows('opened it in the browser');
      terminal.type('\u0003');
      expect(await terminal.ended()).toBe(130);
    } finally {
      terminal.close();
    }
    await expect.poll(() => existsSync(ran('xdg-open'))).toBe(true);
    expect(existsSync(ran('here'))).toBe(false);
    expect(readFileSync(ran('xdg-open'), 'utf8')).not.toContain(service.key);
  });
});
