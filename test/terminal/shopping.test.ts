import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json, peer } from '../support/peer.ts';
import { errand } from '../support/run.ts';
import type { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { openLiveService } from './live.ts';
import { useTerminals } from './terminals.ts';

const enter = '\r';
const down = '\u001b[B';
const clear = '\u0015';

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => {
  workspace.remove();
});
const terminalOf = useTerminals(() => workspace);

function open(args: readonly string[], size: { columns?: number } = {}): Terminal {
  return terminalOf('errand', args, size);
}

async function found(
  ...words: string[]
): Promise<{ url: string; title: string; price: number; retailer: string }[]> {
  return JSON.parse((await errand(workspace, ['search', ...words, '-o', 'json'])).stdout);
}

async function placed(): Promise<
  { items: { url: string }[]; max_price: number; shipping_address: object }[]
> {
  return JSON.parse((await errand(workspace, ['order', 'list', '-o', 'json'])).stdout);
}

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

describe('from words to an order', () => {
  test('order create searches, lets a person pick, and orders what was picked', async () => {
    const [, second] = await found('coffee');
    const terminal = open(['order', 'create'], { columns: 80 });
    await terminal.shows('What to order');
    terminal.type(`coffee${enter}`);
    await terminal.shows('Which one?');
    terminal.type(down + enter);
    await terminal.shows('Price ceiling');
    const shown = terminal.text.replaceAll('\n', '');
    for (const one of [second?.title, dollars(second?.price ?? 0), second?.url]) expect(shown).toContain(one);
    terminal.type(`$90${enter}`);
    await terminal.shows('Place this order?');
    terminal.type(`y${enter}`);
    expect(await terminal.ended()).toBe(0);
    expect(await placed()).toMatchObject([{ items: [{ url: second?.url }], max_price: 9000 }]);
  });

  test('search --pick orders by the same questions', async () => {
    const [first] = await found('tea', '--sort', 'price_asc');
    const terminal = open(['search', 'tea', '--sort', 'price_asc', '--pick', '-o', 'json'], { columns: 80 });
    await terminal.shows('Which one?');
    terminal.type(enter);
    await terminal.shows('ships to home: Ada Example, 100 Congress Avenue');
    await terminal.shows('Price ceiling');
    terminal.type(`$90${enter}`);
    await terminal.shows('Place this order?');
    terminal.type(`y${enter}`);
    expect(await terminal.ended()).toBe(0);
    expect(await placed()).toMatchObject([{ items: [{ url: first?.url }], max_price: 9000 }]);
  });

  test.each([40, 50, 120])(
    '%d columns: title, retailer and price are seen before the ceiling',
    async (columns) => {
      const [first] = await found('coffee');
      const terminal = open(['search', 'coffee', '--pick'], { columns });
      await terminal.shows('select');
      const titles = terminal.text.match(/^[❯ ] .*\$\d/gm)?.map((line) => line.slice(2).split('  ')[0]) ?? [];
      // Even truncated, titles of one brand remain distinguishable.
      expect(titles).toHaveLength(12);
      expect(titles.filter((title) => !/(?: \d+ k?g)$/.test(title ?? ''))).toEqual([]);
      terminal.type(enter);
      await terminal.shows('Price ceiling');
      const shown = terminal.text.slice(terminal.text.indexOf('✔')).replaceAll('\n', '');
      for (const one of [
        first?.title.slice(0, 10),
        first?.title.slice(-6),
        first?.retailer,
        dollars(first?.price ?? 0),
        first?.url,
      ])
        expect(shown).toContain(one);
      terminal.type('\u0003');
      expect(await terminal.ended()).toBe(130);
      expect(await placed()).toEqual([]);
    },
  );

  test('a ceiling below the price of what was picked, or one that may be cents, is asked for again', async () => {
    const [first] = await found('coffee');
    const price = first?.price ?? 0;
    const terminal = open(['search', 'coffee', '--pick']);
    await terminal.shows('Which one?');
    terminal.type(enter);
    await terminal.shows(`the item is ${dollars(price)}`);
    terminal.type(`$0.10${enter}`);
    await terminal.shows(`the item alone is ${dollars(price)}; type that or more`);
    terminal.type(`${clear}90${enter}`);
    await terminal.shows('is 90 dollars or cents? Type $90.00');
    terminal.type(`$90.00${enter}`);
    await terminal.shows('Place this order?');
    terminal.type(`y${enter}`);
    expect(await terminal.ended()).toBe(0);
    expect(await placed()).toMatchObject([{ max_price: 9000 }]);
  });

  test('nothing found, or none of it wanted: another search', async () => {
    const terminal = open(['order', 'create']);
    await terminal.shows('What to order');
    terminal.type(`nosuchthingatall${enter}`);
    await terminal.shows('nothing found for "nosuchthingatall"');
    await terminal.shows('What are you looking for?');
    terminal.type(`coffee${enter}`);
    await terminal.shows('Which one?');
    terminal.type(`\u001b[A${down.repeat(25)}${enter}`);
    await terminal.shows(/✔ Which one\? search for something else[\s\S]*What are you looking for/);
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
    expect(await placed()).toEqual([]);
  });

  test('a refused order names the command that says all that was answered', async () => {
    const [first] = await found('coffee');
    for (const [code, answer] of [
      [0, ''],
      [130, enter],
    ] as const) {
      const terminal = open(['search', 'coffee', '--pick'], { columns: 250 });
      await terminal.shows('Which one?');
      terminal.type(enter);
      await terminal.shows('Price ceiling');
      terminal.type(`$90${enter}`);
      await terminal.shows('Place this order?');
      terminal.type(`y${enter}`);
      if (answer !== '') await terminal.shows('Order another one?');
      terminal.type(answer);
      expect(await terminal.ended()).toBe(code);
      if (code === 130)
        expect(terminal.text).toContain(
          `errand order create --product ${first?.url} --max-price '$90.00' --new`,
        );
    }
    expect(await placed()).toHaveLength(1);
  });

  test('with a live key a pick is asked about, with all that is spent, and Enter sends nothing', async () => {
    const service = await openLiveService();
    try {
      Object.assign(workspace.environment, {
        ERRAND_BASE_URL: service.baseUrl,
        ERRAND_API_KEY: service.key,
      });
      const address = ['--address-line1', '1 Main St', '--city', 'Austin', '--state', 'TX'];
      const more = ['--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100'];
      await errand(workspace, [
        'address',
        'add',
        'me',
        '--first-name',
        'A',
        '--last-name',
        'B',
        ...address,
        ...more,
      ]);
      const terminal = open(['search', 'coffee', '--pick']);
      await terminal.shows('Which one?');
      terminal.type(enter);
      await terminal.shows('Price ceiling');
      terminal.type(`$90${enter}`);
      await terminal.shows('Place this order with real money? (y/N, e to edit)');
      expect(terminal.text).toMatch(
        /ceiling +\$90\.00; the item is \$.* before shipping and tax\n +on top +a fee of/,
      );
      terminal.type(enter);
      expect(await terminal.ended()).toBe(130);
      expect(service.sent.filter(({ method }) => method === 'POST')).toEqual([]);
    } finally {
      await service.stop();
    }
  });

  test.each([40, 80])('a hostile title takes one line of %d columns and no escape', async (columns) => {
    const listing = (title: string, url: string) => ({
      id: 'xx_sku_1',
      url,
      retailer: 'shop',
      title,
      price: 1099,
      currency_code: 'USD',
      available: true,
    });
    const { url } = await peer(
      json({
        status: 'completed',
        query: 'x',
        results: [
          listing(`\u001b[2Jfree!\r\n${'漢字'.repeat(300)}`, 'https://shop.example/p/1'),
          listing('no page', 'javascript:alert(1)'),
          listing('sold out', 'nothing'),
        ],
        excluded_by_price: null,
        hint: null,
      }),
    );
    workspace.environment.ERRAND_API_KEY = 'xx_test_0123456789abcdef0123';
    const terminal = open(['search', 'x', '--pick', '--base-url', url], { columns });
    await terminal.shows('Which one?');
    await terminal.shows('2 more cannot be ordered');
    await terminal.shows(/❯.*\$10\.99/);
    expect(terminal.raw).not.toContain('\u001b[2J');
    const row = terminal.text.split('\n').find((line) => line.startsWith('❯')) ?? '';
    expect(row).toContain('free!');
    expect(row).toContain('…');
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
  });
});

