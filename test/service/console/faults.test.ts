import { afterEach, expect, test } from 'vitest';
import { sandboxFaults } from '../../../src/api/sandbox-faults.ts';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { page, submit } from '../../support/read-page.ts';
import { TestService } from '../../support/service.ts';

let service: TestService;
afterEach(async () => {
  await service.stop();
  expect(service.bugs).toEqual([]);
});

const act = (name: string, fields: Record<string, string> = {}) =>
  submit(service, `/console/faults/${name}`, fields);
const state = async () => (await service.send('GET', '/sandbox/control', undefined, null)).body;

test('a fault is switched on of its parts, falls on requests of programs alone, and is switched off', async () => {
  service = await TestService.start();
  expect((await page(service, '/console/faults')).text).toContain('None: the network is good.');
  const on = await act('on', { kind: '503', share: '100', where: 'GET /orders' });
  expect([on.status, on.headers.get('location')]).toEqual([303, '/console/faults']);
  expect((await service.send('GET', '/orders')).status).toBe(503);
  expect((await service.send('GET', '/wallet/me')).status).toBe(200);
  expect((await page(service, '/')).text).toContain('<code>503@GET /orders</code></a> <small>1 of 1</small>');
  const { text } = await page(service, '/console/faults');
  expect(text).toContain('503@GET /orders');
  await act('on', { fault: 'bare:403@/wallet/me' });
  expect((await state()).faults).toEqual(['503@GET /orders', 'bare:403@/wallet/me']);
  await act('off', { fault: '503@GET /orders' });
  await act('off', { fault: '503@GET /orders' });
  expect((await state()).faults).toEqual(['bare:403@/wallet/me']);
  expect((await service.send('GET', '/orders')).status).toBe(200);
  await act('off');
  expect((await state()).faults).toEqual([]);
});

test('what the sandbox was started with is on, and a fault that is on is not put on twice', async () => {
  const text = 'delay=1ms:50%';
  service = await TestService.start({ faults: [readFault(text) ?? expect.fail()], seed: 3 });
  await act('on', { fault: text });
  expect(await state()).toMatchObject({ faults: [text], fault_seed: 3 });
  expect((await page(service, '/console/faults')).text).toContain(
    'name="seed" type="number" min="0" max="2147483647" required value="3"',
  );
});

test('each fault of the list can be switched on as it stands there', async () => {
  service = await TestService.start();
  const kinds = Object.keys(sandboxFaults).flatMap((written) => written.split(', '));
  for (const kind of kinds) {
    const where = kind === 'refuse' ? '' : '/nowhere';
    const on = await act('on', { kind, share: '0.1', where });
    expect([kind, on.status]).toEqual([kind, 303]);
  }
  expect((await state()).faults).toHaveLength(kinds.length);
  await act('off');
});

test('the seed is set, and the faults stay', async () => {
  service = await TestService.start();
  await act('on', { fault: '500:10%' });
  expect((await act('seed', { seed: '42' })).status).toBe(303);
  expect(await state()).toMatchObject({ faults: ['500:10%'], fault_seed: 42 });
  for (const seed of ['', '-1', '1.5', '2147483648', 'x'])
    expect((await act('seed', { seed })).text).toContain('Seed takes a whole number from 0 to 2147483647');
});

test('what is no fault is refused with what it takes and a way back', async () => {
  service = await TestService.start();
  for (const [fields, why] of [
    [{ fault: 'nonsense' }, 'is not a fault'],
    [{ fault: '<img src=x>' }, 'is not a fault'],
    [{ fault: 'x'.repeat(1001) }, 'at most 1000 characters'],
    [{ kind: 'nonsense', share: '100', where: '' }, 'one of the faults of the list'],
    [{ kind: '503', share: '0', where: '' }, 'percentage above 0'],
    [{ kind: '503', share: '101', where: '' }, 'percentage above 0'],
    [{ kind: '503', share: '', where: '' }, 'percentage above 0'],
    [{ kind: '503', share: '100', where: 'orders' }, 'Where takes a path'],
    [{ kind: '503', share: '100', where: 'get /orders' }, 'Where takes a path'],
    [{ kind: 'refuse', share: '100', where: '/orders' }, 'is not a fault'],
  ] as const) {
    const refused = await act('on', { ...fields });
    expect([400, 409]).toContain(refused.status);
    expect(refused.text).toContain(why);
    expect(refused.text).toMatch(/id="problem"|Back to the faults/);
    expect(refused.text).not.toContain('<img');
  }
  expect((await state()).faults).toEqual([]);
});
