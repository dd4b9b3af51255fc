import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json, peer } from '../../support/peer.ts';
import { errand, shell } from '../../support/run.ts';
import {
  inParcels,
  orderIds,
  rejected,
  type ServiceToday,
  searchResults,
  serviceToday,
  todaysOrder,
  workspaceAt,
} from '../../support/service-today.ts';
import { Terminal, unfolded } from '../../support/terminal.ts';
import type { Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let service: ServiceToday;
beforeEach(async () => {
  service = await serviceToday();
  workspace = workspaceAt(service);
});
afterEach(() => workspace.remove());

async function onTerminal(args: readonly string[], columns = 120): Promise<string> {
  const terminal = new Terminal(workspace, 'errand', args, { columns });
  try {
    await terminal.ended();
    return unfolded(terminal.text);
  } finally {
    terminal.close();
  }
}
const printed = async (...args: readonly string[]) =>
  JSON.parse((await errand(workspace, [...args, '-o', 'json'])).stdout);
const words = (text: string): string => text.replace(/\s+/g, ' ');

describe('an order whose lines were rejected', () => {
  const lines = [
    'https://www.shop.example/p/tea: Only a few are left.',
    '(5 requested, 2 available)',
    'mug: out of stock',
  ];

  test('names each with its reason and how many there are, wherever it is shown', async () => {
    for (const command of ['get', 'explain']) {
      const shown = await onTerminal(['order', command, orderIds.rejected]);
      for (const line of lines) expect(words(shown)).toContain(line);
      expect(shown).not.toContain('\u0007');
    }
    const piped = await errand(workspace, ['order', 'get', orderIds.rejected]);
    for (const line of lines) expect(piped.stdout).toContain(line);
    for (const shown of [piped.stdout, await onTerminal(['order', 'get', orderIds.rejected])])
      expect(words(shown)).toContain('about https://www.shop.example/cart');
    expect(piped.stdout).not.toContain('\u001b');
  });

  test('is explained with the page concerned, and kept whole', async () => {
    const { why } = await printed('order', 'explain', orderIds.rejected);
    expect(why.map(({ code }: { code: string }) => code)).toEqual([
      'cart_empty',
      'quantity_limit_exceeded',
      'out_of_stock',
      null,
    ]);
    expect(why.at(-1).message).toBe('it is about https://www.shop.example/cart');
    expect(await printed('order', 'get', orderIds.rejected)).toEqual(rejected);
  });
});

describe('an order in several parcels', () => {
  test('says which parcel holds which items, and where that is a guess', async () => {
    for (const args of [
      ['order', 'get', orderIds.parcels],
      ['order', 'watch', orderIds.parcels, '--until', 'placed'],
      ['track', orderIds.parcels],
    ]) {
      const shown = words(await onTerminal(args, 160));
      expect(shown, args.join(' ')).toMatch(/1ZA .*2 x https:\/\/www\.shop\.example\/p\/tea/);
      expect(shown, args.join(' ')).toMatch(/1ZB .*https:\/\/www\.shop\.example\/p\/mug \(inferred\)/);
      expect(shown).not.toContain('tea (inferred)');
    }
    const { stdout } = await errand(workspace, ['order', 'get', orderIds.parcels]);
    expect(stdout).toContain('UPS 1ZA (in_transit) with 2 x https://www.shop.example/p/tea; ');
    expect(stdout).toContain('UPS 1ZB (delivered) with https://www.shop.example/p/mug (inferred)');
  });

  test('is kept whole', async () => {
    expect(await printed('order', 'get', orderIds.parcels)).toEqual(inParcels);
  });
});

test('a search says what a buyer has to know about a result, and keeps every field', async () => {
  const search = ['product', 'search', 'tea', '--retailer', 'shop'];
  expect(await printed(...search)).toEqual(searchResults);
  const shown = words(await onTerminal(search, 140));
  expect(shown).toContain('in store only, pre-order, only with other items, ships as freight');
  expect(shown).toMatch(/A2 .*not for order/);
  expect(shown).toMatch(/A3 .*in stock/);
  // Where a column has no room, it stands below its row.
  expect(words(await onTerminal(search, 60))).toContain('pre-order');
});

describe('an order that the service makes only once it is paid for', () => {
  const payUrl = 'https://pay.example/checkout?session=cs_1&token=fedcba98765432100f1e2d3c';
  const create = (...more: readonly string[]) =>
    errand(workspace, ['order', 'create', '--file', 'order.json', ...more]);
  const failure = async (...more: readonly string[]) => {
    const { code, stdout, stderr } = await create('-o', 'json', ...more);
    expect([code, stdout]).toEqual([6, '']);
    return JSON.parse(stderr.split('\n').findLast((line) => line.startsWith('{')) ?? '{}').error;
  };
  beforeEach(() => {
    writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(todaysOrder));
    service.demandPayment(payUrl);
  });

  test('is refused with the page to pay at, and made once by the command that it names', async () => {
    const error = await failure();
    const { idempotency_key: key } = error;
    expect(error).toMatchObject({ code: 'payment_required', status: 402, outcome: 'rejected', exit_code: 6 });
    expect(error.hint).toContain('https://pay.example/checkout');
    const [{ command, when }] = error.next;
    expect(when).toBe(`once it is paid for at ${payUrl}`);
    expect(command).toBe(`errand order create --file order.json -o json --idempotency-key ${key}`);
    expect((await failure()).idempotency_key).toBe(key);
    service.pay(key);
    const [first, again] = [await shell(workspace, command), await shell(workspace, command)];
    expect([first.code, again.code]).toEqual([0, 0]);
    expect(JSON.parse(again.stdout).id).toBe(JSON.parse(first.stdout).id);
    expect([...service.made.keys()]).toEqual([key]);
  });

  test('keeps its key when the same command runs again, and another order has another key', async () => {
    const { idempotency_key: key } = await failure();
    const other = (await failure('--max-price-cents', '6000')).idempotency_key;
    expect(other).not.toBe(key);
    service.pay(other);
    expect((await create('--max-price-cents', '6000')).code).toBe(0);
    expect([...service.made.keys()]).toEqual([other]);
    // The same is on its way by now.
    service.pay(key);
    expect((await create()).code).toBe(5);
    expect([...service.made.keys()]).toEqual([other]);
  });

  test('with a reference is made by the same command', async () => {
    const { idempotency_key: key, next } = await failure('--reference', 'REQ-1');
    expect(next[0].command).toBe('errand order create --file order.json -o json --reference REQ-1');
    service.pay(key);
    expect((await shell(workspace, next[0].command)).code).toBe(0);
    expect([...service.made.keys()]).toEqual([key]);
  });

  test('shows a person the page', async () => {
    const { stderr } = await create();
    expect(stderr).toContain(`— once it is paid for at ${payUrl}\n`);
    expect(stderr).not.toContain('pay_url');
  });

  test.each([
    ['http://pay.example/', 'is not encrypted (https)'],
    ['https://shop.example@evil.example/', 'has a user or a password in it'],
    ['javascript:alert(1)', 'is no web page'],
    [`https://pay.example/${'a'.repeat(3000)}`, 'is too long'],
  ])('does not show %.40s', async (url, why) => {
    service.demandPayment(url);
    const error = await failure();
    expect(error.hint).toContain(why);
    expect(JSON.stringify(error)).not.toContain(url.slice(0, 40));
  });

  test.each([7, null, {}, '', undefined])('says how to go on without a page (%j)', async (url) => {
    service.demandPayment(url);
    const error = await failure();
    expect(error.outcome).toBe('rejected');
    expect(error.hint).toContain('with the same key');
  });
});

