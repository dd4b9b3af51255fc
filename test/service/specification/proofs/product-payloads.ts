import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { type Proof, proof } from '../proof.ts';
import { expectInvalid, expectRefusal, found, read, second } from '../scenes.ts';

export const general = 'harborgoods';

/** Proofs common to details and offers; `path` follows the id. */
export const payloadProofs = (
  path: '' | '/offers',
  schema: 'ProductDetailsPayload' | 'ProductOffersPayload',
) => {
  const target = async (it: Parameters<Proof['prove']>[0]) =>
    `/products/${(await found(it, general)).product_id}${path}?retailer=${general}`;
  return {
    whole: proof('returns 200, completed with the payload, or failed with code and message', async (it) => {
      const payload = await read(it, await target(it));
      expect(payload.status).toBe('completed');
      expect(checkShape(schema, payload, 'response').issues).toBeUndefined();
      const missing = await read(it, `/products/none${path}?retailer=${general}`);
      expect(missing).toMatchObject({
        status: 'failed',
        code: expect.any(String),
        message: expect.any(String),
      });
    }),
    product_id: proof('returns what the id names, and tells one id from another', async (it) => {
      const [one, other] = (await read(it, `/products/search?query=coffee&retailer=${general}`)).results;
      const payload = async (id: string) => read(it, `/products/${id}${path}?retailer=${general}`);
      expect(await payload(one.product_id)).not.toEqual(await payload(other.product_id));
    }),
    retailer: proof('is required and must be one there is', async (it) => {
      expectInvalid(await it.send('GET', `/products/1${path}`), 'query', 'retailer');
      expectRefusal(await it.send('GET', `/products/1${path}?retailer=nowhere`), 400, 'unsupported_retailer');
    }),
    max_age: proof('31 is taken, 30 refused; it decides whether an earlier reading will do', async (it) => {
      const from = await target(it);
      const { timestamp } = await read(it, from);
      it.pass(31 * second);
      expect((await read(it, `${from}&max_age=60`)).timestamp).toBe(timestamp);
      it.pass(second);
      expect((await read(it, `${from}&max_age=31`)).timestamp).toBe(timestamp + 32);
      expectInvalid(await it.send('GET', `${from}&max_age=30`), 'query', 'max_age');
      expect((await it.send('GET', `${from}&max_age=60&newer_than=1`)).status).toBe(422);
    }),
    newer_than: proof('a window shorter than 31 s is widened to 31 s', async (it) => {
      const from = await target(it);
      const { timestamp } = await read(it, from);
      it.pass(30 * second);
      expect((await read(it, `${from}&newer_than=${timestamp + 30}`)).timestamp).toBe(timestamp);
      it.pass(2 * second);
      expect((await read(it, `${from}&newer_than=${timestamp + 32}`)).timestamp).toBe(timestamp + 32);
      expect((await it.send('GET', `${from}&newer_than=1&max_age=60`)).status).toBe(422);
      expectInvalid(await it.send('GET', `${from}&newer_than=soon`), 'query', 'newer_than');
    }),
    async: proof('returns processing at once, and the payload once it was fetched', async (it) => {
      const from = `${await target(it)}&async=true`;
      expect((await read(it, from)).status).toBe('processing');
      it.pass(5 * second);
      expect((await read(it, from)).status).toBe('completed');
      expectInvalid(await it.send('GET', `${from.replace('true', 'perhaps')}`), 'query', 'async');
    }),
  };
};
