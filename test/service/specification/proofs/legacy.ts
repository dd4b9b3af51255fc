import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import type { TestService } from '../../../support/service.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { legacyEndpoints } from '../rows/endpoints.ts';
import { expectInvalid, expectRefusal, found, legacy, ordered, read, second } from '../scenes.ts';

const target = async (it: TestService): Promise<string> =>
  `/v1/products/${(await found(it, 'harborgoods')).product_id}?retailer=harborgoods`;

export const legacyEndpointProofs: ProofsOf<typeof legacyEndpoints> = {
  'GET /v1/products/{product_id}': proof('the legacy record, over HTTP Basic', async (it) => {
    const { status, body } = await legacy(it, 'GET', await target(it));
    expect([status, body.status]).toEqual([200, 'completed']);
    expect(checkShape('LegacyProductDetails', body, 'response').issues).toBeUndefined();
    expect((await legacy(it, 'GET', await target(it), 'secret')).status).toBe(401);
    expect((await it.send('GET', await target(it))).status).toBe(401);
  }),
  'GET /v1/products/{product_id}?retailer': proof('is required', async (it) => {
    expectInvalid(await legacy(it, 'GET', '/v1/products/1'), 'query', 'retailer');
    expectRefusal(await legacy(it, 'GET', '/v1/products/1?retailer=nowhere'), 400, 'unsupported_retailer');
  }),
  'GET /v1/products/{product_id}?max_age': proof('a number; never with newer_than', async (it) => {
    const from = await target(it);
    const { timestamp } = (await legacy(it, 'GET', from)).body;
    it.pass(60 * second);
    expect((await legacy(it, 'GET', `${from}&max_age=90.5`)).body.timestamp).toBe(timestamp);
    expect((await legacy(it, 'GET', `${from}&max_age=40`)).body.timestamp).toBe(timestamp + 60);
    expect((await legacy(it, 'GET', `${from}&max_age=40&newer_than=1`)).status).toBe(422);
  }),
  'GET /v1/products/{product_id}?newer_than': proof('a timestamp; never with max_age', async (it) => {
    const from = await target(it);
    const { timestamp } = (await legacy(it, 'GET', from)).body;
    it.pass(60 * second);
    expect((await legacy(it, 'GET', `${from}&newer_than=${timestamp}`)).body.timestamp).toBe(timestamp);
    const fresh = (await legacy(it, 'GET', `${from}&newer_than=${timestamp + 20}`)).body.timestamp;
    expect(fresh).toBe(timestamp + 60);
    expectInvalid(await legacy(it, 'GET', `${from}&newer_than=soon`), 'query', 'newer_than');
  }),
  'GET /v1/products/{product_id}?async': proof('processing at once; false unless told', async (it) => {
    const from = await target(it);
    expect((await legacy(it, 'GET', `${from}&async=true`)).body.status).toBe('processing');
    expect((await legacy(it, 'GET', from)).body.status).toBe('completed');
    expectInvalid(await legacy(it, 'GET', `${from}&async=perhaps`), 'query', 'async');
  }),
  'POST /v1/orders/{request_id}/retry': proof('200 and the id of a new order request', async (it) => {
    const { id } = await ordered(it, 'test-out-of-stock');
    const { status, body } = await legacy(it, 'POST', `/v1/orders/${id}/retry`);
    expect([status, Object.keys(body)]).toEqual([200, ['request_id']]);
    expect(body.request_id).not.toBe(id);
    expect((await read(it, `/orders/${body.request_id}`)).status).toBe('pending');
    expectInvalid(await legacy(it, 'POST', '/v1/orders/1/retry'), 'path', 'request_id');
  }),
};
