import { expect, test } from 'vitest';
import { onceOf, page, submit, textOf } from '../../support/read-page.ts';
import { Receiver } from '../../support/receiver.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const act = (name: string, fields: Record<string, string> = {}) =>
  submit(service, `/console/time/${name}`, fields);
const advance = (count: string, unit: string, once: string = crypto.randomUUID()) =>
  act('advance', { count, unit, once });
const now = async (): Promise<number> =>
  Date.parse((await service.send('GET', '/healthz')).headers.get('date') ?? '');
const start = Date.parse('2026-03-01T12:00:00Z');
const statusOf = async (id: string) => (await service.send('GET', `/orders/${id}`)).body.status;

test.each([
  ['1', 'hours', 3_600_000],
  ['1', 'days', 86_400_000],
  ['15', 'minutes', 900_000],
  ['2500', 'ms', 2500],
])('the clock goes forward by %s %s', async (count, unit, ms) => {
  const done = await advance(count, unit);
  expect([done.status, done.headers.get('location')]).toEqual([303, '/console/time']);
  expect(await now()).toBe(start + Math.floor(ms / 1000) * 1000);
});

test('the page has a button for an hour and a day, each a form of its own that moves the clock once', async () => {
  const { text } = await page(service, '/console/time');
  expect(text).toContain('2026-03-01 12:00:00');
  for (const name of ['Advance an hour', 'Advance a day']) expect(text).toContain(`<button>${name}</button>`);
  const once = [...text.matchAll(/name="once" value="([^"]+)"/g)].map(([, value]) => value);
  expect(new Set(once).size).toBe(3);
  await Promise.all([1, 2, 3].map(() => advance('1', 'hours', onceOf(text))));
  expect(await now()).toBe(start + 3_600_000);
  expect((await page(service, '/console/time')).text).toContain('1 h ahead');
  const used = await advance('2', 'hours', onceOf(text));
  expect([used.status, used.text]).toEqual([409, expect.stringContaining('with other values')]);
  expect(await now()).toBe(start + 3_600_000);
});

test('what is due on the way happens, webhooks too', async () => {
  const receiver = await Receiver.start();
  try {
    await service.send('POST', '/users', { webhook_url: receiver.at() });
    const { id } = (await service.order('test-slow')).body;
    await advance('1', 'hours');
    expect(await statusOf(id)).toBe('order_placed');
    expect(receiver.events()).toContain('tracking_obtained');
  } finally {
    await receiver.stop();
  }
});

test('until an order is done, and no further', async () => {
  const { id } = (await service.order('test-slow')).body;
  const path = `/console/orders/${id}`;
  const { text } = await page(service, path);
  expect(text).toContain(`action="${path}/until-done"`);
  const done = await submit(service, `${path}/until-done`, { once: onceOf(text) });
  expect([done.status, done.headers.get('location')]).toEqual([303, path]);
  expect((await service.send('GET', `/orders/${id}`)).body.items[0].status).toBe('delivered');
  const reached = await now();
  expect(reached - start).toBeLessThan(120_000);
  expect((await page(service, path)).text).not.toContain('/until-done"');
  expect((await submit(service, `${path}/until-done`, { once: crypto.randomUUID() })).status).toBe(303);
  expect(await now()).toBe(reached);
  const never = (await service.order('test-never')).body.id;
  await advance('1', 'minutes');
  expect((await page(service, `/console/orders/${never}`)).text).not.toContain('/until-done"');
  const nowhere = `/console/orders/${crypto.randomUUID()}/until-done`;
  expect((await submit(service, nowhere, { once: crypto.randomUUID() })).status).toBe(404);
});

test('what is left of a long step is a button', async () => {
  const { text } = await page(service, '/console/time?left=7200000');
  expect(text).toContain('the clock has stopped there: 2 h left');
  expect(text).toContain('name="count" value="7200000"');
  for (const left of ['0', '-1', '1e9', 'x', '"><script>'])
    expect((await page(service, `/console/time?left=${encodeURIComponent(left)}`)).text).not.toContain(
      'Go on',
    );
});

test.each([
  ['0', 'hours', 'whole number above 0'],
  ['-1', 'hours', 'whole number above 0'],
  ['1.5', 'hours', 'whole number above 0'],
  ['', 'hours', 'whole number above 0'],
  ['1', 'years', 'minutes, hours, days'],
  ['999999999999999', 'days', 'How far takes at most 11574074 days'],
])('“%s %s” is refused, and the clock stays', async (count, unit, why) => {
  const refused = await advance(count, unit);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(why)]);
  expect(refused.text).toContain('id="problem"');
  expect(await now()).toBe(start);
});

test('the speed holds for what is created from now on', async () => {
  expect((await act('speed', { speed: '100' })).status).toBe(303);
  expect(textOf((await page(service, '/')).text)).toContain('Speed 100×');
  const { id } = (await service.order('test-success')).body;
  service.pass(200);
  expect((await service.send('GET', `/orders/${id}`)).body.items[0].status).toBe('delivered');
  for (const speed of ['0', '1001', 'fast', '']) {
    const refused = await act('speed', { speed });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('from 1 to 1000')]);
  }
});

test('a state is kept under a name, and brought back once that is confirmed', async () => {
  const first = (await service.order('test-success')).body.id;
  expect((await act('snapshot', { name: 'before' })).headers.get('location')).toBe('/console/time#snapshots');
  await service.order('test-success');
  await advance('1', 'days');
  expect((await page(service, '/console/time')).text).toContain('id="snapshot-before"');
  const unsure = await act('restore', { name: 'before' });
  expect([unsure.status, unsure.text]).toEqual([400, expect.stringContaining('tick that this is meant')]);
  expect((await act('restore', { name: 'before', sure: 'yes' })).status).toBe(303);
  const { orders } = (await service.send('GET', '/orders')).body;
  expect(orders.map(({ id }: { id: string }) => id)).toEqual([first]);
  expect(await now()).toBe(start);
  expect((await act('restore', { name: 'other', sure: 'yes' })).status).toBe(404);
  const taken = await act('snapshot', { name: 'before' });
  expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('already')]);
  expect((await act('snapshot', { name: 'before', force: 'yes' })).status).toBe(303);
  for (const name of ['', '../x', 'a b', '<b>'])
    expect((await act('snapshot', { name })).text).toContain('cannot name a snapshot');
});

test('the sandbox is emptied once that is confirmed', async () => {
  await service.order('test-success');
  expect((await act('reset')).status).toBe(400);
  expect((await service.send('GET', '/orders')).status).toBe(200);
  const done = await act('reset', { sure: 'yes' });
  expect([done.status, done.headers.get('location')]).toEqual([303, '/']);
  expect((await service.send('GET', '/orders')).status).toBe(401);
  const { text } = await page(service, '/');
  expect(text).toContain('No order yet.');
  expect(text).toContain('id="mint"');
});
