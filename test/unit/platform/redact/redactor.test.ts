import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../../src/platform/redact/redactor.ts';

const redactor = createRedactor();

function knowing(...secrets: string[]): ReturnType<typeof createRedactor> {
  const made = createRedactor();
  made.remember(secrets);
  return made;
}

const anySecret = fc.oneof(
  fc.string({ minLength: 8, maxLength: 60 }),
  fc.string({ unit: 'grapheme', minLength: 8, maxLength: 30 }),
  fc.base64String({ minLength: 8, maxLength: 60 }),
);
/** Well-formed strings only: lone surrogates cannot be URL-encoded. */
const sendable = anySecret.filter(
  (secret) =>
    Buffer.from(secret).toString() === secret && new Set(secret).size > 3 && !'[redacted]'.includes(secret),
);
const around = fc.string({ maxLength: 20 });
/** Use the same secrets for every encoding: creating a redactor is far slower than using it. */
const sameSecrets = { seed: Date.now() };
const redactors = new Map<string, ReturnType<typeof createRedactor>>();

function knowingOnly(secret: string): ReturnType<typeof createRedactor> {
  const made = redactors.get(secret) ?? knowing(secret);
  redactors.set(secret, made);
  return made;
}

const encodings: Record<string, (secret: string) => string> = {
  'as it is': (secret) => secret,
  'URL-encoded': encodeURIComponent,
  'URL-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'as a form': (secret) => new URLSearchParams({ x: secret }).toString().slice(2),
  'as HTML': (secret) => secret.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`),
  'as HTML with names': (secret) =>
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  'in JSON within JSON': (secret) => JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
  'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
  'in JSON with every character escaped': (secret) =>
    Array.from(
      { length: secret.length },
      (_, at) => `\\u${secret.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`,
    ).join(''),
};

describe('a secret that is known', () => {
  test.each(Object.entries(encodings))('is replaced %s, wherever it stands', (_, encode) => {
    fc.assert(
      fc.property(sendable, around, around, (secret, before, after) => {
        const form = encode(secret);
        expect(knowingOnly(secret).text(`${before} ${form} ${after}`)).not.toContain(form);
      }),
      sameSecrets,
    );
  });

  test.each(['base64', 'base64url'] as const)('is replaced within a longer %s text', (coding) => {
    fc.assert(
      fc.property(sendable, around, around, (secret, before, after) => {
        const shown = knowingOnly(secret).text(Buffer.from(before + secret + after).toString(coding));
        expect(Buffer.from(shown.replaceAll('[redacted]', ''), coding).toString()).not.toContain(secret);
        expect(shown).toContain('[redacted]');
      }),
      sameSecrets,
    );
  });

  test('is replaced in headers and in values', () => {
    fc.assert(
      fc.property(sendable, (secret) => {
        const knows = knowing(secret);
        expect(JSON.stringify(knows.headers({ location: `x ${secret}` }))).not.toContain(
          JSON.stringify(secret).slice(1, -1),
        );
        expect(knows.value({ deep: [{ note: `a${secret}b` }] })).toEqual({
          deep: [{ note: 'a[redacted]b' }],
        });
      }),
    );
  });

  test('that has spaces is replaced word by word, too', () => {
    const { text, value } = knowing('correct horse battery staple');
    expect(text('k=correct; horse, battery-staple')).toBe('k=[redacted]; horse, [redacted]-[redacted]');
    expect(value(['correct horse battery staple'.split(' ')])).toEqual([
      ['[redacted]', 'horse', '[redacted]', '[redacted]'],
    ]);
  });

  test('that is short is replaced where it stands alone', () => {
    const { text } = knowing('1234', 'ab');
    expect(text('pin=1234, order 12345, ab')).toBe('pin=[redacted], order 12345, ab');
  });

  test('that begins with another one is replaced whole', () => {
    expect(knowing('hunter2', 'hunter2-and-more').text('x hunter2-and-more y')).toBe('x [redacted] y');
  });

  test('that a cut goes through is not shown in part', () => {
    const secret = 'correct horse battery staple';
    for (let before = 0; before < 40; before += 1) {
      const start = knowing(secret).start(`${'.'.repeat(before)}${secret} ${'x'.repeat(20_000)}`, 30);
      expect(start.length).toBeLessThanOrEqual(30);
      expect(start).not.toMatch(/corr/);
    }
  });

  test('leaves other text as it is', () => {
    expect(knowing('xx_test_0123456789abcdef').text('the order ord-1 costs 5000')).toBe(
      'the order ord-1 costs 5000',
    );
  });
});

describe('a part of a key that is known', () => {
  const key = 'abc_test_Zq9Xw8Ec7Rv6Tb5Yn4Um3Ik2Ol1Pa0';
  const { text } = knowing(key);
  const hex = (part: string, mark: string): string =>
    Array.from(part, (letter) => mark + letter.charCodeAt(0).toString(16)).join('');

  test.each([
    ['without its beginning', key.slice(4)],
    ['its tail', key.slice(-20)],
    ['in capitals', key.toUpperCase()],
    ['in small letters', key.toLowerCase()],
    ['the tail in capitals', key.slice(-12).toUpperCase()],
    ['from the middle', key.slice(12, 24)],
    ['in a URL', hex(key.slice(9), '%')],
    ['in a URL twice', hex(key.slice(9), '%25')],
    ['in JSON', hex(key.slice(9), '\\u00')],
    ['in HTML', hex(key.slice(9), '&#x').replace(/&#x../g, '$&;')],
  ])('is replaced: %s', (_, part) => {
    expect(text(`before ${part} after`)).toBe('before [redacted] after');
  });

  test.each([btoa(key.slice(4)), btoa(`x${key.toUpperCase()}`), btoa(key.slice(9, 27))])(
    'is replaced in base64, but for what its neighbours shape: %s',
    (part) => expect(text(part)).toMatch(/^.{0,3}\[redacted\].{0,3}$/),
  );

  test('is replaced in two halves, and of a value of Basic', () => {
    expect(text(`${key.slice(0, 19)} | ${key.slice(19)}`)).toBe('[redacted] | [redacted]');
    const basic = btoa(`${key}:`);
    expect(knowing(key, basic).text(`tail ${basic.slice(-20)}.`)).toBe('tail [redacted].');
  });

  test('leaves short parts, and texts that hold none, as they are', () => {
    for (const other of ['abc_test_Zq', 'a 100%25 cotton \\u0041 &amp; &#65;', 'é'.repeat(40)])
      expect(text(other)).toBe(other);
    expect(knowing('a-word-of-19-letter').text('A-WORD-OF-19')).toBe('A-WORD-OF-19');
  });
});

describe('a secret that nobody told of', () => {
  test.each([
    ['{"api_key": "abc", "id": 7}', '{"api_key": "[redacted]", "id": 7}'],
    ['{"password":"a\\"b","totp_secret":"JBSW"}', '{"password":"[redacted]","totp_secret":"[redacted]"}'],
    [
      '{"passwordConfirm":"a","new_password":"b","password_confirmation":"c"}',
      '{"passwordConfirm":"[redacted]","new_password":"[redacted]","password_confirmation":"[redacted]"}',
    ],
    ['{"password":"cut off here', '{"password":"[redacted]'],
    ['minted xx_test_0123456789abcdef, use it', 'minted xx_test_[redacted], use it'],
    [
      'https://files.example/l.pdf?X-Amz-Signature=deadbeef&page=2',
      'https://files.example/l.pdf?X-Amz-Signature=[redacted]&page=2',
    ],
    [
      'https://files.example/l.pdf?a=1&amp;sig=deadbeef',
      'https://files.example/l.pdf?a=1&amp;sig=[redacted]',
    ],
    ['https://me:pa@ss@hook.example/x', 'https://[redacted]@hook.example/x'],
    ['Authorization: Bearer abcdefghijklmnop.qrs', 'Authorization: Bearer [redacted]'],
    ['{"clientSecret":"a","token_count":5}', '{"clientSecret":"[redacted]","token_count":5}'],
    ['payment required, basic information', 'payment required, basic information'],
  ])('is known by its place in %s', (given, expected) => {
    expect(redactor.text(given)).toBe(expected);
  });

  test('is known by the header it stands in', () => {
    const headers = {
      authorization: 'Bearer x',
      'proxy-authorization': 'Basic x',
      cookie: 'a=b',
      'set-cookie': ['a=b'],
      'x-api-key': 'k',
      'content-type': 'text/csv',
      age: undefined,
    };
    expect(redactor.headers(headers)).toEqual({
      authorization: '[redacted]',
      'proxy-authorization': '[redacted]',
      cookie: '[redacted]',
      'set-cookie': '[redacted]',
      'x-api-key': '[redacted]',
      'content-type': 'text/csv',
    });
  });
});

test('a process that lives long forgets the secrets that it used the longest ago, never the one in use', () => {
  const made = createRedactor();
  const secret = (number: number): string =>
    createHash('sha256').update(String(number)).digest('hex').slice(0, 20);
  for (let number = 0; number < 2_010; number += 1) made.remember(['the-key-in-use', secret(number)]);
  const forgotten = made.known(`${secret(0)} ${secret(2_009)} the-key-in-use`);
  expect(forgotten).toBe(`${secret(0)} [redacted] [redacted]`);
});
