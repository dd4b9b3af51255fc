import { afterEach, beforeEach, expect, test } from 'vitest';
import { page } from '../../support/read-page.ts';
import { TestService } from '../../support/service.ts';

let service: TestService;
let path: string;
beforeEach(async () => {
  service = await TestService.start();
  path = `/track/${(await service.order('test-success')).body.id}`;
});
afterEach(async () => {
  await service.stop();
  expect(service.bugs).toEqual([]);
});

const typeFor = async (accept: string | undefined) => {
  const response = await service.send('GET', path, undefined, null, accept === undefined ? {} : { accept });
  expect([response.status, response.headers.get('vary')]).toEqual([200, 'Accept']);
  return response.headers.get('content-type')?.split(';')[0];
};

test.each([
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html',
  'TEXT/HTML;q=0.5, application/json;q=0.4',
  'text/*',
])('a browser that sends Accept: %s sees a page', async (accept) => {
  expect(await typeFor(accept)).toBe('text/html');
});

test.each([
  undefined,
  '*/*',
  'application/json',
  'application/json, text/html',
  'application/json, text/html;q=0.9',
  'text/html;q=0, */*',
  'text/html;q=nonsense',
  ',;,q=',
])('a client that sends Accept: %s gets the JSON it always got', async (accept) => {
  expect(await typeFor(accept)).toBe('application/json');
});

test('the page shows how far it is and where it goes, and neither name nor phone', async () => {
  expect((await page(service, path)).text).toContain('No parcel.');
  service.pass(12_000);
  const { text } = await page(service, path);
  for (const part of ['delivered', 'Delivered: left at the front door', '1 Main St', 'Austin TX 78701'])
    expect(text).toContain(part);
  for (const secret of ['Ada', 'Byron', '5125550100']) expect(text).not.toContain(secret);
});

test.each(['nothing', crypto.randomUUID()])(
  'at %s is a page that says there is no such order',
  async (id) => {
    const { status, text, headers } = await page(service, `/track/${id}`);
    expect([status, headers.get('vary')]).toEqual([404, 'Accept']);
    expect(text).toContain('No such order');
  },
);

test('for a client an unknown order stays the documented 404', async () => {
  const { status, body, headers } = await service.send(
    'GET',
    `/track/${crypto.randomUUID()}`,
    undefined,
    null,
  );
  expect([status, body.code, headers.get('vary')]).toEqual([404, 'not_found', 'Accept']);
});
