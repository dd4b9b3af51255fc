import { describe, expect, test } from 'vitest';
import { isForBody, readAuthChallenges, readPaymentChallenges } from '../../../src/http/payment-challenge.ts';
import { paymentCredential, readCredential, readGrant } from '../../../src/http/payment-credential.ts';

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const request = encoded({ amount: '5100', currency: 'usd', recipient: 'acct_1' });
const header = (more = '', method = 'sandbox'): string =>
  `Payment id="c1", realm="api.example", method="${method}", intent="charge", request="${request}"${more}`;
const read = (value: string | string[]) => readPaymentChallenges({ 'www-authenticate': value });
const only = (value: string) => {
  const [challenge] = read(value);
  if (!challenge) throw new Error('no challenge was read');
  return challenge;
};

/** Output of mppx 0.11.0's Challenge, Credential and Receipt for one payment with the body `{"amount":"1000"}`. */
const sdk = {
  challenge:
    'Payment id="w5b9KlZx_AmDFpwCP_Liy-qaHj4YmBsnjqKa7wp3BBs", realm="api.example.com", method="tempo", intent="charge", request="eyJhbW91bnQiOiIxMDAwMDAwIiwiY3VycmVuY3kiOiIweDIwYzAiLCJyZWNpcGllbnQiOiIweDc0MmQifQ", description="A \\"fine\\" tea \\\\ café \\u2014 \\ud83c\\udf75", digest="sha-256=Bxp4xJtbVfsB9npD5AEWUnIk76Cuv8Au4ECDA+F0biY=", expires="2025-01-06T12:00:00Z", opaque="eyJvcmRlciI6IjEifQ"',
  credential:
    'eyJjaGFsbGVuZ2UiOnsiZGVzY3JpcHRpb24iOiJBIFwiZmluZVwiIHRlYSBcXCBjYWbDqSDigJQg8J-NtSIsImRpZ2VzdCI6InNoYS0yNTY9QnhwNHhKdGJWZnNCOW5wRDVBRVdVbklrNzZDdXY4QXU0RUNEQStGMGJpWT0iLCJleHBpcmVzIjoiMjAyNS0wMS0wNlQxMjowMDowMFoiLCJpZCI6Inc1YjlLbFp4X0FtREZwd0NQX0xpeS1xYUhqNFltQnNuanFLYTd3cDNCQnMiLCJpbnRlbnQiOiJjaGFyZ2UiLCJtZXRob2QiOiJ0ZW1wbyIsInJlYWxtIjoiYXBpLmV4YW1wbGUuY29tIiwib3BhcXVlIjoiZXlKdmNtUmxjaUk2SWpFaWZRIiwicmVxdWVzdCI6ImV5SmhiVzkxYm5RaU9pSXhNREF3TURBd0lpd2lZM1Z5Y21WdVkza2lPaUl3ZURJd1l6QWlMQ0p5WldOcGNHbGxiblFpT2lJd2VEYzBNbVFpZlEifSwicGF5bG9hZCI6eyJzaWduYXR1cmUiOiIweDEifSwic291cmNlIjoiZGlkOmtleTp6In0',
  receipt:
    'eyJtZXRob2QiOiJ0ZW1wbyIsInJlZmVyZW5jZSI6IjB4YWJjIiwic3RhdHVzIjoic3VjY2VzcyIsInRpbWVzdGFtcCI6IjIwMjUtMDEtMDZUMTI6MDA6MDFaIiwic2ltdWxhdGVkIjp0cnVlfQ',
};

