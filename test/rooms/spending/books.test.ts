import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { isUrl } from '../../../src/platform/net/urls.ts';
import { beancount } from '../../../src/spending/accounting/beancount.ts';
import { csvAccounting } from '../../../src/spending/accounting/csv.ts';
import {
  centsOn,
  type Entry,
  type ExistingEntry,
  entryId,
  WrittenEntries,
  walletAccount,
} from '../../../src/spending/accounting/entries.ts';
import { type AccountingFormat, readable } from '../../../src/spending/accounting/files.ts';
import { hledger } from '../../../src/spending/accounting/hledger.ts';
import { differencesIn } from '../../../src/spending/accounting/ledger.ts';
import { ofx } from '../../../src/spending/accounting/ofx.ts';
import { Collection, entriesOf } from '../../../src/spending/accounting/order-entries.ts';
import {
  describeWithBookkeepers,
  readByBeancount,
  readByHledger,
  readStatement,
} from '../../support/books-programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'errand-books-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const wallet = 'b7f9ccc8-a936-4465-8911-277c2f3a7ac4';
const about = { wallet, balance: 12_345, now: Date.parse('2026-11-22T10:00:00Z') };
const dateAt = (moment: number): string => new Date(moment).toISOString().slice(0, 10);

/** Text that could end an entry, start another, or be read as a directive. */
const breakout = fc.constantFrom(
  ...[
    '"',
    '\\',
    '\\"',
    '\n',
    '\r\n',
    '\u2028',
    '\u0085',
    '\n\n',
    ';',
    '|',
    '#tag',
    '^link',
    '@ 3 EUR',
    '= 0 USD',
  ],
  ...[
    '\n2026-01-01 open Assets:Evil',
    '\n2026-01-01 * evil\n  a  1\n  b',
    '\n    Assets:Evil  1 USD',
    '\ninclude /etc/passwd',
  ],
  ...[
    'date:2020-99-99',
    '[2020/99/99]',
    '[=1/1]',
    'date2:x',
    ', type:X',
    '(code)',
    '! ',
    '* ',
    '{{',
    '%',
    'comment\n',
  ],
  ...[
    '\n    ; errand-id: x.charge.wallet.USD.1.5',
    '\n  errand-id: "x.fee.wallet.USD.1.5"',
    '</MEMO></STMTTRN>',
  ],
  ...[
    '<![CDATA[',
    ']]>',
    '&amp;',
    '&#0;',
    '<!ENTITY x "y">',
    '<FITID>x</FITID>',
    '=HYPERLINK("x")',
    '@SUM(1)',
    '-1+1',
    '\t=1',
  ],
  ...[
    '\u0000',
    '\u001b[31m',
    '\u202e',
    '\ud800',
    '\ufffe',
    '\uffff',
    '\u200b',
    '😀',
    '京東',
    '\ufeff',
    '\u007f',
    '\u000b',
  ],
);
const anyText = fc
  .array(fc.oneof(breakout, fc.string({ maxLength: 6 }), fc.string({ unit: 'binary', maxLength: 6 })), {
    maxLength: 6,
  })
  .map((parts) => parts.join(''));

const cents = fc.integer({ min: 0, max: 500_000 });
const moment = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2026-12-31'), noInvalidDate: true })
  .map((it) => it.toISOString());
const currency = fc.oneof(
  { weight: 5, arbitrary: fc.constant('USD') },
  fc.constantFrom('EUR', 'JPY', 'usd', 'KWD'),
  anyText,
);

/** An order with arbitrary, even invalid, contents. */
const anyOrder = fc
  .record({
    id: fc.uuid(),
    status: fc.constantFrom(
      'order_placed',
      'order_placed',
      'cancelled_by_retailer',
      'order_failed',
      'pending',
    ),
    created_at: moment,
    updated_at: moment,
    max_price: cents,
    po_number: fc.option(anyText),
    metadata: fc.dictionary(anyText, fc.oneof(anyText, fc.jsonValue()), { maxKeys: 3 }),
    items: fc.array(
      fc.record({
        url: anyText,
        quantity: fc.nat(9),
      }),
      { maxLength: 3 },
    ),
    retailer_credentials_id: fc.constantFrom(null, null, null, 'acct'),
    payment: fc.constantFrom(null, null, null, {
      mode: 'card',
      state: 'captured',
      captured_cents: 900,
      fee_cents: 100,
    }),
    returns: fc.array(
      fc.record({ id: fc.oneof(fc.uuid(), anyText), updated_at: moment, credited_amount: cents }),
      { maxLength: 2 },
    ),
    parts: fc.record({ tax: cents, shipping: cents, discount: cents, fees: cents }),
    cart: fc.array(fc.record({ name: anyText, quantity: fc.nat(5), line_total: cents }), { maxLength: 3 }),
    currency,
    isShown: fc.boolean(),
    converted: fc.option(cents),
  })
  .map(({ parts, cart, currency, isShown, converted, ...order }) => {
    const subtotal = cart.reduce((sum, { line_total }) => sum + line_total, 0);
    const total = subtotal + parts.tax + parts.shipping + parts.fees - parts.discount;
    const price = {
      subtotal,
      ...parts,
      total,
      currency,
      converted_payment_total: converted,
      payment_currency: 'USD',
      cart_items: cart,
      breakdown_recorded: isShown,
    };
    return { ...order, job_result: { price_components: price } };
  });

