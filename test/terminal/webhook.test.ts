import { afterEach, beforeEach, expect, test } from 'vitest';
import { Screen } from '../support/screen.ts';
import { Terminal } from '../support/terminal.ts';
import { order, orderId } from '../support/webhook-order.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

test('on a terminal events are lines that obey nothing of what came, until Ctrl-C', async () => {
  const terminal = new Terminal(workspace, 'errand', ['webhook', 'listen'], { columns: 160 });
  try {
    await terminal.shows(/listening on http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\n/);
    const url = /http:\S+/.exec(terminal.text)?.[0] ?? '';
    const send = (status: string) =>
      fetch(url, {
        method: 'POST',
        body: JSON.stringify(order(status)),
        headers: { 'x-webhook-event': 'status_updated' },
      });
    await send('pending');
    await terminal.shows(
      new RegExp(
        `1  [\\d:]{8}Z  status_updated     ${orderId.slice(0, 8)}  ✖ not verified: it says "waiting", `,
      ),
    );
    await send('\u001b]0;owned\u0007\u001b[2J\u202eevil\nnext');
    await terminal.shows('evil⏎next');
    expect(terminal.raw).not.toMatch(/\u001b\]0|\u001b\[2J|\u202e/);
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.text).toContain('2 received, 2 new, 0 duplicates');
    expect(terminal.text).toMatch(/^stopped listening\nwhat was received is kept: .*errand webhook events$/m);
    expect(terminal.text).not.toContain('error');
  } finally {
    terminal.close();
  }
});

test.each([
  [100, `waiting for request_succeeded of order ${orderId.slice(0, 8)}, 1 s`],
  [40, 'waiting for request_succeeded, 1 s'],
])(
  'in %i columns webhook wait shows for how long it waits, and Ctrl-C takes that away',
  async (columns, shown) => {
    const line = ['webhook', 'wait', '--order', orderId, '--event', 'request_succeeded', '--allow-missing'];
    const terminal = new Terminal(workspace, 'errand', [...line, '--timeout', '10m'], { columns });
    try {
      await terminal.shows(shown);
      terminal.type('\u0003');
      expect(await terminal.ended()).toBe(130);
      const screen = new Screen(columns, 40);
      screen.write(terminal.raw.replaceAll('\r\n', '\n'));
      expect(screen.lines().join('\n')).not.toContain('waiting for');
      // An abbreviated id would not resolve while the order is unknown.
      const again = `errand webhook wait --order ${orderId} --event request_succeeded --allow-missing`;
      expect(terminal.text).toContain(`${again} --timeout 10m`);
    } finally {
      terminal.close();
    }
  },
);