describe('reading the challenges of a 402', () => {
  test('a challenge tells method, amount, currency, expiry and body', () => {
    expect(
      only(header(', expires="2026-03-01T12:05:00Z", digest="sha-256=abc", description="One order"')),
    ).toMatchObject({
      id: 'c1',
      realm: 'api.example',
      method: 'sandbox',
      intent: 'charge',
      amount: '5100',
      currency: 'usd',
      digest: 'sha-256=abc',
      description: 'One order',
      expiresAt: Date.parse('2026-03-01T12:05:00Z'),
      request: { recipient: 'acct_1' },
    });
  });

  test("the public SDK's text reads as what it was made from", () => {
    const challenge = only(sdk.challenge);
    expect(challenge).toMatchObject({
      amount: '1000000',
      currency: '0x20c0',
      method: 'tempo',
      expiresAt: Date.parse('2025-01-06T12:00:00Z'),
    });
    expect(challenge.description).toBe('A "fine" tea \\ café — 🍵');
    expect(isForBody(challenge, Buffer.from('{"amount":"1000"}'))).toBe(true);
  });

  test.each([
    ['several lines', [header(), header('', 'stripe'), header('', 'x402')]],
    ['one line', [`${header()}, ${header('', 'stripe')}, ${header('', 'x402')}`]],
    [
      'among other schemes',
      [
        `Bearer realm="a, b", ${header()}`,
        `Negotiate YII=, ${header('', 'stripe')}, Basic`,
        header('', 'x402'),
      ],
    ],
    [
      'other capitals and spaces',
      [
        header().replace('Payment', 'PAYMENT').replaceAll('="', ' = "'),
        `  ,, ${header('', 'stripe')} ,`,
        header('', 'x402'),
      ],
    ],
  ])('all of them are read: %s', (_, lines) => {
    expect(read(lines).map(({ method }) => method)).toEqual(['sandbox', 'stripe', 'x402']);
  });

  test('a value may stand without quotes, and hold what looks like a challenge when it has them', () => {
    expect(only(header().replace('"sandbox"', 'sandbox')).method).toBe('sandbox');
    const quoted = only(header(', description="Payment id=\\"c2\\", method=\\"stripe\\", x"'));
    expect(quoted.description).toBe('Payment id="c2", method="stripe", x');
    expect(read(header(', description="Payment id=\\"c2\\", method=\\"stripe\\""'))).toHaveLength(1);
  });

  test.each([
    ['no id', header().replace('id="c1", ', '')],
    ['an empty id', header().replace('"c1"', '""')],
    ['a parameter twice', header(', id="c2"')],
    ['no request', header().replace(/, request="[^"]*"/, '')],
    ['a request that is no JSON', header().replace(request, 'e30x!')],
    ['a request that is a list', header().replace(request, encoded(['5100']))],
    ['an amount that is a number', header().replace(request, encoded({ amount: 5100, currency: 'usd' }))],
    ['a negative amount', header().replace(request, encoded({ amount: '-1', currency: 'usd' }))],
    ['an amount with decimals', header().replace(request, encoded({ amount: '51.00', currency: 'usd' }))],
    ['no currency', header().replace(request, encoded({ amount: '5100' }))],
    ['an expiry that is no time', header(', expires="soon"')],
    ['a method with a line break', header('', 'sand\nbox')],
    ['a credential header of its own', header(', header="Host"')],
    ['a quote that is not closed', header(', description="no end')],
    [
      'a request of more than 16 KiB',
      header().replace(request, encoded({ amount: '1', currency: 'usd', x: 'x'.repeat(16_384) })),
    ],
  ])('what cannot be understood is no challenge: %s', (_, text) => {
    expect(read(text)).toEqual([]);
  });

  test('one that is broken takes none of the others with it', () => {
    expect(read([header(', description="no end'), header('', 'stripe')]).map(({ method }) => method)).toEqual(
      ['stripe'],
    );
    expect(read(`${header()}, Payment id="c2", ;;;`).map(({ id }) => id)).toEqual(['c1']);
  });

  test('hostile input is bounded: at most 32 challenges of a line', () => {
    for (const text of [
      '"'.repeat(1e6),
      `a=${'\\"'.repeat(5e5)}`,
      'a '.repeat(5e5),
      ' ,'.repeat(5e5),
      `P ${'a'.repeat(1e6)}`,
    ]) {
      expect(readAuthChallenges(`Payment id="${text}`).length).toBeLessThanOrEqual(32);
      expect(readAuthChallenges(text).length).toBeLessThanOrEqual(32);
    }
    expect(Object.keys(readAuthChallenges('Payment __proto__="x"')[0]?.parameters ?? {})).toEqual([
      '__proto__',
    ]);
  });

  test('a challenge is for one body only, where it says so', () => {
    const body = Buffer.from('{"amount":"1000"}');
    const digest = 'sha-256=Bxp4xJtbVfsB9npD5AEWUnIk76Cuv8Au4ECDA+F0biY=';
    expect(isForBody(only(header()), body)).toBe(true);
    expect(isForBody(only(header(`, digest="${digest}"`)), body)).toBe(true);
    expect(isForBody(only(header(`, digest="${digest.replace('=B', '=:B')}:"`)), body)).toBe(true);
    expect(isForBody(only(header(`, digest="${digest}"`)), Buffer.from('{"amount":"1001"}'))).toBe(false);
  });
});

describe('making a credential', () => {
  const challenge = only(header(', expires="2026-03-01T12:05:00Z", opaque="e30"'));
  const decoded = (credential: string) =>
    JSON.parse(Buffer.from(credential.replace('Payment ', ''), 'base64url').toString());

  test('it repeats the challenge word for word', () => {
    expect(decoded(paymentCredential(challenge, { payload: { type: 'x' }, source: 'did:key:z' }))).toEqual({
      challenge: {
        id: 'c1',
        realm: 'api.example',
        method: 'sandbox',
        intent: 'charge',
        request,
        expires: '2026-03-01T12:05:00Z',
        opaque: 'e30',
      },
      payload: { type: 'x' },
      source: 'did:key:z',
    });
  });

  test("it says what the public SDK's says", () => {
    const made = paymentCredential(only(sdk.challenge), {
      payload: { signature: '0x1' },
      source: 'did:key:z',
    });
    expect(decoded(made)).toEqual(decoded(sdk.credential));
  });

  const credential = paymentCredential(challenge, { payload: { signature: '0x1' } });
  test.each([
    ['the header', `${credential}\n`],
    ['its base64url', credential.replace('Payment ', '')],
    ['its JSON', JSON.stringify(decoded(credential), null, 2)],
    ['the payload alone', '{"payload": {"signature": "0x1"}}'],
  ])('a wallet may print it as %s', (_, text) => {
    expect(readCredential(text, challenge)).toEqual({ credential });
  });

  test.each([
    ['nothing', '\n'],
    ['words', 'payment done!'],
    ['no payload', '{"signature": "0x1"}'],
    ['a list', '[1]'],
    ['another challenge', JSON.stringify({ challenge: { id: 'c9' }, payload: {} })],
    ['more than any header takes', JSON.stringify({ payload: 'x'.repeat(20_000) })],
  ])('anything else is refused: %s', (_, text) => {
    expect(readCredential(text, challenge)).toHaveProperty('problem');
  });
});

describe('what a paid response brings', () => {
  const receipt = {
    method: 'sandbox',
    reference: 'r1',
    status: 'success',
    timestamp: '2026-03-01T12:00:00Z',
  };

  test('the receipt with all its fields, and the temporary key', () => {
    expect(
      readGrant({ 'payment-receipt': encoded({ ...receipt, simulated: true }), 'x-api-key': 'xx_test_abc' }),
    ).toEqual({ apiKey: 'xx_test_abc', receipt: { ...receipt, simulated: true } });
  });

  test("the public SDK's receipt", () => {
    expect(readGrant({ 'payment-receipt': sdk.receipt }).receipt).toMatchObject({
      reference: '0xabc',
      status: 'success',
    });
  });

  test('what is no receipt and no key is neither', () => {
    expect(readGrant({ 'payment-receipt': 'e30', 'x-api-key': 'two words' })).toEqual({});
    expect(readGrant({})).toEqual({});
  });
});
