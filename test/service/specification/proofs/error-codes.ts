import { expect } from 'vitest';
import { type ErrorCode, errorCodes } from '../../../../src/api/error-codes.ts';
import { readFault } from '../../../../src/sandbox/server/faults.ts';
import { address, orderBody } from '../../../support/order-body.ts';
import { approval, pay, sendPaid } from '../../../support/payer.ts';
import type { ServiceResponse, TestService } from '../../../support/service.ts';
import { type Proof, type ProofsOf, proof } from '../proof.ts';
import type { errorCodeRows } from '../rows/errors.ts';
import {
  ask,
  cancel,
  day,
  expectInvalid,
  expectRefusal,
  fire,
  nobody,
  ordered,
  read,
  second,
} from '../scenes.ts';
import { poll, startDevice } from './device.ts';

type Scene = (it: TestService) => Promise<ServiceResponse>;

/** Checks the status and code of the scene's response. */
const responses = (
  shows: string,
  status: number,
  code: ErrorCode,
  scene: Scene,
  start?: Proof['start'],
): Proof =>
  proof(
    shows,
    async (it) => {
      expectRefusal(await scene(it), status, code);
      expect(errorCodes[code].status).toBe(status);
    },
    start,
  );

/** Reads from the service's OpenAPI document which responses may carry each code. */
async function declared(it: TestService): Promise<Map<string, string[]>> {
  const places = new Map<string, string[]>();
  for (const [path, item] of Object.entries<object>((await read(it, '/openapi.json')).paths))
    for (const [method, { responses }] of Object.entries(item))
      for (const [status, response] of Object.entries<{ 'x-error-codes'?: string[] }>(responses))
        for (const code of response['x-error-codes'] ?? [])
          places.set(code, [...(places.get(code) ?? []), `${method} ${path} ${status}`]);
  return places;
}

/** Checks that the test product named after the code is refused at creation, without an order. */
const refusedAtCreation = (status: number, code: ErrorCode): Proof =>
  proof(`an order of test-refused-${code.replaceAll('_', '-')}`, async (it) => {
    expect((await declared(it)).get(code)).toContain(`post /orders ${status}`);
    expectRefusal(await it.order(`test-refused-${code.replaceAll('_', '-')}`), status, code);
    expect((await read(it, '/orders')).total).toBe(0);
  });

const underFault = (status: number, code: ErrorCode): Proof =>
  responses(
    `--fault ${status}:${code} responds with it`,
    status,
    code,
    (it) => it.send('GET', '/wallet/me'),
    {
      faults: [readFault(`${status}:${code}@/wallet/me`) ?? expect.fail('this is a fault')],
    },
  );

const order = (it: TestService, url: string, country = 'US'): Promise<ServiceResponse> =>
  it.send('POST', '/orders', { ...orderBody(url), shipping_address: { ...address, country } });

const paid = (it: TestService, payload?: unknown) =>
  pay(it, '/agent/orders', orderBody(it.product('test-success')), 'sandbox', payload);

