import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sandboxFile } from '../../../src/sandbox/embedded.ts';
import { makeFolder } from '../../support/folder.ts';
import { Receiver } from '../../support/receiver.ts';
import { TestService } from '../../support/service.ts';

const day = 24 * 3600 * 1000;
const controlPath = '/sandbox/control';

let folder: ReturnType<typeof makeFolder>;
let service: TestService;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  await service.stop();
  folder.remove();
  expect(service.bugs).toEqual([]);
});

const act = (action: string, body: unknown, headers: Record<string, string> = {}) =>
  service.send('POST', `${controlPath}/${action}`, body, null, headers);
const state = async () => (await service.send('GET', controlPath, undefined, null)).body;
const total = async () => (await service.send('GET', '/orders')).body.total;

test('a snapshot is put back through no link that stands where its copy goes', async () => {
  const file = sandboxFile(folder.path);
  service = await TestService.start({ file });
  await act('snapshot', { name: 'kept' });
  const notes = join(folder.path, 'notes.txt');
  writeFileSync(notes, 'mine');
  symlinkSync(notes, join(dirname(file), 'snapshots', `kept.db.${process.pid}`));
  expect((await act('restore', { name: 'kept' })).status).toBe(200);
  expect(readFileSync(notes, 'utf8')).toBe('mine');
});

describe.each([
  ['in memory', () => ':memory:'],
  ['in a file', () => sandboxFile(folder.path)],
])('a served sandbox %s is controlled as a whole', (_, file) => {
  beforeEach(async () => {
    service = await TestService.start({ file: file() });
  });

  test('it says that it is one, and how it stands', async () => {
    expect(await state()).toEqual({
      sandbox: 'errand',
      now: '2026-03-01T12:00:00.000Z',
      speed: 1,
      seed: 7,
      faults: [],
      fault_seed: 7,
      stuck: [],
      kept_in: file() === ':memory:' ? null : file(),
      snapshots: [],
    });
  });

  test('its time moves on, through all that is due: webhooks are sent on the way, and again where they are refused', async () => {
    const receiver = await Receiver.start();
    let refused = 0;
    receiver.reply = () => {
      refused += 1;
      return { status: refused === 1 ? 503 : 200 };
    };
    await service.send('POST', '/users', { webhook_url: receiver.at() });
    const { id } = (await service.order('test-success')).body;
    const moved = await act('advance', { ms: day });
    expect(moved.body).toMatchObject({ now: '2026-03-02T12:00:00.000Z', left_ms: 0 });
    expect((await service.send('GET', `/orders/${id}`)).body.status).toBe('order_placed');
    const events = receiver.received.map(({ event }) => event);
    expect(events.length).toBeGreaterThan(3);
    expect(events[1]).toBe(events[0]);
    await receiver.stop();
  });

  test('a state is kept by its name and comes back with its time, and is not replaced unasked', async () => {
    await service.order('test-success');
    await act('snapshot', { name: 'before' });
    await service.order('test-success', { idempotency_key: 'another' });
    await act('advance', { ms: day });
    const again = await act('snapshot', { name: 'before' });
    expect([again.status, again.body.code]).toEqual([409, 'already_exists']);
    const restored = await act('restore', { name: 'before' });
    expect(restored.body).toMatchObject({ now: '2026-03-01T12:00:00.000Z' });
    expect(await total()).toBe(1);
    await service.order('test-success', { idempotency_key: 'a third' });
    await act('snapshot', { name: 'before', force: true });
    await act('reset', {});
    await act('restore', { name: 'before' });
    expect(await total()).toBe(2);
    expect((await state()).snapshots.map(({ name }: { name: string }) => name)).toEqual(['before']);
    const missing = await act('restore', { name: 'after' });
    expect([missing.status, missing.body.message]).toEqual([
      404,
      'There is no snapshot after; there are before.',
    ]);
  });

  test('it is emptied and goes on, as it was started', async () => {
    const { id } = (await service.order('test-success')).body;
    await act('advance', { ms: day });
    await act('faults', { faults: ['503'] });
    expect((await act('reset', {})).body).toMatchObject({ now: '2026-03-01T12:00:00.000Z', faults: [] });
    expect((await service.send('GET', '/orders')).status).toBe(401);
    service.key = await service.mint();
    expect((await service.order('test-success')).body.id).toBe(id);
  });

  test('its speed is for what is created from then on', async () => {
    await act('speed', { speed: 100 });
    const { id } = (await service.order('test-success')).body;
    service.pass(200);
    expect((await service.send('GET', `/orders/${id}`)).body.status).toBe('order_placed');
    expect((await state()).speed).toBe(100);
  });

  test('faults are switched on and off while it runs, the same ones for the same seed, and none falls on the control', async () => {
    const statuses = async (): Promise<number[]> => {
      const found: number[] = [];
      for (let sent = 0; sent < 20; sent += 1) found.push((await service.send('GET', '/orders')).status);
      return found;
    };
    await act('faults', { faults: ['503:50%'], seed: 3 });
    const first = await statuses();
    expect(new Set(first)).toEqual(new Set([200, 503]));
    await act('faults', { faults: ['503:50%'], seed: 3 });
    expect(await statuses()).toEqual(first);
    expect(await state()).toMatchObject({ faults: ['503:50%'], fault_seed: 3 });
    await act('snapshot', { name: 'kept' });
    await act('faults', { faults: ['refuse'] });
    await expect(service.send('GET', '/orders')).rejects.toThrow();
    await act('restore', { name: 'kept' });
    expect((await state()).faults).toEqual(['refuse']);
    await act('faults', { faults: [] });
    expect(new Set(await statuses())).toEqual(new Set([200]));
  });
});

