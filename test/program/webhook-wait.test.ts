import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json, peer } from '../http/peer.ts';
import { order, orderId } from '../webhooks/order.ts';
import { Listening } from './listening.ts';
import { errand, type Finished } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_abcdefghijkl1234' });
});
afterEach(() => workspace.remove());

const event = 'request_succeeded';
const nobody = 'no `errand webhook listen` is running on this machine';

const wait = (...more: string[]): Promise<Finished> =>
  errand(workspace, ['webhook', 'wait', '--order', orderId, '--event', event, '-o', 'json', ...more]);

/** A listener of a service that says this of the order. */
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
    const found = await wait('--timeout', '20s');
    expect(found, found.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(found.stdout)).toMatchObject({ id: 1, event: 'order_placed', order_id: orderId });
  });

  test('one that comes is waited for, and nobody is told that nobody listens', async () => {
    const listener = await listening([order('order_placed')]);
    await deliver(listener, 'status_updated');
    const waiting = wait('--timeout', '20s');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await deliver(listener, event);
    const found = await waiting;
    expect(found, found.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(found.stdout)).toMatchObject({ id: 2, event });
  });

  test('at the deadline: 8, nothing on stdout, and the way on; a listener that was killed is none', async () => {
    const listener = await listening([order('order_placed')]);
    const late = await wait('--timeout', '500ms');
    expect(late).toMatchObject({ code: 8, stdout: '' });
    expect(late.stderr).not.toContain(nobody);
    listener.kill();
    await listener.ended();
    const unheard = await errand(workspace, [
      'webhook',
      'wait',
      '--order',
      orderId,
      '--event',
      event,
      '--timeout',
      '500ms',
    ]);
    expect(unheard).toMatchObject({ code: 8, stdout: '' });
    expect(unheard.stderr.split('\n').slice(0, 2)).toEqual([
      expect.stringContaining(nobody),
      `error: --timeout passed; no ${event} of order ${orderId} had come`,
    ]);
    expect(unheard.stderr).toContain(`try: errand webhook events --order ${orderId}`);
  });

  test('a listener that ended is none', async () => {
    const listener = await listening([order('order_placed')]);
    listener.interrupt();
    await listener.ended();
    expect((await wait('--timeout', '200ms')).stderr).toContain(nobody);
  });

  test('an event that the service does not confirm does not count, unless it is taken unverified', async () => {
    const listener = await listening([order('pending')]);
    await deliver(listener, event);
    const forged = await wait('--timeout', '2s');
    expect(forged).toMatchObject({ code: 8, stdout: '' });
    expect(forged.stderr.split('does not count')).toHaveLength(2);
    expect(forged.stderr).toContain(`the service's order is pending, which does not confirm ${event}`);
    expect((await wait('--timeout', '2s', '--unverified')).code).toBe(0);
  });

  test('an order that the service does not know ends it: no wait mends that', async () => {
    const listener = await listening([{ code: 'not_found', message: 'no such order', details: {} }, 404]);
    await deliver(listener, event);
    expect(await wait('--timeout', '20s')).toMatchObject({ code: 4, stdout: '' });
  });

  test('an event of another service does not count', async () => {
    const listener = await listening([order('order_placed')]);
    await deliver(listener, event);
    const other = await wait('--timeout', '300ms', '--base-url', 'http://127.0.0.1:9');
    expect(other).toMatchObject({ code: 8, stdout: '' });
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
