import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hostile } from '../../support/hostile-text.ts';
import { hangsAfterMs } from '../../support/limits.ts';
import { onceOf, page, submit } from '../../support/read-page.ts';
import { Receiver } from '../../support/receiver.ts';
import { TestService } from '../../support/service.ts';

let service: TestService;
let receiver: Receiver;
let path: string;
beforeEach(async () => {
  receiver = await Receiver.start();
  service = await TestService.start();
  await service.send('POST', '/users', { webhook_url: receiver.at('/hook?secret=s3cret') });
  const { id } = (await service.order('test-slow', { po_number: hostile })).body;
  await service.send('POST', `/orders/${id}/cancel`);
  await receiver.until(1);
  path = await vi.waitFor(async () => {
    const { text } = await page(service, '/console/deliveries');
    return /href="(\/console\/deliveries\/[^"]+\/edit)"/.exec(text)?.[1] ?? expect.fail(text);
  }, hangsAfterMs);
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
  expect(service.bugs).toEqual([]);
});

const textOf = (markup: string): string =>
  (/<textarea[^>]*>\n(.*?)<\/textarea>/s.exec(markup)?.[1] ?? expect.fail(markup))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
const form = async () => {
  const { text } = await page(service, path);
  // Browsers submit CRLF line endings.
  return { once: onceOf(text), url: '', body: textOf(text).replaceAll('\n', '\r\n'), event: 'new' };
};
const last = () => receiver.received.at(-1) ?? expect.fail('nothing came');

test('left as it is, it sends the same bytes to the same address, as another event or the same', async () => {
  const done = await submit(service, path, await form());
  expect([done.status, done.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/console\/deliveries\/[\w-]+$/),
  ]);
  await receiver.until(2);
  await submit(service, path, { ...(await form()), event: 'same' });
  await receiver.until(3);
  const [first, anew, again] = receiver.received;
  for (const sent of [anew, again]) {
    expect([sent?.event, sent?.target, sent?.body]).toEqual([first?.event, first?.target, first?.body]);
    expect(sent?.headers['content-length']).toBe(first?.headers['content-length']);
  }
  expect(anew?.headers['x-webhook-id']).not.toBe(first?.headers['x-webhook-id']);
  expect(again?.headers['x-webhook-id']).toBe(first?.headers['x-webhook-id']);
});

test('another body and another target are sent as they were typed', async () => {
  const url = receiver.at('/elsewhere');
  await submit(service, path, { ...(await form()), url, body: '{"id":\r\n"changed"}' });
  await receiver.until(2);
  expect([last().target, last().body]).toEqual(['POST /elsewhere', { id: 'changed' }]);
});

test('one that fails on and holds up its order is no reason to wait for what was edited', async () => {
  receiver.reply = () => ({ status: 500 });
  const fields = await form();
  await submit(service, path, { ...fields, body: '{"n":1}' });
  await receiver.until(2);
  receiver.reply = () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"thank":"you"}',
  });
  const sent = await submit(service, path, { ...(await form()), body: '{"n":2}' });
  await receiver.until(3);
  expect(last().body).toEqual({ n: 2 });
  await vi.waitFor(async () => {
    const { text } = await page(service, sent.leadsTo);
    for (const part of ['Sent, edited: 1 webhook sent.', 'thank']) expect(text).toContain(part);
  }, hangsAfterMs);
});

test('a form that is sent twice sends one delivery', async () => {
  const fields = await form();
  await Promise.all([submit(service, path, fields), submit(service, path, fields)]);
  await submit(service, path, await form());
  await receiver.until(3);
  expect(receiver.received).toHaveLength(3);
});

test('a form that has sent something else sends nothing and says so, and what was typed can be sent', async () => {
  const fields = { ...(await form()), body: '{"n":1}' };
  await submit(service, path, fields);
  for (const other of [{ body: '{"n":2}' }, { url: receiver.at('/else') }, { event: 'same' }]) {
    const used = await submit(service, path, { ...fields, ...other });
    expect([used.status, used.text]).toEqual([409, expect.stringMatching(/role="alert">Not sent: /)]);
    expect(onceOf(used.text)).not.toBe(fields.once);
  }
  const used = await submit(service, path, { ...fields, body: '{"n":2}' });
  expect(textOf(used.text)).toBe('{"n":2}');
  const again = await submit(service, path, { ...fields, body: '{"n":2}', once: onceOf(used.text) });
  expect(again.status).toBe(303);
  await receiver.until(3);
  expect(receiver.received.slice(1).map(({ body }) => body)).toEqual([{ n: 1 }, { n: 2 }]);
});

test.each([
  ['http://169.254.169.254/latest', 'only loopback addresses are called'],
  ['http://10.0.0.1/', 'only loopback addresses are called'],
  ['https://example.com/hook', 'only loopback addresses are called'],
  ['file:///etc/passwd', 'it is not an http or https address'],
  ['javascript:alert(1)', 'it is not an http or https address'],
  ['not an address', 'it is not an http or https address'],
])('nothing is sent to %s, and what was typed stays', async (url, why) => {
  const refused = await submit(service, path, { ...(await form()), url, body: '{"kept":1}', event: 'same' });
  expect(refused.status).toBe(400);
  expect(refused.text).toMatch(/role="alert">Nothing is sent there: /);
  expect(refused.text).toContain(why);
  expect(textOf(refused.text)).toBe('{"kept":1}');
  expect(refused.text).toContain('<option value="same" selected>');
  expect(receiver.received).toHaveLength(1);
});

test('the page shows no secret of the address and lets no text of the body become markup', async () => {
  const { text } = await page(service, path);
  expect(text).not.toContain('s3cret');
  expect(text).not.toContain('<script>alert');
  expect(text.length).toBeLessThan(60_000);
  expect((await page(service, '/console/deliveries/none/edit')).status).toBe(404);
});

test('no other site sends the form, and another machine neither reads nor sends it', async () => {
  expect((await submit(service, path, await form(), 'https://evil.example')).status).toBe(403);
  const proxied = await page(service, path, { 'x-forwarded-for': '10.0.0.3' });
  expect(proxied.status).toBe(403);
  expect(receiver.received).toHaveLength(1);
});

test('a body that is not JSON is told before it is sent, and sent once that is meant', async () => {
  const broken = { ...(await form()), body: '{"id": ' };
  const refused = await submit(service, path, broken);
  expect([refused.status, receiver.received.length]).toEqual([400, 1]);
  expect(refused.text).toContain('Not sent: the body is not JSON');
  expect(refused.text).toContain('<label>Body <span class="bad" id="problem" role="alert">');
  expect(refused.text).toContain('{&quot;id&quot;: ');
  expect((await submit(service, path, { ...broken, raw: 'yes' })).status).toBe(303);
  await receiver.until(2);
});
