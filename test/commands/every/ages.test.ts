import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand, orderOf, shell } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const day = 24 * 3600 * 1000;

describe('ages are told by the clock of the sandbox that responded', () => {
  const commands = (order: string): readonly (readonly string[])[] => [
    ['order', 'list'],
    ['order', 'get', order],
    ['order', 'timeline', order],
    ['track', order],
    ['usage'],
    ['wallet'],
  ];

  test('embedded, after it was advanced', async () => {
    const order = await orderOf(workspace, 'test-success');
    await errand(workspace, ['sandbox', 'advance', '2d']);
    const list = await errand(workspace, ['order', 'list', '--fields', 'created_at']);
    expect(list.stdout).toMatch(/^2d ago$/m);
    for (const command of commands(order)) {
      const { stdout, code } = await errand(workspace, command);
      expect(code).toBe(0);
      expect(stdout, command.join(' ')).not.toMatch(/\bin \d+[dhm]\b/);
    }
    const younger = await orderOf(workspace, 'test-slow');
    const { stdout } = await errand(workspace, ['order', 'get', younger, '--fields', 'created_at']);
    expect(stdout).toMatch(/created +(now|\ds ago)$/m);
  });

  test('served, in whichever direction its clock differs', async () => {
    for (const ahead of [2 * day, -2 * day]) {
      const service = await TestService.start({ now: Date.now() + ahead });
      const environment = { ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key };
      Object.assign(workspace.environment, environment);
      const created = (await service.order('test-slow')).body.id;
      const read = await errand(workspace, ['order', 'get', created, '--fields', 'created_at']);
      expect(read.stdout).toMatch(/created +(now|\ds ago)$/m);
      service.pass(5 * 3600 * 1000);
      for (const command of commands(created)) {
        const { stdout } = await errand(workspace, command);
        expect(stdout, command.join(' ')).not.toMatch(/\bin \d+[dhm]\b|\b2d ago/);
      }
      await service.stop();
    }
  });

  test('also in a live view, and what was written here keeps the time of this machine', async () => {
    const order = await orderOf(workspace, 'test-slow');
    await errand(workspace, ['sandbox', 'advance', '20s']);
    const terminal = new Terminal(workspace, 'errand', ['order', 'watch', order]);
    await terminal.shows(/waiting .* [23]\ds ago/);
    terminal.type('\u0003');
    await terminal.ended();
    await errand(workspace, ['sandbox', 'advance', '3d']);
    const journal = await shell(workspace, 'errand order journal list --all --fields created_at');
    expect(journal.stdout).toMatch(/\b(now|\d+s ago)$/m);
  });
});

test('the sandbox gives its own time in every response', async () => {
  const service = await TestService.start({ now: Date.parse('2026-03-01T12:00:00Z') });
  for (const target of ['/orders', '/nothing', '/', '/shop']) {
    const { headers } = await service.send('GET', target);
    expect(headers.get('date')).toBe('Sun, 01 Mar 2026 12:00:00 GMT');
  }
  service.pass(60_000);
  expect((await service.send('GET', '/wallet/me')).headers.get('date')).toBe('Sun, 01 Mar 2026 12:01:00 GMT');
  await service.stop();
});