const names = (url: string): string => (isUrl(url) ? new URL(url).hostname : url);

function entriesOfAll(orders: readonly unknown[], written = new WrittenEntries()): Entry[] {
  return orders.flatMap(
    (order) => entriesOf(order, { written, feeCents: 100, retailers: names, dateAt }).entries,
  );
}

function fileOf(format: AccountingFormat, entries: readonly Entry[], before?: string): string {
  const collection = new Collection(format, new WrittenEntries());
  for (const entry of entries) collection.add(entry);
  return [...format.assemble(about, before, collection.rendered())].join('');
}

const amountsOf = ({ postings }: Entry): Record<string, number> => {
  const sums = new Map<string, number>();
  for (const { account, cents } of postings) sums.set(account, (sums.get(account) ?? 0) + cents);
  return Object.fromEntries(sums);
};

/** Compare account names too: an unexpected one would have been injected by a text. */
const accountsOf = (found: readonly { amounts: object }[]): string[] =>
  [...new Set(found.flatMap(({ amounts }) => Object.keys(amounts)))].sort();

/** Parses the text back and compares it with the entries, also with another system's line endings. */
function expectAsWritten(format: AccountingFormat, text: string, entries: readonly Entry[]): void {
  for (const seen of [text, `\ufeff${text.replaceAll('\n', '\r\n')}`]) {
    const found = format.read(readable(seen));
    expect(format.refuses(readable(seen), { wallet })).toBeUndefined();
    expect([found.broken, found.others, differencesIn(found.entries)]).toEqual([undefined, 0, []]);
    const wallets = (all: readonly Pick<ExistingEntry, 'id' | 'postings'>[]) =>
      all.map(({ id, postings = [] }) => [id, centsOn(postings, walletAccount, 'USD')]).toSorted();
    expect(wallets(found.entries)).toEqual(wallets(entries));
  }
}

const runs = { numRuns: 8, endOnFailure: true };
const many = fc.array(anyOrder, { minLength: 40, maxLength: 80 });

describeWithBookkeepers('no text breaks out of its entry, as the real programs read it', () => {
  test('hledger and beancount', () => {
    fc.assert(
      fc.property(many, (orders) => {
        const entries = entriesOfAll(orders);
        for (const [format, read, name] of [
          [hledger, readByHledger, 'a.journal'],
          [beancount, readByBeancount, 'a.beancount'],
        ] as const) {
          const file = join(folder, name);
          const text = fileOf(format, entries);
          writeFileSync(file, text);
          const found = read(file);
          expect(found.map(({ id }) => id).toSorted()).toEqual(entries.map(({ id }) => id).toSorted());
          expect(accountsOf(found)).toEqual(
            accountsOf(entries.map((entry) => ({ amounts: amountsOf(entry) }))),
          );
          expect(
            format
              .read(text)
              .entries.map(({ id }) => id)
              .toSorted(),
          ).toEqual(entries.map(({ id }) => id).toSorted());
        }
      }),
      runs,
    );
  });

  test('OFX', () => {
    fc.assert(
      fc.property(many, (orders) => {
        const entries = entriesOfAll(orders).filter((entry) => ofx.takes(entry));
        const text = fileOf(ofx, entries);
        writeFileSync(join(folder, 'a.ofx'), text);
        const { transactions, balance } = readStatement(join(folder, 'a.ofx'));
        expect(transactions.map(({ FITID }) => FITID).toSorted()).toEqual(
          entries.map(({ id }) => id).toSorted(),
        );
        expect(balance).toBe('123.45');
        for (const { NAME = '', MEMO = '' } of transactions) {
          expect([...NAME].length).toBeLessThanOrEqual(32);
          expect([...MEMO].length).toBeLessThanOrEqual(255);
        }
        expectAsWritten(ofx, text, entries);
        // Rewriting it without new entries changes nothing.
        expect(fileOf(ofx, [], text)).toBe(text);
      }),
      runs,
    );
  });
});