test('a live order is polled a few times within a timeout, not every second', async () => {
  service.demandPayment(undefined);
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify({ ...todaysOrder, idempotency_key: 'k' }),
  );
  service.pay('k');
  workspace.environment.ERRAND_API_KEY = 'xx_live_0123456789abcdef0123';
  const { stdout } = await errand(workspace, [
    'order',
    'create',
    '--file',
    'order.json',
    '--yes',
    '-o',
    'id',
  ]);
  const id = stdout.trim();
  const { code } = await errand(workspace, ['order', 'watch', id, '--timeout', '2500ms']);
  expect(code).toBe(8);
  const polls = service.received.filter(({ target }) => target === `/orders/${id}`);
  expect(polls.length).toBeGreaterThan(1);
  expect(polls.length).toBeLessThan(5);
});

describe('a 402 that no command pays', () => {
  const offer = { network: 'eip155:1', asset: '0xab', amount: '70', payTo: '0xcd' };
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const x402 = (version: number, scheme: string) => ({
    'payment-required': encoded({ x402Version: version, accepts: [{ ...offer, scheme }] }),
  });
  const mpp = (currency: string) => ({
    'www-authenticate': `Payment id="1", realm="r", method="card", intent="charge", request="${encoded({ amount: '70', currency })}"`,
  });
  test.each([
    [x402(2, 'exact'), 'takes payment for this by x402 (70 units of eip155:1/0xab).'],
    [
      { ...x402(2, 'exact'), ...mpp('\u0443sd') },
      'takes payment for this by x402 (70 units of eip155:1/0xab), or by card (70 units of \\u{443}sd).',
    ],
    [x402(2, 'upto'), 'takes payment by x402 (scheme upto), which errand cannot read or pay.'],
    [x402(1, 'exact'), 'takes payment by x402 of version 1, which errand cannot read or pay.'],
    [{ 'payment-required': '?' }, 'takes payment by x402, which errand cannot read or pay.'],
    [
      { 'www-authenticate': 'Payment id="1"' },
      'takes payment by a challenge, which errand cannot read or pay.',
    ],
  ])('is explained with what it offers: %j', async (headers, offered) => {
    const { url } = await peer(json({ title: 'Payment Required' }, 402, headers));
    workspace.environment.ERRAND_BASE_URL = url;
    const { code, stderr } = await errand(workspace, ['order', 'list']);
    expect([code, stderr]).toEqual([6, expect.stringContaining(`hint: The service ${offered}\n`)]);
  });
});

test.each([
  ['agent', 'order', 'create', '--file', 'order.json'],
  ['agent', 'search', 'tea'],
])('an asset that is not configured pays for nothing, which one message says: %s %s', async (...line) => {
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(todaysOrder));
  const marker = join(workspace.folder, 'paid');
  const args = [...line, '--yes', '--pay-command', `touch '${marker}'`];
  const { code, stdout, stderr } = await errand(workspace, args);
  expect([code, stdout]).toEqual([6, '']);
  expect(stderr).toContain(
    'the service takes payment by x402 in eip155:84532/0x036CbD53842c5426634e7929541eC2318f3dCF7e, which x402-assets does not name; nothing was paid',
  );
  expect(stderr).not.toContain('in doubt');
  expect(existsSync(marker)).toBe(false);
  expect(
    service.received.filter(({ headers }) => 'authorization' in headers || 'payment-signature' in headers),
  ).toEqual([]);
  expect(await printed('order', 'journal', 'list')).toEqual([]);
});