describe('only its own machine controls it', () => {
  beforeEach(async () => {
    service = await TestService.start({ config: { latencyMs: 0 } });
    await service.order('test-slow');
  });

  test.each<[string, Record<string, string>]>([
    ['through a proxy', { 'x-forwarded-for': '203.0.113.5' }],
    ['through a proxy that names itself', { via: '1.1 gateway' }],
    ['from a page of another site', { origin: 'https://evil.example' }],
    ['from a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['from a sandboxed page', { origin: 'null' }],
    ['from a page that hides its origin', { 'sec-fetch-site': 'cross-site' }],
    ['from a page of the same site', { 'sec-fetch-site': 'same-site' }],
  ])('not %s', async (_, headers) => {
    for (const [method, path] of [
      ['GET', controlPath],
      ['POST', `${controlPath}/reset`],
    ] as const) {
      const response = await service.send(method, path, method === 'GET' ? undefined : {}, null, headers);
      expect(response.status).toBe(403);
      expect(response.body).toMatchObject({ code: 'forbidden', details: { resource: 'sandbox_control' } });
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    }
    expect(await total()).toBe(1);
  });

  test('no page may read or send anything there: no origin is let in, and a form of a browser is refused', async () => {
    const origin = 'http://localhost:3000';
    const read = await service.send('GET', controlPath, undefined, null, { origin });
    expect(read.headers.get('access-control-allow-origin')).toBeNull();
    const asked = await fetch(`${service.baseUrl}${controlPath}/reset`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([405, null]);
    for (const type of [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
    ]) {
      const form = await act('reset', '{}', { 'content-type': type });
      expect([form.status, form.body.message]).toEqual([
        400,
        'An action takes a JSON object: Content-Type application/json.',
      ]);
    }
    expect(await total()).toBe(1);
  });

  test('nor under a name that is not its own', async () => {
    const status = await new Promise((resolve, reject) => {
      const { port } = new URL(service.baseUrl);
      const sent = request(
        {
          port,
          host: '127.0.0.1',
          method: 'POST',
          path: `${controlPath}/reset`,
          headers: { host: 'evil.example', 'content-type': 'application/json' },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      sent.on('error', reject).end('{}');
    });
    expect(status).toBe(421);
    expect(await total()).toBe(1);
  });

  test('and its own page may', async () => {
    const response = await act(
      'advance',
      { ms: 1000 },
      { origin: service.baseUrl, 'sec-fetch-site': 'same-origin' },
    );
    expect(response.status).toBe(200);
  });
});

describe('what it is sent is checked', () => {
  beforeEach(async () => {
    service = await TestService.start();
    await service.order('test-slow');
  });

  test.each([
    ['advance', {}, 'ms'],
    ['advance', { ms: -1 }, 'ms'],
    ['advance', { ms: 1.5 }, 'ms'],
    ['advance', { ms: '1000' }, 'ms'],
    ['advance', { ms: 1, days: 1 }, 'days'],
    ['snapshot', { name: 7 }, 'name'],
    ['snapshot', { name: 'a', force: 'yes' }, 'force'],
    ['speed', { speed: 0 }, 'speed'],
    ['faults', { faults: '503' }, 'faults'],
    ['faults', { faults: [], seed: -1 }, 'seed'],
    ['reset', { all: true }, 'all'],
  ])('%s %j: the field is named', async (action, body, field) => {
    const response = await act(action, body);
    expect(response.status).toBe(422);
    expect(response.body.detail[0].loc).toEqual(['body', field]);
    expect(await total()).toBe(1);
  });

  test.each([
    ['snapshot', { name: '../../etc' }, 400],
    ['snapshot', { name: '' }, 400],
    ['restore', { name: '../sandbox' }, 404],
    ['faults', { faults: ['explode'] }, 400],
    ['explode', {}, 404],
  ])('%s %j: refused', async (action, body, status) => {
    expect((await act(action, body)).status).toBe(status);
    expect(await state()).toMatchObject({ faults: [], snapshots: [] });
  });

  test('what controls it takes no other method', async () => {
    expect((await service.send('GET', `${controlPath}/reset`, undefined, null)).status).toBe(405);
    expect((await service.send('DELETE', controlPath, undefined, null)).status).toBe(405);
  });
});
