import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import type { ServiceResponse, TestService } from '../../../support/service.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { retailerEndpoints } from '../rows/endpoints.ts';
import { expectInvalid, read } from '../scenes.ts';

export const check = (it: TestService, url: string, country = 'US'): Promise<ServiceResponse> =>
  it.send('GET', `/retailers/check?url=${encodeURIComponent(url)}&country=${country}`, undefined, null);

/** URLs an order would be refused for, with country and code. */
export const refusedUrls = [
  ['https://giftcards.example/1', 'US', 'unsupported_retailer'],
  ['https://www.harborgoods.example/p/1', 'FR', 'unsupported_country'],
  ['https://www.membersbarn.example/p/1', 'US', 'guest_checkout_not_supported'],
] as const;

export const retailerEndpointProofs: ProofsOf<typeof retailerEndpoints> = {
  'GET /retailers': proof('lists the retailers and the coverage, to anybody', async (it) => {
    const { status, body } = await it.send('GET', '/retailers', undefined, null);
    expect(status).toBe(200);
    expect(body.retailers).toHaveLength(14);
    expect(checkShape('PublicRetailerListResponse', body, 'response').issues).toBeUndefined();
  }),
  'GET /retailers?include': proof('is taken once and several times', async (it) => {
    for (const query of ['include=coverage', 'include=coverage&include=platforms'])
      expect((await read(it, `/retailers?${query}`)).retailers).toHaveLength(14);
    const { parameters } = (await read(it, '/openapi.json')).paths['/retailers'].get;
    const include = parameters.find(({ name }: { name: string }) => name === 'include');
    expect(include.schema.type).toBe('array');
  }),
  'GET /retailers/check': proof(
    'tells what an order would be refused for, and that others would not',
    async (it) => {
      for (const [url, country, reason] of refusedUrls) {
        const { status, body } = await check(it, url, country);
        expect([status, body.orderable, body.unsupported_reason]).toEqual([200, false, reason]);
        expect(checkShape('RetailerCheckResponse', body, 'response').issues).toBeUndefined();
      }
      const { body } = await check(it, 'https://www.harborgoods.example/p/1');
      expect([body.orderable, body.unsupported_reason]).toEqual([true, null]);
      expectInvalid(await it.send('GET', '/retailers/check'), 'query', 'url');
    },
  ),
};