describe('the address', () => {
  const answers: readonly (readonly [string, string])[] = [
    ['First name', 'Bo'],
    ['Last name', 'Byron'],
    ['Street and number', '5 Elm St'],
    ['Flat, floor', ''],
    ['City', 'Austin'],
    ['State or province', 'TX'],
    ['Country', 'US'],
    ['Postal code', '78701'],
    ['Phone number', '5125550100'],
  ];

  const order = ['order', 'create', '--product', 'https://shop.example/p', '--max-price', '$50'];

  test('with a live key and only the example saved, one is asked for, and may be saved', async () => {
    await errand(workspace, ['sandbox', 'mint']);
    const service = await openLiveService();
    try {
      Object.assign(workspace.environment, {
        ERRAND_BASE_URL: service.baseUrl,
        ERRAND_API_KEY: service.key,
      });
      const terminal = open(order);
      for (const [asked, typed] of answers) {
        await terminal.shows(asked);
        terminal.type(typed + enter);
      }
      await terminal.shows('Save this address as');
      terminal.type(`../etc${enter}`);
      await terminal.shows('a name has letters, digits');
      terminal.type(`y${enter}`);
      await terminal.shows('type a name for it, such as home');
      terminal.type(`${clear}cabin${enter}`);
      await terminal.shows('(y/N, e to edit)');
      terminal.type(enter);
      expect(await terminal.ended()).toBe(130);
      const { stdout } = await errand(workspace, ['address', 'show', 'cabin', '-o', 'json']);
      expect(JSON.parse(stdout)).toMatchObject({ first_name: 'Bo', address_line1: '5 Elm St' });
      expect(service.sent.filter(({ method }) => method === 'POST')).toEqual([]);
    } finally {
      await service.stop();
    }
  });

  test('of several without a default one is chosen, each shown in a row', async () => {
    const fields = [
      '--last-name',
      'Byron',
      '--address-line1',
      '1 Main St',
      '--city',
      'Austin',
      '--state',
      'TX',
    ];
    const more = ['--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100'];
    for (const name of ['first', 'cabin', 'work'])
      await errand(workspace, ['address', 'add', name, '--first-name', `Ada-${name}`, ...fields, ...more]);
    await errand(workspace, ['address', 'remove', 'first']);
    const terminal = open(order, { columns: 60 });
    await terminal.shows(/❯ cabin +Ada-cabin Byron +1 Main St/);
    terminal.type(down + enter);
    await terminal.shows('Place this order?');
    terminal.type(`y${enter}`);
    expect(await terminal.ended()).toBe(0);
    expect(await placed()).toMatchObject([{ shipping_address: { first_name: 'Ada-work' } }]);
  });
});

