import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { orderBody } from '../support/order-body.ts';
import { Terminal } from '../support/terminal.ts';
import { Till } from '../support/till.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let till: Till;
let workspace: Workspace;
let terminal: Terminal;

beforeEach(async () => {
  till = await Till.open();
  workspace = makeWorkspace({ ERRAND_BASE_URL: till.url });
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(orderBody(till.product())));
  writeFileSync(
    join(workspace.folder, 'wallet.sh'),
    `echo ran >&2; printf '{"payload":{"signature":"0x1"}}'\n`,
  );
});
afterEach(async () => {
  terminal.close();
  workspace.remove();
  await till.close();
});

function order(): void {
  const args = ['agent', 'order', 'create', '--file', 'order.json', '--pay-command', 'sh wallet.sh'];
  terminal = new Terminal(workspace, 'errand', args);
}

test('a person chooses the method, sees price, payee and expiry, and agrees', async () => {
  order();
  await terminal.shows('Pay by');
  terminal.type('\u001b[B\u001b[B\r');
  await terminal.shows('Pay $51.00?');
  expect(terminal.text).toMatch(
    /pay\s+\$51\.00\n\s+to\s+till\n\s+method\s+tempo\n\s+by\s+sh wallet\.sh\n\s+until\s+20/,
  );
  expect(terminal.text).toContain(`service  ${till.url}\n  claims   "the till"`);
  expect(terminal.text).not.toContain('ran');
  terminal.type('y\r');
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toContain('paid $51.00 by tempo');
  expect(till.payloads).toEqual([{ signature: '0x1' }]);
});

test('no is the answer unless yes is said: no wallet runs, nothing is paid', async () => {
  till.mood.methods = ['tempo'];
  order();
  await terminal.shows('Pay $51.00?');
  terminal.type('\r');
  expect(await terminal.ended()).toBe(130);
  expect(terminal.text).toContain('not paid');
  expect(terminal.text).not.toContain('ran\n');
  expect(till.paid).toEqual([]);
});
