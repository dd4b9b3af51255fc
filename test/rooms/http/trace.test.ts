import { expect, test } from 'vitest';
import { createTrace } from '../../../src/http/trace.ts';
import { caller, failureOf, orderId, testKey } from '../../support/caller.ts';
import { json, peer, redirect, reset, text } from '../../support/peer.ts';

function traced(): { lines: string[]; trace: ReturnType<typeof createTrace> } {
  const lines: string[] = [];
  return { lines, trace: createTrace((line) => lines.push(line)) };
}

const steady = (line: string): string => line.replace(/\d+ ms/, 'N ms').replace(/127\.0\.0\.1:\d+/, 'HOST');

test('a trace tells requests, waits, failures and responses in their order', async () => {
  const service = await peer(reset, redirect('/wallet/mine'), json({ balance: 1 }));
  const { lines, trace } = traced();
  await caller(service.url, { trace }).client.call('wallet.get', {});
  const printed = lines
    .map(steady)
    .filter((line) => !/^[<>] {3}(date|connection|keep-alive|transfer|content-length)/.test(line));
  const requestLines = (path: string) => [
    `> GET http://HOST${path}`,
    '>   accept: application/json',
    '>   user-agent: errand/0.0.0',
    '>   authorization: [redacted]',
  ];
  expect(printed).toEqual([
    ...requestLines('/wallet/me'),
    '! the connection was closed before the response was whole, after N ms',
    '* attempt 2 in N ms',
    ...requestLines('/wallet/me'),
    '< 302 after N ms',
    '<   location: /wallet/mine',
    ...requestLines('/wallet/mine'),
    '< 200 after N ms',
    '<   content-type: application/json',
    '<   {"balance":1}',
  ]);
});

test('a trace shows no secret of a request or a response', async () => {
  const minted = 'xx_test_fedcba9876543210fedc';
  const service = await peer(
    json({ short_id: 'a', password: 'hunter22', echo: Buffer.from(`${testKey}:`).toString('base64') }, 201),
    json({ api_key: minted, key: minted, claim_url: 'https://claim.example/?token=opensesame' }, 201),
  );
  const { lines, trace } = traced();
  const { client } = caller(service.url, { trace });
  await client.call('account.create', {
    body: { email: 'a@b.example', password: 'hunter22', totp_secret: 'S'.repeat(64) },
  });
  await client.call('sandbox.mint', {});
  const printed = lines.join('\n');
  for (const secret of [
    testKey,
    'hunter22',
    'SSSS',
    minted,
    'opensesame',
    Buffer.from(testKey).toString('base64').slice(4, -4),
  ]) {
    expect(printed).not.toContain(secret);
  }
  expect(printed).toContain('a@b.example');
});

test('a trace of a long body is cut, and never within a secret', async () => {
  const filler = 'x'.repeat(4096 * 4 - 10);
  const service = await peer(json({ code: 'bad_request', message: `${filler}${testKey}`, details: {} }, 400));
  const { lines, trace } = traced();
  await failureOf(caller(service.url, { trace }).client.call('order.get', { path: { order_id: orderId } }));
  const shown = lines.find((line) => line.includes('bad_request')) ?? '';
  expect(shown.length).toBeLessThan(4200);
  expect(shown).toMatch(/… \(\d+ bytes\)$/);
  expect(lines.join('')).not.toContain(testKey.slice(0, 10));
});

test('a trace of a stream shows its beginning only', async () => {
  const service = await peer(text('id\nsecret-row\n', 200, { 'content-type': 'text/csv' }));
  const { lines, trace } = traced();
  await caller(service.url, { trace }).client.stream('order.export', {});
  expect(lines.some((line) => line.startsWith('< 200'))).toBe(true);
  expect(lines.join('')).not.toContain('secret-row');
});
