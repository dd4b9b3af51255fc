import { beforeEach, expect, test } from 'vitest';
import { returnReasons } from '../../../src/api/enums.ts';
import { onceOf, page, submit } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});
let id: string;
let path: string;
beforeEach(async () => {
  id = (
    await service.order('test-success', { products: [{ url: service.product('test-success'), quantity: 2 }] })
  ).body.id;
  path = `/console/orders/${id}`;
  service.pass(12_000);
});

const item = async (): Promise<string> => (await service.send('GET', `/orders/${id}`)).body.items[0].id;
const returns = async () => (await service.send('GET', '/returns')).body.return_requests;
const form = async (reason: string) => ({
  once: onceOf(
    (/<form [^>]*id="return-form">.*?<\/form>/s.exec((await page(service, path)).text) ?? [''])[0],
  ),
  item: await item(),
  quantity: '1',
  reason,
});
/** The events the order page's buttons trigger. */
const offered = async (): Promise<string[]> =>
  [...(await page(service, path)).text.matchAll(/action="\/console\/returns\/[^"/]+\/(\w+)"/g)].map(
    ([, event = '']) => event,
  );

test('a return is requested, approved and credited by buttons, and the money agrees', async () => {
  const fields = await form('damaged');
  const done = await submit(service, `${path}/return`, fields);
  expect([done.status, done.headers.get('location')]).toEqual([303, `${path}#returns`]);
  const [requested] = await returns();
  expect(requested).toMatchObject({ status: 'open', reason: 'damaged', items: [{ quantity: 1 }] });
  expect(await offered()).toEqual(['approved', 'denied', 'credited']);
  const approved = `/console/returns/${requested.id}/approved`;
  expect((await submit(service, approved, { back: 'order' })).headers.get('location')).toBe(
    `${path}#returns`,
  );
  expect((await returns())[0]).toMatchObject({ status: 'approved', label_urls: [expect.any(String)] });
  expect(await offered()).toEqual(['denied', 'credited']);
  const ownPage = `/console/returns/${requested.id}`;
  expect((await page(service, ownPage)).text).toContain(`action="${ownPage}/credited"`);
  expect((await submit(service, `${ownPage}/credited`)).headers.get('location')).toBe(ownPage);
  const [credited] = await returns();
  expect(credited).toMatchObject({ status: 'credited', credited_amount: 1_999 });
  expect((await service.send('GET', '/wallet/me')).body.balance).toBe(100_000 - 2 * 1_999 - 100 + 1_999);
  expect(await offered()).toEqual([]);
  const { text } = await page(service, path);
  expect(text).toContain('$19.99 credited');
  expect(text).toContain('Credited for returns');
});

test('a form that is sent twice requests one return, also once that is over', async () => {
  const fields = await form('damaged');
  await Promise.all([1, 2].map(() => submit(service, `${path}/return`, fields)));
  service.pass(60_000);
  expect((await submit(service, `${path}/return`, fields)).status).toBe(303);
  const changed = await submit(service, `${path}/return`, { ...fields, reason: 'defective' });
  expect([changed.status, changed.text]).toEqual([409, expect.stringContaining('with other values')]);
  expect(await returns()).toHaveLength(1);
});

test('what cannot be is refused with the reason and a way back', async () => {
  await submit(service, `${path}/return`, await form('damaged'));
  const [{ id: requested }] = await returns();
  await submit(service, `/console/returns/${requested}/denied`);
  const late = await submit(service, `/console/returns/${requested}/approved`);
  expect(late.status).toBe(409);
  expect(late.text).toContain('it has been decided already');
  expect(late.text).toContain(`<a href="/console/returns/${requested}">Back to the return</a>`);
  expect((await submit(service, `/console/returns/${requested}/nonsense`)).status).toBe(404);
  expect((await submit(service, `/console/returns/${crypto.randomUUID()}/denied`)).status).toBe(404);
  const fields = await form('damaged');
  for (const [wrong, status] of [
    [{ quantity: '0' }, 400],
    [{ quantity: '9' }, 409],
    [{ item: 'none' }, 422],
    [{ item: crypto.randomUUID() }, 409],
    [{ reason: 'boredom' }, 422],
    [{ once: '' }, 400],
  ] as const) {
    const refused = await submit(service, `${path}/return`, { ...fields, ...wrong });
    expect([wrong, refused.status]).toEqual([wrong, status]);
    expect(refused.text).toMatch(/id="problem"|Back to the order/);
  }
  expect((await submit(service, `/console/orders/${crypto.randomUUID()}/return`, fields)).status).toBe(404);
  expect(await returns()).toHaveLength(1);
});

test('the form offers every reason, and an order that is not placed has none', async () => {
  const { text } = await page(service, path);
  for (const reason of returnReasons) expect(text).toContain(`<option value="${reason}">`);
  const pending = (await service.order('test-slow')).body.id;
  expect((await page(service, `/console/orders/${pending}`)).text).not.toContain('id="returns"');
});
