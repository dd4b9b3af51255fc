import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { errand } from '../../support/run.ts';
import {
  orderIds,
  type ServiceToday,
  secret,
  serviceToday,
  signedEvent,
  workspaceAt,
} from '../../support/service-today.ts';
import type { Workspace } from '../../support/workspace.ts';
import { Listening } from './listening.ts';

let workspace: Workspace;
let service: ServiceToday;
beforeEach(async () => {
  service = await serviceToday();
  workspace = workspaceAt(service);
});
afterEach(() => workspace.remove());

const now = () => new Date().toISOString();
const event = (name: string, more: object = {}) => signedEvent(name, { timestamp: now(), ...more });

async function send(url: unknown, { headers, body }: { headers: Record<string, string>; body: string }) {
  const response = await fetch(String(url), { method: 'POST', headers, body });
  return response.status;
}

/** Listens with the secret that registering answers. */
async function listening(...args: readonly string[]): Promise<{ listener: Listening; url: unknown }> {
  const listener = new Listening(workspace, args);
  return { listener, url: (await listener.record('ready')).url };
}

test('a signed event is taken, and one that differs in one bit, in its name or in its signature is not', async () => {
  const { listener, url } = await listening('--register');
  const good = event('order.tracking_received');
  const signature = good.headers['x-webhook-signature'];
  const first = Number.parseInt(signature.slice(0, 1), 16);
  const flipped = `${(first ^ 1).toString(16)}${signature.slice(1)}`;
  const { 'x-webhook-signature': _, ...unsigned } = good.headers;
  for (const bad of [
    { ...good, headers: { ...good.headers, 'x-webhook-signature': flipped } },
    { ...good, headers: { ...good.headers, 'x-webhook-signature': `${signature}00` } },
    { ...good, headers: { ...good.headers, 'x-webhook-signature': 'é\u00ff' } },
    { ...good, headers: unsigned },
    { ...good, body: good.body.replace('order_placed', 'order_placeD') },
    { ...good, body: `${good.body} ` },
    signedEvent('order.placed', { timestamp: now() }, `${secret}x`),
    event('order.placed', { timestamp: '2020-01-01T00:00:00Z' }),
  ])
    expect(await send(url, bad)).toBe(401);
  // The name is that of the signed body, whatever the header says.
  const renamed = { ...good, headers: { ...good.headers, 'x-webhook-event': 'order.failed' } };
  expect([await send(url, renamed), await send(url, good)]).toEqual([200, 200]);
  const bare = event('order.placed', { data: undefined });
  const dressed = { ...bare, headers: { ...bare.headers, 'x-webhook-event': 'order.delivered' } };
  expect(await send(url, dressed)).toBe(200);
  expect(await listener.record('event')).toMatchObject({
    ...{ event: 'order.tracking_received', order_id: orderIds.parcels, verified: true },
  });
  await vi.waitFor(() => expect(listener.records.filter(({ type }) => type === 'event')).toHaveLength(2));
  expect(listener.records.findLast(({ type }) => type === 'event')).toMatchObject({ event: 'order.placed' });
  listener.interrupt();
  expect(await listener.ended()).toBe(130);
  const gaps = listener.records.filter(({ type }) => type === 'gap');
  expect(gaps.map(({ message }) => message)).toEqual([
    ...Array.from({ length: 3 }, () => 'an event was refused: its signature is wrong'),
    'an event was refused: it has no signature',
    ...Array.from({ length: 3 }, () => 'an event was refused: its signature is wrong'),
    'an event was refused: it is signed, and older than a week',
  ]);
  expect(listener.records.at(-1)).toMatchObject({ received: 3, stored: 2, duplicates: 1 });
  expect(JSON.stringify(listener.records) + listener.stderr).not.toContain(secret);
});

test('registering keeps the secret for later, and prints it nowhere', async () => {
  const args = ['webhook', 'register', 'http://127.0.0.1:9/hooks', '-o', 'json'];
  const { stdout, stderr } = await errand(workspace, args);
  expect(JSON.parse(stdout).webhook_secret).toBe('[redacted]');
  expect(stdout + stderr).not.toContain(secret);
  const folder = workspace.environment.ERRAND_STATE_DIR ?? '';
  const holding = readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => statSync(file).isFile() && readFileSync(file).includes(secret));
  expect(holding.length).toBeGreaterThan(0);
  for (const file of holding) expect(statSync(file).mode & 0o077, file).toBe(0);
  const { listener, url } = await listening();
  const { 'x-webhook-signature': _, ...headers } = event('order.placed').headers;
  expect(await send(url, { headers, body: event('order.placed').body })).toBe(401);
  expect(await send(url, event('order.placed'))).toBe(200);
  listener.interrupt();
  await listener.ended();
});

test('a secret may be given in a file, and the events of an envelope have their names in --events', async () => {
  const file = join(workspace.folder, 'signing');
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  const { listener, url } = await listening(
    ...['--signing-secret-file', file, '--events', 'order.delivered,return.approved', '--unverified'],
  );
  const returned = { return_id: '44444444-4444-4444-8444-444444444444', status: 'approved' };
  for (const one of [event('order.placed'), event('order.delivered'), event('return.approved', returned)])
    expect(await send(url, one)).toBe(200);
  const shown = () =>
    listener.records.filter(({ type }) => type === 'event').map((one) => [one.event, one.status]);
  await vi.waitFor(() =>
    expect(shown()).toEqual([
      ['order.delivered', 'order_placed'],
      ['return.approved', 'approved'],
    ]),
  );
  listener.interrupt();
  await listener.ended();
  for (const [content, why] of [
    ['', 'must hold the secret'],
    [null, 'cannot be used'],
  ] as const) {
    if (content !== null) writeFileSync(file, content, { mode: 0o600 });
    const path = content === null ? workspace.folder : file;
    const { code, stderr } = await errand(workspace, ['webhook', 'listen', '--signing-secret-file', path]);
    expect([code, stderr.includes(`--signing-secret-file ${path} ${why}`)], stderr).toEqual([2, true]);
  }
});
