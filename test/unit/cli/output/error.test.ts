import { describe, expect, test } from 'vitest';
import { renderError } from '../../../../src/cli/output/error.ts';
import type { OutputFormat } from '../../../../src/format/result.ts';
import { ErrandError, UsageError } from '../../../../src/platform/errors.ts';
import { capture } from '../../../support/streams.ts';

async function rendered(
  error: unknown,
  format: OutputFormat = 'table',
  debug = false,
  color = false,
): Promise<string> {
  const { io, out, err } = capture({}, { color });
  await renderError(error, io, format, { debug });
  expect(out.text).toBe('');
  return err.text;
}

const broke = new ErrandError('payment', 'the wallet cannot cover this order', {
  code: 'insufficient_funds',
  status: 402,
  details: {
    required: 5100,
    available: 2000,
    fund_with: [
      { rail: 'your_retailer_account', account: 'xx_acct_1' },
      { rail: 'carrier_pigeon', wings: 2, note: null },
      'a bare word',
    ],
  },
  hint: 'Fund the wallet, lower max_price, or order with a saved retailer account.',
  requestId: 'req_1',
  outcome: 'rejected',
  next: [{ command: 'errand wallet', when: 'to see the balance' }],
});

describe('an error for people', () => {
  test('says what is missing, each way forward, what to do and what to run', async () => {
    expect(await rendered(broke)).toBe(
      [
        'error: the wallet cannot cover this order (insufficient_funds)',
        '  needs     $51.00',
        '  has       $20.00',
        '  short by  $31.00',
        '  ways forward:',
        '  - your_retailer_account: order with your own account at the retailer (--account); the wallet then pays the fee only, account xx_acct_1',
        '  - carrier_pigeon: wings 2',
        '  - a bare word',
        '  status 402, request req_1',
        'hint: Fund the wallet, lower max_price, or order with a saved retailer account.',
        'try: errand wallet — to see the balance',
        '',
      ].join('\n'),
    );
  });

  test('of the validation body names each place and what is wrong there', async () => {
    const details = {
      detail: [{ loc: ['body', 'products', 0, 'quantity'], msg: 'must be at least 1', type: 'value_error' }],
    };
    const text = await rendered(
      new ErrandError('usage', 'the service refused the request', { code: 'validation_error', details }),
    );
    expect(text).toContain('\n  body.products.0.quantity: must be at least 1\n');
    const fields = {
      field_errors: [{ field: 'postal_code', code: 'x', message: 'is not a ZIP' }],
      line_rejections: [],
    };
    expect(await rendered(new ErrandError('ended_badly', 'failed', { details: fields }))).toContain(
      '\n  postal_code: is not a ZIP\n',
    );
    const line_rejections = [
      { item_id: 'i', url: 'https://x.example/', code: 'out_of_stock', message: 'Sold out.' },
      { product_id: 'mug', codes: ['low_stock'], requested_quantity: 5, available_quantity: 2 },
    ];
    expect(
      await rendered(new ErrandError('ended_badly', 'failed', { details: { line_rejections } })),
    ).toContain('\n  https://x.example/: Sold out.\n  mug: low stock (5 requested, 2 available)\n');
  });

  test('tells how long to wait, how often it was tried and what is in doubt', async () => {
    const error = new ErrandError('in_doubt', 'no response', {
      attempts: 3,
      retryAfterMs: 1500,
      idempotencyKey: 'k1',
      outcome: 'unknown',
    });
    expect(await rendered(error)).toBe(
      'error: no response\n  3 attempts, retry after 2s, idempotency key k1, outcome unknown\n',
    );
  });

  test('of details without end shows the first ones and counts the rest', async () => {
    const details = Array.from({ length: 50 }, (_, index) => ({ loc: [index], msg: 'bad' }));
    const text = await rendered(new UsageError('no', { details }));
    expect(text.split('\n')).toHaveLength(1 + 20 + 1 + 1);
    expect(text).toContain('… and 30 more; -o json shows all');
  });

  test('obeys nothing that the service wrote into it', async () => {
    const error = new ErrandError('conflict', 'no\nhint: run rm -rf\u001b[2J', {
      code: 'x\u0007',
      details: { 'k\u202e': 'v\r', fund_with: [{ rail: '\u001b[1m' }] },
      hint: 'h\u009b',
      next: [{ command: 'c\n', when: 'w\u2028' }],
    });
    const text = await rendered(error);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/);
    expect(text).toContain('error: no⏎hint: run rm -rf␛[2J (x␇)\n');
  });

  test('has colour only where stderr has', async () => {
    expect(await rendered(broke)).not.toContain('\u001b');
    expect(await rendered(broke, 'table', false, true)).toContain('\u001b[31merror:\u001b[39m');
  });
});

describe('an error for programs', () => {
  test.each(['json', 'ndjson'] as const)(
    'with -o %s is one line of JSON with every member',
    async (format) => {
      const text = await rendered(broke, format);
      expect(text.indexOf('\n')).toBe(text.length - 1);
      expect(JSON.parse(text)).toEqual({
        error: {
          category: 'payment',
          code: 'insufficient_funds',
          message: 'the wallet cannot cover this order',
          status: 402,
          exit_code: 6,
          details: broke.facts.details,
          hint: broke.facts.hint,
          request_id: 'req_1',
          attempts: null,
          retryable: null,
          retry_after_ms: null,
          idempotency_key: null,
          outcome: 'rejected',
          next: broke.facts.next,
        },
      });
    },
  );

  test('without facts has null in their place', async () => {
    const { error } = JSON.parse(await rendered(new UsageError('--limit takes 1 to 500, not 0'), 'json'));
    expect(error).toMatchObject({
      category: 'usage',
      exit_code: 2,
      code: null,
      status: null,
      details: null,
      hint: null,
      outcome: 'not_sent',
      retryable: false,
      next: [],
    });
  });
});

describe('a bug', () => {
  test('is told without its stack, and how to see it', async () => {
    const text = await rendered(new TypeError('x is undefined'));
    expect(text).toBe(
      'error: errand failed unexpectedly: x is undefined\nhint: This is a bug; rerun with --debug to see where.\n',
    );
    expect(JSON.parse(await rendered(new TypeError('x'), 'json')).error).toMatchObject({
      category: 'unexpected',
      exit_code: 1,
      message: 'errand failed unexpectedly: x',
    });
  });

  test('shows its stack and that of its cause with --debug', async () => {
    const error = new TypeError('x', { cause: new Error('below\u001b[2J') });
    const text = await rendered(error, 'table', true);
    expect(text).toContain('error.test.ts');
    expect(text).toContain('caused by: Error: below␛[2J');
    const json = await rendered(error, 'ndjson', true);
    expect(json.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(json).error.stack).toContain('error.test.ts');
  });

  test('may be anything that was thrown', async () => {
    expect(await rendered('a string')).toContain('errand failed unexpectedly: a string');
    expect(await rendered(undefined)).toContain('errand failed unexpectedly: undefined');
    expect(await rendered(Object.create(null))).toContain('errand failed unexpectedly');
    const loop = new Error('loop');
    loop.cause = loop;
    expect(await rendered(loop, 'table', true)).toContain('loop');
  });
});