test('a CSV has a row for each posting, and no cell that a spreadsheet runs', () => {
  const format = csvAccounting(wallet, false);
  fc.assert(
    fc.property(many, (orders) => {
      const entries = entriesOfAll(orders);
      const text = fileOf(format, entries);
      expect(text.split('\n').length - 2).toBe(
        entries.reduce((sum, { postings }) => sum + postings.length, 0),
      );
      const rows: string[][] = parse(text, { relax_column_count: false });
      for (const cell of rows.slice(1).flat()) expect(cell).not.toMatch(/^(?!-\d+(\.\d+)?$)[=+\-@\t\r\n]/);
      expectAsWritten(format, text, entries);
    }),
    runs,
  );
});

test('every entry adds up to nothing in each currency, and its id is its own', () => {
  fc.assert(
    fc.property(many, (orders) => {
      const entries = entriesOfAll(orders);
      for (const { postings } of entries)
        for (const currency of new Set(postings.map((it) => it.currency)))
          expect(postings.reduce((sum, it) => sum + (it.currency === currency ? it.cents : 0), 0)).toBe(0);
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    }),
  );
});

describe('what is there already', () => {
  const order = (more: object = {}) => ({
    id: 'a1',
    status: 'order_placed',
    created_at: '2026-11-01T10:00:00Z',
    updated_at: '2026-11-05T10:00:00Z',
    items: [{ url: 'https://www.tea.example/1' }],
    job_result: { price_components: { total: 1000, currency: 'USD' } },
    ...more,
  });
  const credited = (credited_amount: number) =>
    order({ returns: [{ id: 'r1', updated_at: '2026-11-07T10:00:00Z', credited_amount }] });
  const step = (written: WrittenEntries, it: unknown, feeCents = 100) => {
    const { entries } = entriesOf(it, { written, feeCents, retailers: () => 'tea', dateAt });
    for (const entry of entries) written.take(entry);
    return entries.map(({ id, date, postings }) => [id, date, postings[0]?.cents]);
  };

  test('a credit that grows, is taken back and comes again is an entry each time, for the difference', () => {
    const written = new WrittenEntries();
    expect(step(written, credited(300))).toEqual([
      ['a1.charge.wallet.USD.1.1000', '2026-11-01', 1000],
      ['a1.fee.wallet.USD.1.100', '2026-11-01', 100],
      ['a1.credit.wallet.USD.r1.1.-300', '2026-11-07', -300],
    ]);
    expect(step(written, credited(300))).toEqual([]);
    expect(step(written, credited(1000))).toEqual([['a1.credit.wallet.USD.r1.2.-1000', '2026-11-07', -700]]);
    expect(step(written, credited(0))).toEqual([['a1.credit.wallet.USD.r1.3.0', '2026-11-07', 1000]]);
    expect(step(written, credited(1000))).toEqual([['a1.credit.wallet.USD.r1.4.-1000', '2026-11-07', -1000]]);
    expect(written.walletCents).toBe(-100);
  });

  test('an order that the retailer cancels later is refunded by an entry of its own', () => {
    const written = new WrittenEntries();
    step(written, order());
    expect(step(written, order({ status: 'cancelled_by_retailer' }))).toEqual([
      ['a1.refund.wallet.USD.1.-1000', '2026-11-05', -1000],
    ]);
    expect(written.walletCents).toBe(-100);
  });

  test('a price that was put right is corrected; a new fee of the service changes no old one', () => {
    const written = new WrittenEntries();
    step(written, order());
    const dearer = order({ job_result: { price_components: { total: 1250, currency: 'USD' } } });
    expect(step(written, dearer, 200)).toEqual([['a1.charge.wallet.USD.2.1250', '2026-11-05', 250]]);
  });

  test('ids that are not ours are no concern of ours', () => {
    const written = new WrittenEntries();
    for (const id of [
      '',
      'id',
      'a.b.c',
      'x.charge.wallet.USD.1',
      'x.hold.wallet.USD.1.5',
      '__proto__.fee.wallet.usd.1.5',
    ])
      written.take({ id, postings: [] });
    expect([written.ids.size, written.walletCents]).toEqual([0, 0]);
  });

  test('an id says what it is about', () => {
    const stream = { orderId: 'a', kind: 'credit', payer: 'wallet', currency: 'USD', returnId: 'r' } as const;
    expect(entryId({ stream, count: 2, total: -5 })).toBe('a.credit.wallet.USD.r.2.-5');
  });

  test('an order without a usable id or time is said to lack them, and books nothing', () => {
    const books = { written: new WrittenEntries(), feeCents: 100, retailers: () => 'tea', dateAt };
    for (const odd of [
      order({ id: 'a b' }),
      order({ id: 7 }),
      order({ created_at: 'soon' }),
      order({ created_at: '0001-01-01' }),
      null,
    ])
      expect(entriesOf(odd, books)).toEqual({ entries: [], there: 0, isComplete: false });
  });

  test('the parts of a price have accounts of their own, and come back as they went', () => {
    const price = {
      subtotal: 900,
      tax: 50,
      shipping: 100,
      discount: 50,
      fees: 0,
      total: 1000,
      currency: 'USD',
    };
    const entries = entriesOfAll([
      order({ status: 'cancelled_by_retailer', job_result: { price_components: price } }),
    ]);
    const [charge, refund] = [entries[0], entries.find(({ kind }) => kind === 'refund')];
    expect(charge?.postings.map(({ account, cents }) => [account, cents])).toEqual([
      ['Expenses:Purchases:Www-Tea-Example', 900],
      ['Expenses:Shipping', 100],
      ['Expenses:Tax', 50],
      ['Income:Discounts', -50],
      ['Assets:Errand:Wallet', -1000],
    ]);
    expect(refund?.postings.map(({ cents }) => cents)).toEqual([-900, -100, -50, 50, 1000]);
  });

  test('a file that was cut off in its last line is read and added to', () => {
    const [entry] = entriesOfAll([order()]);
    if (!entry) return expect.fail('no entry');
    const whole = fileOf(hledger, [entry]);
    expect(fileOf(hledger, [], whole.trimEnd())).toBe(`${whole.trimEnd()}\n`);
  });

  const two = entriesOfAll([order(), credited(300)].map((it, at) => ({ ...it, id: `a${at}` })));

  test.each([
    ['hledger', hledger],
    ['beancount', beancount],
    ['csv', csvAccounting(wallet, false)],
    ['ofx', ofx],
  ])('%s cut off anywhere is refused with a line, or what is left of it is whole', (_, format) => {
    const whole = fileOf(format, two);
    const amounts = new Map(two.map(({ id, postings }) => [id, centsOn(postings, walletAccount, 'USD')]));
    let refused = 0;
    for (let length = 1; length < whole.length; length += 1) {
      const text = whole.slice(0, length);
      if (format.refuses(text, { wallet }) !== undefined) continue;
      const { broken, entries } = format.read(text);
      if (broken) {
        refused += 1;
        expect(broken.line).toBeGreaterThan(0);
        expect(broken.line).toBeLessThanOrEqual(text.split('\n').length);
        continue;
      }
      for (const { id, postings = [] } of entries)
        expect([id, centsOn(postings, walletAccount, 'USD')]).toEqual([id, amounts.get(id)]);
      // Adding the missing entries completes the file.
      const there = new Set(entries.map(({ id }) => id));
      const mended = fileOf(
        format,
        two.filter(({ id }) => !there.has(id)),
        text,
      );
      const again = format.read(mended);
      expect([again.broken, again.entries.map(({ id }) => id).toSorted()]).toEqual([
        undefined,
        two.map(({ id }) => id).toSorted(),
      ]);
    }
    expect(refused).toBeGreaterThan(whole.length / 3);
  });

  test('what a person has changed is named, by its line', () => {
    const whole = fileOf(hledger, two);
    const changed = (text: string) => {
      const { broken, entries, others } = hledger.read(text);
      expect(broken).toBeUndefined();
      return [...differencesIn(entries).map(({ message }) => message), others];
    };
    expect(changed(whole)).toEqual([0]);
    // A different purchase account, a comment, a balance assertion or an omitted amount is not a difference.
    expect(
      changed(whole.replaceAll(/Expenses:Purchases:\S+ {2}\S+ USD/g, 'Expenses:My tea  ; mine')),
    ).toEqual([0]);
    expect(changed(whole.replace('Wallet  -10.00 USD', 'Wallet  -10.00 USD = 90.00 USD ; checked'))).toEqual([
      0,
    ]);
    expect(changed(whole.replaceAll('10.00 USD', '20.00 USD'))).toEqual([
      'the charge of order a0 brings Assets:Errand:Wallet -$20.00 where errand wrote -$10.00',
      'the charge of order a1 brings Assets:Errand:Wallet -$20.00 where errand wrote -$10.00',
      0,
    ]);
    const [first = ''] = /2026-11-01[\s\S]*?\n\n/.exec(whole) ?? [];
    expect(changed(`${whole}${first}`)).toEqual([
      'the charge of order a0 brings Assets:Errand:Wallet -$10.00 where errand wrote $0.00',
      0,
    ]);
    expect(changed(`${whole}2026-11-09 mine\n    Assets:Errand:Wallet  5 USD\n    a\n`)).toEqual([1]);
    expect(changed(whole.replace('Wallet  -10.00 USD', 'Wallet  -9 EUR @@ 10 USD'))).toEqual([
      'the amounts of the charge of order a0 cannot be read',
      0,
    ]);
  });
});
