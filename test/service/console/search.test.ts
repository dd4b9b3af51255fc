import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SearchIndex } from '../../../src/sandbox/console/search-index.ts';
import { sections } from '../../../src/sandbox/console/sections.ts';
import { address, rowBody } from '../../support/order-body.ts';
import { onceOf, page, submit, textOf } from '../../support/read-page.ts';
import { Receiver } from '../../support/receiver.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';
import { plantSecrets } from './secrets.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

/** What a search finds, by group: the text of each result, with its address. */
async function search(query: string): Promise<Record<string, string[]>> {
  const { text } = await page(service, `/console/search?q=${encodeURIComponent(query)}`);
  if (text.includes('still being indexed')) return search(query);
  const found = text.slice(text.indexOf('<div id="found">'));
  return Object.fromEntries(
    [...found.matchAll(/<section class="group">.*?<h2>(.*?)<\/h2>.*?<\/section>/gs)].map(
      ([group, name = '']) => [
        name,
        [...group.matchAll(/<li><a href="([^"]+)">(.*?)<\/li>/gs)].map(
          ([, path, result = '']) => `${textOf(result)} ${path}`,
        ),
      ],
    ),
  );
}

test('an order is found by whatever names it, also once it has moved on', async () => {
  const { id } = (
    await service.order('test-success', {
      idempotency_key: 'weekly-42',
      po_number: 'PO-7781',
      metadata: { team: 'Grünkohl' },
      shipping_address: { ...address, first_name: 'Renée', last_name: 'Okonkwo' },
    })
  ).body;
  await service.order('test-out-of-stock');
  const path = `/console/orders/${id}`;
  const names = [
    id,
    id.slice(0, 6),
    'PO-7781',
    'po 7781',
    'grunkohl',
    'okonkwo renee',
    'weekly-42',
    'Successful',
    `${service.baseUrl}${path}`,
    `${service.baseUrl}/track/${id}`,
    service.product('test-success'),
  ];
  for (const name of names)
    expect((await search(name)).Orders, name).toEqual([expect.stringContaining(path)]);
  service.pass(12_000);
  const record = (await service.send('GET', `/orders/${id}`)).body;
  const [number] = record.merchant_order_ids;
  const [{ tracking_number: tracking }] = record.tracking_numbers;
  for (const name of [
    number,
    number.replaceAll('-', ''),
    number.replaceAll('-', '').slice(3, 8),
    tracking,
    tracking.slice(0, 7).toLowerCase(),
    tracking.slice(4, 9),
    tracking.slice(-4).toLowerCase(),
  ])
    expect((await search(name)).Orders, name).toEqual([expect.stringContaining(path)]);
  expect((await search('out_of_stock')).Orders).toEqual([expect.stringContaining('failed: out of stock')]);
  expect(await search('zebra')).toEqual({});
  expect((await page(service, '/console/search?q=zebra')).text).toContain(
    'Nothing has a word that begins like this.',
  );
});

test('requests and deliveries are found by words of their bodies, and other records by their names', async () => {
  const receiver = await Receiver.start();
  try {
    await service.send('POST', '/users', { webhook_url: receiver.at('/hook') });
    const { id } = (await service.order('test-slow', { po_number: 'Quixotic' })).body;
    await service.send('POST', `/orders/${id}/cancel`);
    await receiver.until(1);
    await service.send('POST', '/managed-accounts', {
      email: 'grace@example.com',
      password: 'hunter2hunter2',
    });
    await service.send('POST', '/orders/bulk', { filename: 'spring.csv', rows: [] });
    const found = await search('quixotic');
    expect(found.Requests).toEqual([expect.stringContaining('POST /orders 201')]);
    expect(found.Deliveries).toEqual([expect.stringContaining('status_updated')]);
    expect((await search('grace')).Accounts).toHaveLength(1);
    expect((await search('fault')).Pages).toEqual(['Faults /console/faults']);
    expect((await search('test-slow')).Shop).toEqual([expect.stringContaining('/shop/test-slow')]);
  } finally {
    await receiver.stop();
  }
});

test('after a reset nothing of before is found, and after a restore what it brought back is', async () => {
  const { id } = (await service.order('test-slow', { po_number: 'Quixotic' })).body;
  expect(Object.keys(await search('quixotic'))).toEqual(['Orders', 'Requests']);
  await service.send('POST', '/sandbox/control/snapshot', { name: 'before' }, null);
  await service.send('POST', '/sandbox/control/reset', {}, null);
  expect(await search('quixotic')).toEqual({});
  await service.send('POST', '/sandbox/control/restore', { name: 'before' }, null);
  expect((await search('quixotic')).Orders).toEqual([expect.stringContaining(id)]);
});

test('a command is a button, which does it', async () => {
  const commands: readonly (readonly [string, string])[] = [
    ['advance 1 day', 'Advance 1 day'],
    ['advance 3h', 'Advance 3 hours'],
    ['503 on', 'Switch on 503'],
    ['503 50 %', 'Switch on 503:50%'],
    ['503 20% POST /orders', 'Switch on 503:20%@POST /orders'],
    ['faults off', 'Switch all faults off'],
    ['speed 10', 'Set the speed to 10×'],
    ['snapshot before', 'Keep this state as before'],
    ['order test-out-of-stock', 'Order Out of stock'],
  ];
  for (const [query, name] of commands)
    expect(
      textOf((await page(service, `/console/search?q=${encodeURIComponent(query)}`)).text),
      query,
    ).toContain(name);
  const { text } = await page(service, '/console/search?q=advance+1+day');
  const form = text.slice(text.indexOf('id="commands"'));
  const moved = await submit(service, '/console/time/advance', {
    once: onceOf(form),
    count: '1',
    unit: 'days',
  });
  expect(moved.status).toBe(303);
  expect((await page(service, moved.leadsTo)).text).toContain('Clock moved.');
});

test('nothing secret is found, neither by the search nor in the file of the index, nor is it in a list as CSV', async () => {
  const secrets = await plantSecrets(service);
  expect(secrets.length).toBeGreaterThan(35);
  await service.send('POST', '/orders/bulk', { rows: [rowBody(service.product('test-success'))] });
  const lists = Object.values(sections).flatMap(({ path }) => (/time|faults/.test(path) ? [] : [path]));
  const folder = mkdtempSync(join(tmpdir(), 'errand-index-'));
  try {
    const file = join(folder, 'index.db');
    const index = new SearchIndex(service.parts, file);
    expect(await index.catchUp(Number.POSITIVE_INFINITY)).toBe(true);
    index.close();
    const bytes = readFileSync(file, 'latin1').toLowerCase();
    expect(bytes).toContain('successful order');
    for (const secret of secrets) {
      // Short ones are looked for as words, since their letters occur elsewhere.
      const word = secret.length > 8 ? secret : `"${secret}"`;
      expect(bytes.includes(secret.toLowerCase()) && secret.length > 4, secret).toBe(false);
      const { text } = await page(service, `/console/search?q=${encodeURIComponent(word)}`);
      expect(text, secret).toContain('Nothing has a word that begins like this.');
    }
    for (const list of lists) {
      const { status, text } = await page(service, `${list}?as=csv`);
      expect([status, text.split('\n').length > 2]).toEqual([200, true]);
      for (const secret of secrets.filter(({ length }) => length > 4))
        expect(text.toLowerCase().includes(secret.toLowerCase()), `${list}: ${secret}`).toBe(false);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
