import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hangsAfterMs } from '../../support/limits.ts';
import { page, rowOf, submit } from '../../support/read-page.ts';
import { Receiver } from '../../support/receiver.ts';
import { TestService } from '../../support/service.ts';

let service: TestService;
let receiver: Receiver;
let id: string;
beforeEach(async () => {
  receiver = await Receiver.start();
  service = await TestService.start();
  await service.send('POST', '/users', { webhook_url: receiver.at('/hook?secret=s3cret') });
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
  expect(service.bugs).toEqual([]);
});

/** Cancels an order, which sends a single event. */
async function cancelled(): Promise<void> {
  id = (await service.order('test-slow')).body.id;
  await service.send('POST', `/orders/${id}/cancel`);
  await receiver.until(receiver.received.length + 1);
}

const deliveries = async (): Promise<string[]> => {
  const { text } = await page(service, '/console/deliveries');
  return [...text.matchAll(/id="delivery-([^"]+)"/g)].map(([, found = '']) => found);
};
const row = async (delivery: string | undefined): Promise<string[]> =>
  rowOf((await page(service, '/console/deliveries')).text, `delivery-${delivery}`);
/** The row of a delivery once its last attempt has been written down. */
const settledRow = (delivery: string | undefined, outcome: RegExp): Promise<string[]> =>
  vi.waitFor(async () => {
    const cells = await row(delivery);
    expect(cells[5]).toMatch(outcome);
    return cells;
  }, hangsAfterMs);

test('a delivery shows event, order, address without its secrets, attempts and the last response', async () => {
  await cancelled();
  const [delivery] = await deliveries();
  const cells = await settledRow(delivery, /^delivered HTTP 200, \d+ ms$/);
  expect(cells.slice(0, 5)).toEqual([
    'status_updated',
    `Slow start ${id.slice(0, 8)}`,
    `${receiver.at('/hook')}?…`,
    '0 s ago',
    '1',
  ]);
  expect((await page(service, '/')).text).not.toContain('s3cret');
  expect((await page(service, `/console/orders/${id}`)).text).toContain(`delivery-${delivery}`);
});

test('Replay sends the same again, as a delivery of its own', async () => {
  await cancelled();
  const [first] = await deliveries();
  await settledRow(first, /^delivered/);
  const response = await submit(service, `/console/deliveries/${first}/replay`);
  expect([response.status, response.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/console\/deliveries\/[\w-]+$/),
  ]);
  await receiver.until(2);
  const [one, two] = receiver.received;
  expect([two?.event, two?.target, two?.body]).toEqual([one?.event, one?.target, one?.body]);
  expect(await deliveries()).toEqual([expect.not.stringMatching(first ?? ''), first]);
});

test('one that failed shows why and when it is tried next; Try now does not wait for that', async () => {
  receiver.reply = () => ({ status: 500 });
  await cancelled();
  const [delivery] = await deliveries();
  await settledRow(delivery, /^is sent again in 1 s HTTP 500, \d+ ms$/);
  receiver.reply = () => ({ status: 200 });
  const response = await submit(service, `/console/deliveries/${delivery}/replay`);
  expect(response.headers.get('location')).toBe(`/console/deliveries/${delivery}`);
  await receiver.until(2);
  await settledRow(delivery, /^delivered/);
  expect(await deliveries()).toEqual([delivery]);
});

test('a delivery that is gone cannot be replayed', async () => {
  expect((await submit(service, '/console/deliveries/none/replay')).status).toBe(404);
});

test('what the receiver responded is kept with each attempt, without secrets', async () => {
  receiver.reply = () => ({
    status: 500,
    headers: { 'content-type': 'application/json', 'x-request': 'r-17', 'set-cookie': 'session=c-99' },
    body: '{"reason":"database is down","token":"t-88"}',
  });
  await cancelled();
  const [delivery] = await deliveries();
  await settledRow(delivery, /^is sent again/);
  const { text } = await page(service, `/console/deliveries/${delivery}`);
  for (const part of ['r-17', 'database is down']) expect(text).toContain(part);
  for (const secret of ['c-99', 't-88']) expect(text).not.toContain(secret);
});

test('all that failed are sent again by one button, and the page says what came of it', async () => {
  receiver.reply = () => ({ status: 500 });
  await cancelled();
  await cancelled();
  const failed = await deliveries();
  for (const delivery of failed) await settledRow(delivery, /^is sent again/);
  receiver.reply = () => ({ status: 204 });
  expect((await page(service, '/console/deliveries')).text).toContain('Replay all failed <small>2</small>');
  const done = await submit(service, '/console/deliveries/replay', { which: 'failed' });
  expect(done.status).toBe(303);
  await receiver.until(4);
  for (const delivery of failed) await settledRow(delivery, /^delivered HTTP 204/);
  expect((await page(service, done.leadsTo)).text).toContain('Sent again: 2 webhooks sent.');
  const none = await submit(service, '/console/deliveries/replay', { which: 'failed' });
  expect([none.status, none.text.includes('No delivery has failed.')]).toEqual([400, true]);
});

test('two deliveries are compared, and one with the last event of its order', async () => {
  id = (await service.order('test-success')).body.id;
  service.pass(12_000);
  await service.send('GET', `/orders/${id}`);
  const [newest] = await deliveries();
  const { text } = await page(service, `/console/deliveries/${newest}`);
  const [, path = ''] = /href="(\/console\/deliveries\/compare[^"]+)"/.exec(text) ?? [];
  const compared = (await page(service, path.replaceAll('&amp;', '&'))).text;
  for (const mark of ['<del>− ', '<ins>+ ']) expect(compared).toContain(mark);
  const three = (await deliveries()).slice(0, 3).map((one) => `id=${one}`);
  for (const query of ['id=nothing', three.join('&')])
    expect((await page(service, `/console/deliveries/compare?${query}`)).status, query).toBe(400);
});

test('one that waits says behind which', async () => {
  receiver.reply = () => ({ status: 500 });
  id = (await service.order('test-success')).body.id;
  service.pass(3000);
  await service.send('GET', `/orders/${id}`);
  const all = await deliveries();
  const first = all.at(-1);
  await settledRow(first, /^is sent again/);
  const { text } = await page(service, `/console/deliveries/${all[0]}`);
  expect(text).toContain(`waits behind an earlier one</span>: <a href="/console/deliveries/${first}">`);
});
