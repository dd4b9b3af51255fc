import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { post } from '../../../../src/sandbox/webhooks/post.ts';
import { Receiver } from '../../../support/receiver.ts';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(() => receiver.stop());

const send = (url: string, more: Partial<Parameters<typeof post>[1]> = {}) =>
  post(
    { url, event: 'status_updated', eventId: 'e-1', body: '{"id":"1"}' },
    {
      reach: { loopback: true, external: false, named: [] },
      limitMs: 10_000,
      closing: new AbortController().signal,
      ...more,
    },
  );

test.each([200, 201, 204, 299])('%i is delivered', async (status) => {
  receiver.reply = () => ({ status });
  expect(await send(receiver.at())).toMatchObject({ status, error: null });
});

test.each([400, 404, 429, 500, 503])('%i is not', async (status) => {
  receiver.reply = () => ({ status });
  expect(await send(receiver.at())).toMatchObject({ status, error: `HTTP ${status}` });
});

test.each([301, 302, 307, 308])('a redirect (%i) is not followed', async (status) => {
  receiver.reply = () => ({ status, headers: { location: receiver.at('/elsewhere') } });
  const posted = await send(receiver.at());
  expect(posted).toMatchObject({ status, error: `HTTP ${status}; redirects are not followed` });
  expect(receiver.received).toHaveLength(1);
});

test('a receiver that says nothing in time is not waited for', async () => {
  receiver.reply = () => 'silence';
  expect(await send(receiver.at(), { limitMs: 50 })).toMatchObject({
    status: null,
    error: 'no response within 0.05 s',
  });
});

test('a receiver that says 200 and then talks on without end has taken it', async () => {
  const talker = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const talk = () => {
      while (!socket.destroyed && socket.write('x'.repeat(16_384)));
    };
    socket.on('drain', talk);
    talk();
  });
  await new Promise<void>((resolve) => talker.listen(0, '127.0.0.1', resolve));
  const address = talker.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, error: null });
  await new Promise((resolve) => talker.close(resolve));
});

test('something that does not speak HTTP has not', async () => {
  const other = createServer((socket) => void socket.resume().end('220 mail.example ready\r\n'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const posted = await send(`http://ada:pass1@127.0.0.1:${port}/pass2?pass3`);
  expect(posted?.status).toBe(null);
  expect(posted?.error).toMatch(/\S/);
  expect(posted?.error).not.toMatch(/pass|ada/);
  await new Promise((resolve) => other.close(resolve));
});

test('an address that may not be reached is not connected to', async () => {
  for (const external of [false, true]) {
    const posted = await send('http://ada:pass1@169.254.169.254/pass2', {
      reach: { loopback: true, external, named: [] },
    });
    expect(posted).toMatchObject({ status: null, error: expect.stringContaining('addresses are') });
  }
  expect((await send('http://203.0.113.9/'))?.error).toBe('only loopback addresses are called');
});

test('a name is resolved, and what it leads to is checked', async () => {
  const posted = await send(`http://localhost:${receiver.port}/hook`);
  expect(posted).toMatchObject({ status: 200, error: null });
  expect(receiver.received[0]?.headers.host).toBe(`localhost:${receiver.port}`);
  const nowhere = await send('http://no-such-name.invalid/pass?pass', {
    reach: { loopback: true, external: true, named: [] },
  });
  expect(nowhere?.error).toContain('no-such-name.invalid');
  expect(nowhere?.error).not.toContain('pass');
});

test('credentials that are not percent-encoded are sent as they stand', async () => {
  await send(receiver.at().replace('//', '//50%:x@'));
  expect(receiver.received[0]?.headers.authorization).toBe(
    `Basic ${Buffer.from('50%:x').toString('base64')}`,
  );
});

test('closing ends an attempt without an outcome', async () => {
  receiver.reply = () => 'silence';
  const ending = new AbortController();
  const posted = send(receiver.at(), { closing: ending.signal });
  await receiver.until(1);
  ending.abort();
  expect(await posted).toBeUndefined();
});