export const errorCodeProofs: ProofsOf<typeof errorCodeRows> = {
  'code unauthorized': responses('no key', 401, 'unauthorized', (it) =>
    it.send('GET', '/orders', undefined, null),
  ),
  'code forbidden': responses('a key that reads one order reads no wallet', 403, 'forbidden', async (it) => {
    const key = (await paid(it)).response.headers.get('x-api-key');
    return it.send('GET', '/wallet/me', undefined, key);
  }),
  'code invalid_token': responses('a key that nobody minted', 401, 'invalid_token', (it) =>
    it.send('GET', '/orders', undefined, 'sbx_test_nobody'),
  ),
  'code token_expired': responses('a key that was not used for 8 days', 401, 'token_expired', (it) => {
    it.pass(8 * day);
    return it.send('GET', '/orders');
  }),
  'code not_found': responses('an order there is none of', 404, 'not_found', (it) =>
    it.send('GET', `/orders/${nobody}`),
  ),
  'code already_exists': proof('names the resource and the order there is', async (it) => {
    const first = await it.order('test-success', { idempotency_key: 'k' });
    const again = await it.order('test-success', { idempotency_key: 'k' });
    expectRefusal(again, 409, 'already_exists');
    expect(again.body.details).toEqual({ resource: 'order', identifier: first.body.id });
  }),
  'code validation_error': proof('returns the validation body in place of a code', async (it) => {
    const refused = await it.order('test-success', { max_price: 'much' });
    expectInvalid(refused, 'body', 'max_price');
    expect(Object.keys(refused.body)).toEqual(['detail']);
    expect(errorCodes.validation_error.status).toBe(422);
  }),
  'code insufficient_funds': responses('more than the wallet has', 402, 'insufficient_funds', (it) =>
    it.order('test-success', { max_price: 100_000 }),
  ),
  'code payment_failed': responses(
    'a payment that is declined',
    402,
    'payment_failed',
    async (it) => (await paid(it, { ...approval, authorization: 'decline' })).response,
  ),
  'code payment_method_required': responses('nothing paid', 402, 'payment_method_required', (it) =>
    sendPaid(it, '/agent/search', { q: 'coffee' }),
  ),
  'code invalid_payment_method': responses('a credential that is none', 402, 'invalid_payment_method', (it) =>
    sendPaid(it, '/agent/search', { q: 'coffee' }, 'Payment e30'),
  ),
  'code invalid_shipping_address': responses('at creation', 400, 'invalid_shipping_address', (it) =>
    it.order('test-invalid-address'),
  ),
  'code url_unreachable': responses('at creation', 400, 'url_unreachable', (it) =>
    it.order('test-url-unreachable'),
  ),
  'code non_us_retailer': proof(
    'no operation declares it; a fault responds with it',
    async (it) => {
      expect((await declared(it)).has('non_us_retailer')).toBe(false);
      expectRefusal(await it.send('GET', '/wallet/me'), 400, 'non_us_retailer');
    },
    { faults: [readFault('400:non_us_retailer@/wallet/me') ?? expect.fail('this is a fault')] },
  ),
  'code unsupported_retailer': responses(
    'a shop that cannot be ordered from',
    400,
    'unsupported_retailer',
    (it) => order(it, 'https://giftcards.example/1'),
  ),
  'code unsupported_country': responses('an address in France', 400, 'unsupported_country', (it) =>
    order(it, it.product('test-success'), 'FR'),
  ),
  'code retailer_country_not_supported': refusedAtCreation(400, 'retailer_country_not_supported'),
  'code guest_checkout_not_supported': responses(
    'a retailer for members only, without an account there',
    400,
    'guest_checkout_not_supported',
    (it) => order(it, 'https://www.membersbarn.example/p/1'),
  ),
  'code invalid_variant': refusedAtCreation(400, 'invalid_variant'),
  'code out_of_stock': refusedAtCreation(400, 'out_of_stock'),
  'code shipping_unavailable': refusedAtCreation(400, 'shipping_unavailable'),
  'code order_not_cancellable': responses('a placed order', 400, 'order_not_cancellable', async (it) =>
    cancel(it, (await ordered(it)).id),
  ),
  'code return_not_allowed': responses('a failed order', 400, 'return_not_allowed', async (it) =>
    ask(it, await ordered(it, 'test-out-of-stock')),
  ),
  'code external_service_error': underFault(502, 'external_service_error'),
  'code payment_required': underFault(402, 'payment_required'),
  'code stripe_error': underFault(502, 'stripe_error'),
  'code stytch_error': underFault(502, 'stytch_error'),
  'code internal_error': underFault(500, 'internal_error'),
  'code bad_request': responses('a second page of a store that has one', 400, 'bad_request', (it) =>
    it.send('GET', '/products/search?query=tea&retailer=morningroast.example&page=2'),
  ),
  'code rate_limit_exceeded': proof(
    'too many keys a day, with Retry-After',
    async (it) => {
      const refused = await it.send('POST', '/sandbox/keys', undefined, null);
      expectRefusal(refused, 429, 'rate_limit_exceeded');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    },
    { config: { mintLimitPerDay: 1 } },
  ),
  'code service_unavailable': underFault(503, 'service_unavailable'),
  'code authorization_pending': responses('a poll', 400, 'authorization_pending', async (it) =>
    poll(it, (await startDevice(it)).device_code),
  ),
  'code slow_down': responses('two polls at once', 400, 'slow_down', async (it) => {
    const { device_code } = await startDevice(it);
    await poll(it, device_code);
    return poll(it, device_code);
  }),
  'code access_denied': responses('a person denied', 400, 'access_denied', async (it) => {
    const { device_code, user_code } = await startDevice(it);
    await fire(it, 'device-deny', user_code);
    return poll(it, device_code);
  }),
  'code expired_token': responses('nobody decided in time', 400, 'expired_token', async (it) => {
    const { device_code, expires_in } = await startDevice(it);
    it.pass(expires_in * second);
    return poll(it, device_code);
  }),
};
