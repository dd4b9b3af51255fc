import { afterEach, expect, test } from 'vitest';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { page, submit, textOf } from '../../support/read-page.ts';
import { TestService } from '../../support/service.ts';

let service: TestService;
afterEach(async () => {
  await service.stop();
  expect(service.bugs).toEqual([]);
});

/** Method and target, response, and owner of each request, newest first. */
async function requests(path = '/console/requests'): Promise<string[]> {
  const { text } = await page(service, path);
  return [...text.matchAll(/<tr id="request-\d+">(.*?)<\/tr>/gs)].map(([, cells = '']) => {
    const [, request, response, , by] = [...cells.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
      cell.replace(/<[^>]+>/g, ''),
    );
    return `${request} | ${response} | ${by}`;
  });
}

test('each request with its response and whose it was; pages that a person looks at are none', async () => {
  service = await TestService.start();
  const key = await service.mint({ email: 'ada@example.com' });
  await service.send('GET', '/orders?limit=5&status_filter=pending', undefined, key);
  await service.send('POST', '/orders', { max_price: 1 }, key);
  await service.send('GET', '/nothing', undefined, key);
  await page(service, '/shop');
  await page(service, '/');
  expect((await requests()).slice(0, 3)).toEqual([
    'GET /nothing | 404 not_found | ',
    'POST /orders | 422 body.products: missing | ada@example.com',
    'GET /orders?limit=5&amp;status_filter=pending | 200 | ada@example.com',
  ]);
});

test('no secret is in it, wherever it stood in the request', async () => {
  service = await TestService.start();
  const { claim_url } = (await service.send('POST', '/sandbox/keys', {}, null)).body;
  const token = claim_url.split('/').at(-1);
  await submit(service, `/claim/${token}`, { email: 'ada@example.com' });
  await service.send('GET', `//claim/${token}?limit=1`);
  await service.send('GET', `/orders?search=${encodeURIComponent(claim_url)}`);
  await service.send('GET', `/orders?api_key=hunter2&q=${service.key}&limit=1`);
  await service.send('GET', `/orders/${service.key}`);
  await service.send('GET', `/orders/${service.key.replaceAll('_', '%5F')}`);
  await service.send('GET', '/labels/x/1.pdf?expires=1&signature=deadbeef');
  await service.send('GET', '/%ff?user_code=ABCD-EFGH');
  expect((await requests()).map((line) => line.split(' | ')[0]).slice(0, 8)).toEqual([
    'GET …?user_code=…',
    'GET /labels/x/1.pdf?expires=…&amp;signature=…',
    'GET /orders/sbx_test_…',
    'GET /orders/sbx_test_…',
    'GET /orders?api_key=…&amp;q=sbx_test_…&amp;limit=1',
    `GET /orders?search=${service.baseUrl}/claim/…`,
    'GET //claim/…?limit=1',
    'POST /claim/…',
  ]);
  const { text } = await page(service, '/console/requests');
  for (const secret of [service.key, token, 'hunter2', 'deadbeef', 'ABCD-EFGH'])
    expect(text).not.toContain(secret);
});

test('it holds the newest thousand, read page by page', async () => {
  service = await TestService.start();
  for (let sent = 0; sent < 1010; sent += 1) await service.send('GET', `/nothing/${sent}`);
  const seen: string[] = [];
  let next: string | undefined = '/console/requests';
  while (next) {
    seen.push(...(await requests(next)));
    next = /href="([^"]+)" rel="next"/.exec((await page(service, next)).text)?.[1];
  }
  expect(seen).toHaveLength(1000);
  expect([seen[0], seen.at(-1)]).toEqual([
    expect.stringContaining('/nothing/1009'),
    expect.stringContaining('/nothing/10 '),
  ]);
});

test('what a fault made of a request is told', async () => {
  const fault = (text: string) => readFault(text) ?? expect.fail(text);
  service = await TestService.start({
    faults: [fault('503@GET /orders'), fault('reset-before@GET /wallet/me')],
  });
  await service.send('GET', '/orders');
  await expect(service.send('GET', '/wallet/me')).rejects.toThrow();
  expect((await requests()).slice(0, 2)).toEqual([
    'GET /wallet/me | broken off fault reset-before@GET /wallet/me | ',
    'GET /orders | 503 fault 503@GET /orders service_unavailable | ',
  ]);
});

test('two requests are compared; those of the console are apart from those of programs', async () => {
  service = await TestService.start();
  await service.order('test-success', { po_number: 'PO-1' });
  await service.order('test-success', { po_number: 'PO-2' });
  await submit(service, '/console/time/advance', { once: crypto.randomUUID(), count: '1', unit: 'hours' });
  const [clicked, second, first] = [
    ...(await page(service, '/console/requests')).text.matchAll(/id="request-(\d+)"/g),
  ].map(([, number]) => number);
  const { text } = await page(service, `/console/requests/compare?number=${second}&number=${first}`);
  const [, sent = ''] = /<section id="sent">(.*?)<\/section>/s.exec(text) ?? [];
  expect(textOf(sent)).toMatch(
    /− &quot;po_number&quot;: &quot;PO-1&quot;,? \+ &quot;po_number&quot;: &quot;PO-2&quot;/,
  );
  for (const query of ['number=1', 'number=1&number=2&number=3'])
    expect((await page(service, `/console/requests/compare?${query}`)).status, query).toBe(400);
  const [own, others] = [
    await requests('/console/requests?from=console'),
    await requests('/console/requests?from=programs'),
  ];
  expect(own).toEqual(['POST /console/time/advance | 303 | console']);
  expect(others.join()).not.toContain('/console/');
  expect((await page(service, `/console/requests/${clicked}`)).text).toContain('<dd>the console</dd>');
});

test('an attempt that a fault refused leads to the order that another attempt under its key made', async () => {
  service = await TestService.start();
  const order = { idempotency_key: 'weekly-42' };
  const fault = (name: string) => submit(service, `/console/faults/${name}`, { fault: '503@POST /orders' });
  await fault('on');
  expect((await service.order('test-success', order)).status).toBe(503);
  const number = /requests\/(\d+)">POST \/orders</.exec((await page(service, '/console/requests')).text)?.[1];
  const refused = async () => textOf((await page(service, `/console/requests/${number}`)).text);
  expect(await refused()).not.toContain('another attempt under the same key');
  await fault('off');
  const { id } = (await service.order('test-success', order)).body;
  expect(await refused()).toContain(`Successful order ${id} another attempt under the same key made it`);
});

test('attempts that a fault refused stand at the time of the sandbox, whose clock was moved', async () => {
  service = await TestService.start();
  await service.send('POST', '/sandbox/control/advance', { ms: 86_400_000 }, null);
  const order = { idempotency_key: 'weekly-43' };
  await service.send('POST', '/sandbox/control/faults', { faults: ['503@POST /orders'] }, null);
  await service.order('test-success', order);
  service.pass(400);
  await service.order('test-success', order);
  await service.send('POST', '/sandbox/control/faults', { faults: [] }, null);
  const { id } = (await service.order('test-success', order)).body;
  const text = textOf((await page(service, `/console/orders/${id}`)).text);
  expect(text).toMatch(/−0\.4 s Requests POST \/orders 2 × 503, then 201: one order/);
  expect(text).toContain('3 attempts under one key, within a second:');
});
