import { expect, test } from 'vitest';
import { secretsSent } from '../../../../src/platform/redact/secrets-sent.ts';

const url = new URL('https://api.example/orders');
const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));

test.each([
  [{ authorization: 'Bearer abcdef' }, ['abcdef']],
  [{ authorization: `Basic ${btoa('user:pass:word')}` }, [btoa('user:pass:word'), 'user', 'pass:word']],
  [{ authorization: 'Payment eyJ9' }, ['eyJ9']],
  [{ 'x-api-key': 'k e y' }, ['k e y']],
  [{ authorization: 'k e y' }, ['k e y']],
  [{ cookie: 'session=one; other=two=2' }, ['session=one; other=two=2', 'one', 'two=2']],
  [{ 'X-Auth-Token': 't', 'private-token': 'u', 'ocp-apim-subscription-key': 'v' }, ['t', 'u', 'v']],
  [{ 'idempotency-key': 'k', 'x-request-id': 'r' }, []],
  [{ accept: 'application/json' }, []],
])('the credentials of %j are known', (headers: Record<string, string>, secrets) => {
  expect(secretsSent({ url, headers })).toEqual(secrets);
});

test.each([
  ['an account', { email: 'a@b', password: 'p', nested: [{ totp_secret: 't' }] }, ['p', 't']],
  [
    'another service',
    { clientSecret: 'c', 'private-key': 'k', card: { CVV: 'v' }, has_password: true, token_count: '5' },
    ['c', 'k', 'v'],
  ],
  ['a form', 'grant=x&device_code=d%20c', ['d c']],
  [
    'an order with webhooks',
    {
      products: [{ url: 'https://shop.example/averyverylongproductname' }],
      webhooks: { order_placed: 'https://h.example/in/0123456789abcdef?token=tt' },
    },
    ['tt', '0123456789abcdef'],
  ],
  ['anything else', { note: 'nothing here' }, []],
  ['what is neither', '\u0000 password', []],
])('the secrets in the body of %s are known', (_, body, secrets) => {
  expect(secretsSent({ url, headers: {}, body: bytes(body) })).toEqual(secrets);
});

test('the secrets of an address are known', () => {
  const signed = new URL('https://u:p%40w@files.example/l.pdf?sig=abc&page=2');
  expect(secretsSent({ url: signed, headers: {} })).toEqual(['p@w', 'abc']);
});
