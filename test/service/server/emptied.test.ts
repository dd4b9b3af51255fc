import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deleteEmbedded, openEmbedded, sandboxFile } from '../../../src/sandbox/embedded.ts';
import type { Control } from '../../../src/sandbox/server/service.ts';
import { Store } from '../../../src/sandbox/store/store.ts';
import { makeFolder } from '../../support/folder.ts';
import { Receiver } from '../../support/receiver.ts';
import { TestService } from '../../support/service.ts';

let folder: ReturnType<typeof makeFolder>;
let service: TestService;
let receiver: Receiver;
beforeEach(async () => {
  folder = makeFolder();
  service = await TestService.start({ file: sandboxFile(folder.path) });
  receiver = await Receiver.start();
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
  folder.remove();
  expect(service.bugs).toEqual([]);
});

const clock = () => Date.parse('2026-03-01T12:00:00Z');
/** Acts like another process on the same data. */
async function elsewhere(act: (control: Control) => Promise<unknown>): Promise<void> {
  const other = await openEmbedded({
    stateDir: folder.path,
    speed: 1,
    seed: undefined,
    now: clock,
    report: (error) => service.bugs.push(error),
  });
  try {
    await act(await other.service.control());
  } finally {
    await other.close();
  }
}

const keep = () => elsewhere((control) => control.snapshot('kept'));
const bringBack = () => elsewhere((control) => control.restore('kept'));
const itself = async (action: string, body: object): Promise<void> => {
  expect((await service.send('POST', `/sandbox/control/${action}`, body, null)).status).toBe(200);
};
const register = () => service.send('POST', '/users', { webhook_url: receiver.at() });

/** Brings an order to its first event, whose delivery hangs until the returned function is called. */
async function deliveryUnderWay(): Promise<() => void> {
  let response = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    response = resolve;
  });
  receiver.reply = () => held.then(() => ({ status: 200 }));
  await register();
  await service.order('test-success');
  service.pass(1_200);
  await service.send('GET', '/wallet/me');
  await receiver.until(1);
  return () => {
    receiver.reply = () => ({ status: 200 });
    response();
  };
}

test('a served sandbox that is reset goes on with no data, and keeps what it accepts from then on', async () => {
  const { id: before } = (await service.order('test-success')).body;
  await deleteEmbedded(folder.path);
  expect((await service.send('GET', '/wallet/me')).status).toBe(401);
  service.key = await service.mint();
  const { id } = (await service.order('test-success')).body;
  // The same seed: ids restart as with a new file.
  expect(id).toBe(before);
  const other = await openEmbedded({
    stateDir: folder.path,
    speed: 1,
    seed: undefined,
    now: clock,
    report: (error) => service.bugs.push(error),
  });
  expect(other.service.store.all('SELECT id FROM orders')).toEqual([{ id }]);
  await other.close();
});

test('a file that is no store any more is deleted', async () => {
  await service.stop();
  writeFileSync(sandboxFile(folder.path), 'not a database, and longer than a header of one'.repeat(100));
  await deleteEmbedded(folder.path);
  service = await TestService.start({ file: sandboxFile(folder.path) });
  expect((await service.order('test-success')).status).toBe(201);
});

test('a state is brought back together with its time, or not at all', async () => {
  const file = sandboxFile(folder.path);
  await keep();
  const { id } = (await service.order('test-success')).body;
  const store = await Store.open(file);
  // Make the last statement fail, as if the process was killed midway.
  await store.perform(
    "CREATE TRIGGER refuse BEFORE INSERT ON meta WHEN NEW.name = 'clock_offset_ms' BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  await expect(bringBack()).rejects.toThrow('no');
  expect(store.all('SELECT id FROM orders')).toEqual([{ id }]);
  await store.perform('DROP TRIGGER refuse');
  await bringBack();
  expect(store.all('SELECT id FROM orders')).toEqual([]);
  await store.close();
});

test.each([
  ['reset', () => deleteEmbedded(folder.path)],
  ['brought back to an earlier state', bringBack],
  ['reset by itself', () => itself('reset', {})],
  ['brought back to an earlier state by itself', () => itself('restore', { name: 'kept' })],
])('a sandbox that is %s while it delivers a webhook delivers those that come after', async (_, change) => {
  await keep();
  const response = await deliveryUnderWay();
  await change();
  response();
  service.key = await service.mint();
  await register();
  const { id } = (await service.order('test-success')).body;
  service.pass(1_200);
  await service.send('GET', '/wallet/me');
  await receiver.until(2);
  expect(receiver.received.at(-1)?.orderId).toBe(id);
});

test('who advances it gets it back in good time, and goes on with what is left', async () => {
  await register();
  await service.order('test-success');
  const steps: number[] = [];
  await elsewhere(async (control) => {
    let left = 3_600_000;
    while (left > 0) {
      ({ left } = await control.advance(left, 0));
      steps.push(left);
    }
  });
  expect(steps.length).toBeGreaterThan(4);
  expect(steps).toEqual(steps.toSorted((one, other) => other - one));
  expect((await service.send('GET', '/sandbox/control', undefined, null)).body.now).toBe(
    '2026-03-01T13:00:00.000Z',
  );
  expect(receiver.received.map(({ event }) => event)).toContain('request_succeeded');
});

test('two that advance it at once move it by both', async () => {
  await service.order('test-success');
  const both = [1, 2].map(() => service.send('POST', '/sandbox/control/advance', { ms: 3_600_000 }, null));
  await Promise.all([...both, elsewhere((control) => control.advance(3_600_000))]);
  expect((await service.send('GET', '/sandbox/control', undefined, null)).body.now).toBe(
    '2026-03-01T15:00:00.000Z',
  );
});
