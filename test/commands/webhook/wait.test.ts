import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Begun } from '../../support/begun.ts';
import { json, peer } from '../../support/peer.ts';
import { begin, errand, type Finished, orderOf } from '../../support/run.ts';
import { order, orderId } from '../../support/webhook-order.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { Listening } from './listening.ts';

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_abcdefghijkl1234' });
});
afterEach(() => workspace.remove());

const event = 'request_succeeded';
const nobody = 'no `errand webhook listen` is running on this machine';
const unregistered = 'no address of it is registered here';

const waitArgs = (name: string): string[] => [
  'webhook',
  'wait',
  '--order',
  orderId,
  '--event',
  name,
  '-o',
  'json',
];
const waitFor = (name: string, ...more: string[]): Promise<Finished> =>
  errand(workspace, [...waitArgs(name), ...more]);
const wait = (...more: string[]): Promise<Finished> => waitFor(event, ...more);
const waiting = (...more: string[]): Begun => new Begun(workspace, [...waitArgs(event), ...more]);

/** Expires the deadline once a note shows that the command is waiting. */
async function untilDeadline(begun: Begun, note: string): Promise<Finished> {
  await begun.prints(note);
  begun.passDeadline();
  return begun.ended();
}

const delivered = order('order_placed', {
  items: [{ status: 'delivered' }],
  tracking_numbers: [{ status: 'delivered' }],
});

/** Starts a listener whose service responds with this for the order. */
async function listening(said: Parameters<typeof json>): Promise<Listening> {
  const { url } = await peer(json(...said));
  workspace.environment.ERRAND_BASE_URL = url;
  const listener = new Listening(workspace, ['--unverified']);
  await listener.record('ready');
  return listener;
}

async function deliver(listener: Listening, name: string, status = 'order_placed'): Promise<void> {
  const { url } = await listener.record('ready');
  const headers = { 'x-webhook-event': name };
  const sent = await fetch(String(url), { method: 'POST', body: JSON.stringify(order(status)), headers });
  expect(sent.status).toBe(200);
}

