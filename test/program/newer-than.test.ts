import { afterEach, beforeEach, expect, test } from 'vitest';
import { json, peer } from '../http/peer.ts';
import { makePlace, type Place } from './place.ts';
import { errand } from './run.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

test('a fraction of unix seconds reaches the legacy surface, which takes one', async () => {
  const { url, received } = await peer(json({ status: 'completed', product_id: 'p1' }));
  Object.assign(place.environment, { ERRAND_LEGACY_BASE_URL: url, ERRAND_LEGACY_TOKEN: 'token' });
  const read = ['legacy', 'product', 'p1', '--retailer', 'harborgoods', '--newer-than', '1795000000.5'];
  const { code, stderr } = await errand(place, read);
  expect(code, stderr).toBe(0);
  expect(received[0]?.target).toContain('newer_than=1795000000.5');
});
