import { expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { pay } from '../../support/payer.ts';
import { onceOf, page, submit, textOf } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

/** Path of the page of the wallet used by the service's own key. */
async function walletPath(): Promise<string> {
  const { text } = await page(service, '/console/keys');
  return /href="(\/console\/wallets\/[^"]+)"/.exec(text)?.[1] ?? expect.fail(text);
}

/** The rows of the summary as plain text. */
async function sum(path: string, section = 'sum'): Promise<string[]> {
  const { text } = await page(service, path);
  const table =
    new RegExp(`<section id="${section}">(.*?)</table>`, 's').exec(text)?.[1] ?? expect.fail(text);
  return [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) => textOf(row));
}

const cents = (amount: string): number => Math.round(Number(amount.replace(/[$,+]/g, '')) * 100);

test('the ledger adds up to the balance, and what is held is taken off it', async () => {
  const placed = (await service.order('test-success')).body.id;
  const cancelled = (await service.order('test-cancelled-by-retailer')).body.id;
  service.pass(12_000);
  const open = (await service.order('test-never')).body.id;
  const path = await walletPath();
  expect(await sum(path)).toEqual([
    'Opening balance +$1,000.00',
    'Charged -$39.98',
    'Fee -$2.00',
    'Refunded +$19.99',
    'Balance $978.01',
    'Held for 1 open order -$51.00',
    `${open.slice(0, 8)} -$51.00`,
    'To spend $927.01',
  ]);
  const wallet = (await service.send('GET', '/wallet/me')).body;
  expect([wallet.balance, wallet.spendable_balance]).toEqual([97_801, 92_701]);
  const rows = await sum(path, 'ledger');
  expect(rows).toHaveLength(7);
  expect(rows[1]).toMatch(/ Refunded /);
  expect(rows.at(-1)).toMatch(/^2026-03-01 12:00:00 Opening balance \+\$1,000\.00 \$1,000\.00$/);
  // Each balance equals the previous one, in the row below, plus the row's amount.
  const amounts = rows.slice(1).map((row) => row.split(' ').slice(-2).map(cents));
  for (const [index, [amount = 0, balance]] of amounts.entries())
    expect(balance).toBe((amounts[index + 1]?.[1] ?? 0) + amount);
  expect(rows.filter((row) => row.includes(placed.slice(0, 8)))).toHaveLength(2);
  expect(rows.filter((row) => row.includes(cancelled.slice(0, 8)))).toHaveLength(3);
});

test('a long ledger is read page by page, its balances going on where the page before ended', async () => {
  for (let index = 0; index < 30; index += 1) await service.order('test-success', { max_price: 2_000 });
  service.pass(12_000);
  const path = await walletPath();
  const rows: string[] = [];
  for (let next: string | undefined = path; next; ) {
    rows.push(...(await sum(next, 'ledger')).slice(1));
    next = /href="([^"]+)" rel="next"/.exec((await page(service, next)).text)?.[1];
  }
  expect(rows).toHaveLength(61);
  const amounts = rows.map((row) => row.split(' ').slice(-2).map(cents));
  for (const [index, [amount = 0, balance]] of amounts.entries())
    expect(balance).toBe((amounts[index + 1]?.[1] ?? 0) + amount);
  expect((await page(service, `${path}?before=1`)).text).toContain('Nothing is older.');
});

test('an order says what is held, what it paid, and what was kept of it', async () => {
  const id = (await service.order('test-cancelled-by-retailer')).body.id;
  const path = `/console/orders/${id}`;
  expect(await sum(path, 'money')).toEqual([
    'Held 2026-03-01 12:00:00 -$51.00',
    'Held until it is placed or fails: the ceiling and the fee $51.00',
  ]);
  service.pass(12_000);
  expect((await sum(path, 'money')).map((row) => row.replace(/ 2026-\S+ \S+/, ''))).toEqual([
    'Held -$51.00',
    'Released +$51.00',
    'Fee -$1.00',
    'Charged -$19.99',
    'Refunded +$19.99',
    'Kept in the end, the fee $1.00',
  ]);
  const delivered = (await service.order('test-success')).body.id;
  const failed = (await service.order('test-out-of-stock')).body.id;
  service.pass(12_000);
  expect((await sum(`/console/orders/${delivered}`, 'money')).at(-1)).toBe('Paid in all $20.99');
  expect((await page(service, `/console/orders/${failed}`)).text).toContain(
    'The wallet paid nothing for it.',
  );
});

