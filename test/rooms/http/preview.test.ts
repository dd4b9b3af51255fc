import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../../src/http/client.ts';
import type { Described } from '../../../src/http/preview.ts';
import { curlCommand, previewKeys, previewTransport } from '../../../src/http/preview.ts';
import type { Transport } from '../../../src/http/transport/transport.ts';
import { redactor } from '../../../src/platform/redact/redactor.ts';
import { caller, keyedOrder, orderId, testKey } from '../../support/caller.ts';

class Shown extends Error {
  readonly described: Described;

  constructor(described: Described) {
    super('shown');
    this.described = described;
  }
}

/** A client whose requests are previewed and never sent. */
function shower(baseUrl = 'https://service.example/api', more: Parameters<typeof caller>[1] = {}): Client {
  const never: Transport = {
    send: () => Promise.reject(new Error('sent')),
    close: async () => {},
  };
  const transport = previewTransport(
    never,
    () => true,
    (described) => {
      throw new Shown(described);
    },
  );
  return caller(baseUrl, {
    transport,
    credentials: previewKeys(
      () => true,
      () => undefined,
    ),
    ...more,
  }).client;
}

async function shownBy(call: Promise<unknown>): Promise<Described> {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  if (error instanceof Shown) return error.described;
  throw error;
}

describe('a request described', () => {
  test('is what would be sent, the key replaced', async () => {
    expect(await shownBy(shower().call('order.create', { body: keyedOrder }))).toEqual({
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

  test('shows no password and no two-factor secret', async () => {
    const body = { email: 'a@b.example', password: 'hunter22', totp_secret: 'A'.repeat(64) };
    const described = await shownBy(shower().call('account.create', { body }));
    expect(described.body).toEqual({
      email: 'a@b.example',
      password: '[redacted]',
      totp_secret: '[redacted]',
    });
  });

  test('needs no key', async () => {
    const client = shower('https://service.example');
    expect(await shownBy(client.call('order.cancel', { path: { order_id: orderId } }))).toMatchObject({
      url: `https://service.example/orders/${orderId}/cancel`,
      headers: { authorization: 'Bearer [redacted]' },
      body: null,
    });
  });

  test('is refused where it could not be sent', async () => {
    await expect(shower().call('order.get', { path: { order_id: 'x' } })).rejects.toThrow('order_id');
  });

  test('may be any request, with a key where there is one', async () => {
    const raw = {
      method: 'POST',
      path: '/x',
      body: `{"note": "key ${testKey}"}`,
      headers: { 'X-Api-Key': 'abc' },
    };
    redactor.remember([testKey]);
    const described = await shownBy(shower().raw(raw));
    expect(described.headers.authorization).toBeUndefined();
    const keys = previewKeys(
      () => true,
      () => testKey,
    );
    const keyed = await shownBy(shower(undefined, { credentials: keys }).raw(raw));
    expect(keyed.headers.authorization).toBe('Bearer [redacted]');
    expect(described.body).toEqual({ note: 'key [redacted]' });
    expect(described.headers['x-api-key']).toBe('[redacted]');
  });
});

/** Captures curl's arguments as parsed by a POSIX shell, and its stdin. */
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
  test('reads like one that a person wrote, the key being a variable', async () => {
    const command = curlCommand(await shownBy(shower().call('order.create', { body: keyedOrder })));
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

  test('of the legacy service uses its token', async () => {
    const client = shower('https://service.example', { legacyBaseUrl: 'https://old.example' });
    const described = await shownBy(client.call('legacy.retry', { path: { request_id: orderId } }));
    const { words } = called(curlCommand(described));
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

  test('is refused for the embedded sandbox, which has no address', async () => {
    const described = await shownBy(shower('embedded:').call('wallet.get', {}));
    expect(() => curlCommand(described)).toThrow('no address');
  });
});