test('account add asks which retailer it is for; the first rows fit the terminal', async () => {
  const terminal = open(['account', 'add', '--email', 'ada@example.com'], { columns: 50 });
  await terminal.shows('Which retailer is it for?');
  await terminal.shows(/❯ Harbor Goods +harborgoods/);
  terminal.type(down + enter);
  await terminal.shows('Password');
  terminal.type(`correct horse${enter}`);
  await terminal.shows('Two-factor secret');
  terminal.type(enter);
  expect(await terminal.ended()).toBe(0);
  const { stdout } = await errand(workspace, ['account', 'list', '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject([{ email: 'ada@example.com', retailer: 'stallandbarrow' }]);
});

test('a second key is stored without a question, since the first is kept beside it', async () => {
  await errand(workspace, ['auth', 'token'], { stdin: 'zz_test_0123456789abcdef' });
  const second = open(['auth', 'token']);
  await second.shows('API key');
  second.type(`zz_test_fedcba9876543210${enter}`);
  expect(await second.ended()).toBe(0);
  expect(second.text).toContain('stored zz_test_…3210 for profile local');
  const { stdout } = await errand(workspace, ['auth', 'list']);
  expect(stdout).toContain('zz_test_…cdef');
  expect(stdout).toContain('zz_test_…3210');
});
