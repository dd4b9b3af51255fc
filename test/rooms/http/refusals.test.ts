import { describe, expect, test } from 'vitest';
import { errorCodes, errorResponseHint } from '../../../src/api/error-codes.ts';
import { caller, failureOf, keyedOrder, orderId } from '../../support/caller.ts';
import { json, peer, text } from '../../support/peer.ts';

const refused = async (body: unknown, status: number, headers: Record<string, string> = {}) => {
  const service = await peer(json(body, status, headers));
  return failureOf(
    caller(service.url, { retries: 0 }).client.call('order.get', { path: { order_id: orderId } }),
  );
};

describe('a refusal', () => {
  test.each([
    ['unauthorized', 401, 'authentication'],
    ['invalid_token', 401, 'authentication'],
    ['forbidden', 403, 'authentication'],
    ['not_found', 404, 'not_found'],
    ['already_exists', 409, 'conflict'],
    ['order_not_cancellable', 400, 'conflict'],
    ['return_not_allowed', 400, 'conflict'],
    ['insufficient_funds', 402, 'payment'],
    ['payment_failed', 402, 'payment'],
    ['invalid_payment_method', 402, 'payment'],
    ['invalid_shipping_address', 400, 'usage'],
    ['out_of_stock', 400, 'usage'],
    ['bad_request', 400, 'usage'],
    ['rate_limit_exceeded', 429, 'unavailable'],
    ['internal_error', 500, 'unavailable'],
    ['external_service_error', 502, 'unavailable'],
  ] as const)('%s with status %i is told as %s, with its hint', async (code, status, category) => {
    const error = await refused({ code, message: 'why it is so', details: { some: 1 } }, status, {
      'x-request-id': 'req-9',
    });
    expect(error).toMatchObject({ name: 'ServiceError', category, message: 'why it is so' });
    expect(error.facts).toMatchObject({
      code,
      status,
      details: { some: 1 },
      hint: errorResponseHint(code, 'bearer', {}, true),
      requestId: 'req-9',
      attempts: 1,
    });
  });

  test('that a gateway has wrapped reads the same', async () => {
    const error = await refused(
      { error: { code: 'insufficient_funds', message: 'no money', details: { required: 7 } } },
      402,
    );
    expect(error).toMatchObject({
      category: 'payment',
      message: 'no money',
      facts: { code: 'insufficient_funds', details: { required: 7 } },
    });
  });

  test('as problem+json tells its detail', async () => {
    const body = { type: 'about:blank', title: 'Payment Required', status: 402, detail: 'pay first' };
    const error = await refused(body, 402, { 'content-type': 'application/problem+json' });
    expect(error).toMatchObject({
      category: 'payment',
      message: 'pay first',
      facts: { details: { title: 'Payment Required' } },
    });
  });

  test('of a code that nobody knows goes by its status', async () => {
    expect(await refused({ code: 'brand_new', message: 'new', details: {} }, 403)).toMatchObject({
      category: 'authentication',
      facts: { code: 'brand_new', hint: undefined },
    });
  });

  test('is told as rejected: nothing is in doubt', async () => {
    const service = await peer(json({ code: 'insufficient_funds', message: 'no money', details: {} }, 402));
    const error = await failureOf(caller(service.url).client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({
      category: 'payment',
      facts: {
        outcome: 'rejected',
        retryable: false,
        attempts: 1,
        hint: errorCodes.insufficient_funds.hint,
      },
    });
  });

  test.each([401, 403, 404, 400])('of status %i without a body names the request', async (status) => {
    const service = await peer(text('', status));
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error.message).toBe(`GET ${service.url}/wallet/me returned ${status}`);
  });

  test('in HTML is no word of the service: the base URL is wrong', async () => {
    const service = await peer(text('<html>404</html>', 404, { 'content-type': 'text/html' }));
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'unavailable' });
    expect(error.message).toContain('is the base URL right?');
  });

  test('in HTML of a gateway that has no service behind it is unavailable', async () => {
    const service = await peer(text('<html>502 Bad Gateway</html>', 502, { 'content-type': 'text/html' }));
    const error = await failureOf(caller(service.url, { retries: 0 }).client.call('wallet.get', {}));
    expect(error).toMatchObject({
      category: 'unavailable',
      message: `GET ${service.url}/wallet/me returned 502`,
    });
  });

  test('of any length is cut, control characters passing as they are', async () => {
    const error = await refused(
      {
        code: 'bad_request',
        message: `\u001b[31m${'x'.repeat(100_000)}`,
        details: { long: 'y'.repeat(100_000) },
      },
      400,
    );
    expect(error.message).toHaveLength(2000);
    expect(error.message.startsWith('\u001b[31m')).toBe(true);
    expect(JSON.stringify(error.facts.details).length).toBeLessThan(2100);
  });

  test('whose body is too long to read still tells its status', async () => {
    const error = await refused({ code: 'not_found', message: 'x'.repeat(1_000_000), details: {} }, 404);
    expect(error).toMatchObject({ category: 'not_found', facts: { status: 404 } });
  });

  test('whose body breaks off still tells its status', async () => {
    const service = await peer((response, _, socket) => {
      response.writeHead(404, { 'content-length': '500' });
      response.write('{"code":', () => setImmediate(() => socket.destroy()));
    });
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'not_found', facts: { attempts: 1 } });
  });
});

describe('input that the service refuses', () => {
  test('is told place by place', async () => {
    const issues = [
      {
        loc: ['body', 'products', 0, 'quantity'],
        msg: 'Input should be greater than 0',
        type: 'greater_than',
      },
      { loc: ['body', 'max_price'], msg: 'Field required', type: 'missing' },
    ];
    const error = await refused({ detail: issues }, 422);
    expect(error).toMatchObject({
      name: 'ValidationError',
      category: 'usage',
      facts: { code: 'validation_error', status: 422, details: issues },
    });
    expect(error.message).toBe(
      'the service refused the input: body.products.0.quantity: Input should be greater than 0; body.max_price: Field required',
    );
  });

  test('is told in ten places at most', async () => {
    const issues = Array.from({ length: 25 }, (_, index) => ({
      loc: ['body', index],
      msg: 'bad',
      type: 'value_error',
    }));
    const error = await refused({ detail: issues }, 422);
    expect(error.message.split('; ')).toHaveLength(11);
    expect(error.message).toContain('and 15 more');
  });

  test('is told even where the places make no sense', async () => {
    const error = await refused({ detail: [null, { msg: 7 }, 'text', { loc: 'x', msg: 'odd' }] }, 422);
    expect(error.message).toBe('the service refused the input: refused; refused; refused; odd');
  });
});
