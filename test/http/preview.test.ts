import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { curlCommand } from '../../src/http/curl.ts';
import { caller, keyedOrder, orderId, testKey } from './caller.ts';

const offline = () => caller('https://service.example/api').client;

describe('a request described', () => {
  test('is what would be sent, the key replaced', () => {
    expect(offline().describe('order.create', { body: keyedOrder })).toEqual({
      method: 'POST',
      url: 'https://service.example/api/orders',
      headers: {
        accept: 'application/json',
        'user-agent': 'errand/0.0.0',
        'content-type': 'application/json',
        authorization: 'Bearer [redacted]',
      },
      body: keyedOrder,
    });
  });

  test('shows no password and no two-factor secret', () => {
    const body = { email: 'a@b.example', password: 'hunter22', totp_secret: 'A'.repeat(64) };
    const described = offline().describe('account.create', { body });
    expect(described.body).toEqual({
      email: 'a@b.example',
      password: '[redacted]',
      totp_secret: '[redacted]',
    });
  });

  test('needs no key', () => {
    const { client } = caller('https://service.example', { apiKey: undefined });
    expect(client.describe('order.cancel', { path: { order_id: orderId } })).toMatchObject({
      url: `https://service.example/orders/${orderId}/cancel`,
      headers: { authorization: 'Bearer [redacted]' },
      body: null,
    });
  });

  test('is refused where it could not be sent', () => {
    expect(() => offline().describe('order.get', { path: { order_id: 'x' } })).toThrow('order_id');
  });

  test('may be any request', () => {
    const raw = {
      method: 'POST',
      path: '/x',
      body: `{"note": "key ${testKey}"}`,
      headers: { 'X-Api-Key': 'abc' },
    };
    const described = offline().describeRaw(raw);
    expect(described.body).toEqual({ note: 'key [redacted]' });
    expect(described.headers['x-api-key']).toBe('[redacted]');
  });
});

/** What curl would be called with, as a POSIX shell splits it; and what would come on its stdin. */
function called(command: string): { words: string[]; stdin: Buffer } {
  const script = `curl() { printf '%s\\0' "$@"; case "$*" in *@-*) printf 'STDIN\\0'; cat;; esac; }\n${command}`;
  const { stdout, status, stderr } = spawnSync('sh', ['-c', script], {
    env: { ERRAND_API_KEY: 'the-key', ERRAND_LEGACY_TOKEN: 'tok' },
    input: '',
  });
  expect(stderr.toString()).toBe('');
  expect(status).toBe(0);
  const mark = stdout.indexOf('STDIN\0');
  const words = (mark < 0 ? stdout : stdout.subarray(0, mark)).toString().split('\0').slice(0, -1);
  return { words, stdin: mark < 0 ? Buffer.alloc(0) : stdout.subarray(mark + 6) };
}

const described = (body: unknown) => ({
  method: 'POST',
  url: 'https://service.example/x',
  headers: { 'content-type': 'application/json' },
  body,
});

describe('a request as a curl command', () => {
  test('reads like one that a person wrote, the key being a variable', () => {
    const command = curlCommand(offline().describe('order.create', { body: keyedOrder }));
    expect(command).toBe(
      [
        "curl -sS -X 'POST' 'https://service.example/api/orders' \\",
        '  -H "authorization: Bearer $ERRAND_API_KEY" \\',
        "  -H 'accept: application/json' \\",
        "  -H 'content-type: application/json' \\",
        `  --data-raw '${JSON.stringify(keyedOrder)}'`,
        '',
      ].join('\n'),
    );
    expect(called(command).words).toContain('authorization: Bearer the-key');
  });

  test('of the legacy service uses its token', () => {
    const { client } = caller('https://service.example', { legacyBaseUrl: 'https://old.example' });
    const { words } = called(curlCommand(client.describe('legacy.retry', { path: { request_id: orderId } })));
    expect(words).toEqual(expect.arrayContaining(['-u', 'tok:']));
  });

  test('is one word to the shell for each value, whatever a JSON body holds, and prints no control character', () => {
    fc.assert(
      fc.property(
        fc.record({
          note: fc.string({ unit: 'binary' }),
          evil: fc.constantFrom("'; rm -rf / #", '$(id)', '`id`', '\u001b]0;x\u0007', '\u202e', '!x', '\\'),
        }),
        (body) => {
          const command = curlCommand(described(body));
          expect(command).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
          const { words } = called(command);
          expect(JSON.parse(words.at(-1) ?? '')).toEqual(JSON.parse(JSON.stringify(body)));
          expect(words).toHaveLength(8);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('pipes a body that is not JSON byte by byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (noise) => {
        const body = `\u0000${noise}`;
        const { words, stdin } = called(curlCommand(described(body)));
        expect(words.slice(-2)).toEqual(['--data-binary', '@-']);
        expect(stdin).toEqual(Buffer.from(body));
      }),
      { numRuns: 60 },
    );
  });

  test('is refused for the embedded sandbox, which has no address', () => {
    const { client } = caller('embedded:');
    expect(() => curlCommand(client.describe('wallet.get', {}))).toThrow('no address');
  });
});