describe('webhook wait', () => {
  test('an event that was received before is there at once, also under its older name', async () => {
    const listener = await listening([order('order_placed')]);
    await deliver(listener, 'order_placed');
    const found = await wait();
    expect(found, found.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(found.stdout)).toMatchObject({ id: 1, event: 'order_placed', order_id: orderId });
  });

  test('one that comes is waited for; that it may not be sent here is told once', async () => {
    const listener = await listening([order('order_placed')]);
    await deliver(listener, 'status_updated');
    const begun = waiting();
    await begun.prints(unregistered);
    await deliver(listener, event);
    const found = await begun.ended();
    expect(found.code, found.stderr).toBe(0);
    expect(found.stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(unregistered)]);
    expect(JSON.parse(found.stdout)).toMatchObject({ id: 2, event });
  });

  test('at the deadline: 8, nothing on stdout, and the way on; a listener that was killed is none', async () => {
    const listener = await listening([order('order_placed')]);
    const late = await untilDeadline(waiting('--timeout', '30m'), unregistered);
    expect(late).toMatchObject({ code: 8, stdout: '' });
    expect(late.stderr).not.toContain(nobody);
    listener.kill();
    await listener.ended();
    const line = ['webhook', 'wait', '--order', orderId, '--event', event, '--timeout', '30m'];
    const unheard = await untilDeadline(new Begun(workspace, line), nobody);
    expect(unheard).toMatchObject({ code: 8, stdout: '' });
    expect(unheard.stderr.split('\n').slice(0, 2)).toEqual([
      expect.stringContaining(nobody),
      `error: --timeout passed; no ${event} of order ${orderId} had come`,
    ]);
    expect(unheard.stderr).toContain(
      `try: errand webhook wait --order ${orderId} --event ${event} --timeout 30m — to go on waiting\n`,
    );
    expect(unheard.stderr).toContain(`try: errand webhook events --order ${orderId}`);
  });

  test('a listener that ended is none', async () => {
    const listener = await listening([order('order_placed')]);
    listener.interrupt();
    await listener.ended();
    expect(await untilDeadline(waiting('--timeout', '30m'), nobody)).toMatchObject({ code: 8 });
  });

  test('an event that the service does not confirm does not count, unless it is taken unverified', async () => {
    const listener = await listening([order('pending')]);
    await deliver(listener, event);
    const forged = await untilDeadline(waiting('--timeout', '30m'), 'does not count');
    expect(forged).toMatchObject({ code: 8, stdout: '' });
    expect(forged.stderr.split('does not count')).toHaveLength(2);
    expect(forged.stderr).toContain(`the service's order is pending, which does not confirm ${event}`);
    expect((await wait('--unverified')).code).toBe(0);
  });

  test('an order that the service does not know ends it: no wait mends that', async () => {
    const listener = await listening([{ code: 'not_found', message: 'no such order', details: {} }, 404]);
    await deliver(listener, event);
    expect(await wait()).toMatchObject({ code: 4, stdout: '' });
  });

  test('an event of another service does not count', async () => {
    const listener = await listening([order('order_placed')]);
    await deliver(listener, event);
    const elsewhere = waiting('--timeout', '30m', '--base-url', 'http://127.0.0.1:9');
    const other = await untilDeadline(elsewhere, 'cannot be read');
    expect(other).toMatchObject({ code: 8, stdout: '' });
  });

  test.each([
    ['order_failed', 'failed'],
    ['cancelled', 'cancelled'],
  ])('an order that is %s sends no such event: 7 at once, though there is time', async (status, state) => {
    await listening([order(status)]);
    const { code, stdout, stderr } = await wait();
    expect([code, stdout]).toEqual([7, '']);
    const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
    expect(error.message).toBe(
      `no ${event} of order ${orderId} was received, and none can come any more: the order is ${state}`,
    );
  });

  test('one that was sent before the order ended may still be on its way to a listener', async () => {
    const listener = await listening([delivered]);
    // The clock is frozen, so the event counts as in flight as long as the test needs.
    const begun = new Begun(workspace, waitArgs(event), 'still');
    await begun.prints(unregistered);
    await deliver(listener, event);
    expect((await begun.ended()).code).toBe(0);
    const late = await waitFor('tracking_updated');
    expect(late.code, late.stderr).toBe(7);
    listener.kill();
    await listener.ended();
    const unheard = await waitFor('tracking_updated');
    expect(unheard).toMatchObject({ code: 7, stdout: '' });
    expect(unheard.stderr).toContain('the order is delivered');
  });

  test('an order that fails while it is waited for ends the wait, once another event tells of it', async () => {
    let status = 'pending';
    const { url } = await peer((...asked) => json(order(status))(...asked));
    workspace.environment.ERRAND_BASE_URL = url;
    const listener = new Listening(workspace, ['--unverified']);
    await listener.record('ready');
    const begun = waiting();
    await begun.prints(unregistered);
    status = 'order_failed';
    await deliver(listener, 'status_updated', status);
    const { code, stderr } = await begun.ended();
    expect(code, stderr).toBe(7);
    expect(stderr).toContain('none can come any more');
  });

  test('an unknown order ends it at once: 4, unless it may be missing', async () => {
    const { url, received } = await peer(json({ code: 'not_found', message: 'no such order' }, 404));
    workspace.environment.ERRAND_BASE_URL = url;
    expect(await wait()).toMatchObject({ code: 4, stdout: '' });
    expect(received).toHaveLength(1);
    const missing = waiting('--timeout', '30m', '--allow-missing');
    expect((await untilDeadline(missing, nobody)).code).toBe(8);
    // No further request until an event refers to the order.
    expect(received).toHaveLength(2);
  });

  test('an address that leads here is known: the one that is registered, or one of the order', async () => {
    delete workspace.environment.ERRAND_API_KEY;
    const notes = async (id: string): Promise<string[]> => {
      const args = ['webhook', 'wait', '--order', id, '--event', 'case_updated', '--timeout', '300ms'];
      const { code, stderr } = await errand(workspace, args);
      expect(code, stderr).toBe(8);
      return stderr.split('\n').filter((line) => line.startsWith('note:'));
    };
    const plain = await orderOf(workspace, 'test-never');
    const listener = new Listening(workspace, []);
    const { url } = await listener.record('ready');
    const own = await orderOf(workspace, 'test-never', ['--webhook', `case_updated=${url}`]);
    expect(await notes(own)).toEqual([]);
    expect(await notes(plain)).toEqual([expect.stringContaining(unregistered)]);
    listener.interrupt();
    await listener.ended();
    await new Listening(workspace, ['--register']).record('ready');
    expect(await notes(plain)).toEqual([]);
  });

  test('Ctrl-C ends it calmly, with the command that goes on', async () => {
    const { url } = await peer(json(order('pending')));
    const line = [
      'webhook',
      'wait',
      '--order',
      orderId,
      '--event',
      `${event},case_updated`,
      '--timeout',
      '10m',
      '--base-url',
      url,
    ];
    const child = begin(workspace, 'errand', line);
    let stderr = '';
    child.stderr.on('data', (data) => {
      stderr += data;
      if (stderr.includes(nobody) && !child.killed) child.kill('SIGINT');
    });
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(130);
    expect(stderr.trimEnd().split('\n').slice(1)).toEqual([
      `stopped waiting; no ${event} or case_updated of order ${orderId} had come`,
      `to go on waiting: errand ${line.join(' ')}`,
    ]);
  });

  test.each([
    [['--order', orderId], '--event is missing'],
    [['--event', event], '--order is missing'],
    [[], '--order and --event are missing'],
    [['--order', 'x', '--event', event], 'order id "x" is not a UUID'],
    [['--order', orderId, '--event', 'order_plcaed'], '--event takes one of'],
  ])('%j is refused before anything is waited for', async (args, message) => {
    const refused = await errand(workspace, ['webhook', 'wait', ...args]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(message);
  });
});