test('an order that was paid by challenge says what went back to its payer', async () => {
  const { response: paid } = await pay(service, '/agent/orders', orderBody(service.product('test-success')));
  service.pass(12_000);
  const path = `/console/orders/${paid.body.id}`;
  expect((await sum(path, 'money')).map((row) => row.replace(/ 2026-\S+ \S+/, ''))).toEqual([
    'Paid by challenge +$51.00',
    'Held -$51.00',
    'Released +$51.00',
    'Fee -$1.00',
    'Charged -$19.99',
    'Paid back to the payer -$30.01',
    'Kept in the end $20.99',
  ]);
  const wallet = /href="(\/console\/wallets\/[^"]+)"/.exec((await page(service, path)).text)?.[1] ?? '';
  expect((await sum(wallet)).slice(-3)).toEqual(['Balance $0.00', 'Held $0.00', 'To spend $0.00']);
});

test('money is added by a form, once for each form that was shown', async () => {
  const path = await walletPath();
  const once = onceOf((await page(service, path)).text);
  for (const amount of ['$1,250.5', '1250.50']) {
    const done = await submit(service, `${path}/fund`, { once, amount });
    expect([done.status, done.headers.get('location')]).toEqual([303, path]);
  }
  for (const amount of ['7', '99999999999']) {
    const used = await submit(service, `${path}/fund`, { once, amount });
    expect([used.status, used.text]).toEqual([409, expect.stringContaining('with other values')]);
  }
  expect((await service.send('GET', '/wallet/me')).body.balance).toBe(100_000 + 125_050);
  await submit(service, `${path}/fund`, { once: crypto.randomUUID(), amount: '7' });
  expect((await service.send('GET', '/wallet/me')).body.balance).toBe(100_000 + 125_050 + 700);
});

test('all that no order has set aside is taken, so that a wallet without money can be rehearsed', async () => {
  await service.order('test-never');
  const path = await walletPath();
  const done = await submit(service, `${path}/empty`);
  expect([done.status, done.headers.get('location')]).toEqual([303, path]);
  expect(await sum(path)).toEqual([
    'Opening balance +$1,000.00',
    'Taken out -$949.00',
    'Balance $51.00',
    'Held for 1 open order -$51.00',
    expect.stringMatching(/ -\$51\.00$/),
    'To spend $0.00',
  ]);
  expect((await service.order('test-success')).body.code).toBe('insufficient_funds');
  expect((await submit(service, `/console/wallets/${crypto.randomUUID()}/empty`)).status).toBe(404);
});

test.each([
  ['', 'is empty; write an amount'],
  ['0', 'takes an amount of dollars above 0'],
  ['-5', 'must not be negative'],
  ['1.999', 'has 3 decimals'],
  ['50 €', 'is not in USD'],
  ['1'.repeat(40), 'is too large'],
  ...['ten', '1e3', '٣', '5,00', '12,50', '1,5', '$1,2,3', '1.234,50'].map((text) => [
    text,
    'takes an amount, such as',
  ]),
])('an amount of “%s” is refused with what it takes and a way back', async (amount = '', why = '') => {
  const path = await walletPath();
  const refused = await submit(service, `${path}/fund`, { once: crypto.randomUUID(), amount });
  expect(refused.status).toBe(400);
  expect(textOf(refused.text)).toMatch(/Amount \S/);
  expect(refused.text).toContain(why);
  expect(refused.text).toContain('id="problem"');
  expect((await service.send('GET', '/wallet/me')).body.balance).toBe(100_000);
});

test('more than fits, a wallet that is not there, and a form without its name change nothing', async () => {
  const path = await walletPath();
  const once = crypto.randomUUID();
  const full = await submit(service, `${path}/fund`, { once, amount: '99999999999' });
  expect(full.status).toBe(409);
  expect(full.text).toContain('cents fit into the wallet');
  expect((await submit(service, `${path}/fund`, { amount: '5' })).status).toBe(400);
  const nowhere = `/console/wallets/${crypto.randomUUID()}`;
  expect((await submit(service, `${nowhere}/fund`, { once, amount: '5' })).status).toBe(404);
  expect((await page(service, nowhere)).status).toBe(404);
  expect((await service.send('GET', '/wallet/me')).body.balance).toBe(100_000);
});

test('a key is claimed from the page of its wallet, once', async () => {
  const path = await walletPath();
  const { text } = await page(service, path);
  const action = /action="(\/console\/keys\/[^"]+\/claim)"/.exec(text)?.[1] ?? expect.fail(text);
  expect((await submit(service, action, { email: 'nobody' })).status).toBe(400);
  const done = await submit(service, action, { email: 'ada@example.com' });
  expect([done.status, done.headers.get('location')]).toEqual([303, path]);
  expect((await service.send('GET', '/sandbox/status')).body.claimed_by_email).toBe('ada@example.com');
  expect((await page(service, path)).text).toContain('claimed by ada@example.com');
  expect((await submit(service, action, { email: 'eve@example.com' })).status).toBe(409);
  const gone = await submit(service, '/console/keys/none/claim', { email: 'ada@example.com' });
  expect(gone.status).toBe(404);
});
