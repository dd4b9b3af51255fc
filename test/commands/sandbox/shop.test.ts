import { afterEach, beforeEach, expect, test } from 'vitest';
import { page } from '../../support/read-page.ts';
import { errand, shell } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let service: TestService;
beforeEach(async () => {
  workspace = makeWorkspace();
  service = await TestService.start();
});
afterEach(async () => {
  await service.stop();
  workspace.remove();
});

test.each([
  ['test-success', 0, 'delivered'],
  ['test-gift-unavailable', 7, 'gift_option_unavailable'],
  ['test-quantity-limit', 7, 'quantity_limit_exceeded'],
  ['test-invalid-address', 7, 'invalid_shipping_address'],
])(
  'the commands on the page of %s run as they stand, here, and bring about what it says',
  async (slug, code, outcome) => {
    const { text } = await page(service, `/shop/${slug}`);
    const commands = [...text.matchAll(/<pre[^>]*>(errand .*?)<\/pre>/gs)].map(([, command = '']) =>
      command.replaceAll('&#39;', "'"),
    );
    const [order = '', setUp = ''] = commands;
    const before = await shell(workspace, order);
    expect([before.code, before.stderr]).toEqual([2, expect.stringContaining('there is no profile')]);
    expect((await shell(workspace, setUp)).stderr).toContain('stored for profile');
    const passing = setInterval(() => service.pass(2000), 50);
    const ended = await shell(workspace, order);
    clearInterval(passing);
    expect([ended.code, ended.stdout + ended.stderr]).toEqual([code, expect.stringContaining(outcome)]);
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout).toBe('');
  },
);
