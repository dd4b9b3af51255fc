import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { productUrlProblem } from '../../../src/api/product-url.ts';
import {
  asOrders,
  type Dialect,
  fileOf,
  type Options,
  read,
  usualHeadings,
  type Wanted,
  wanted,
} from './dialects.ts';

const semicolons = { delimiter: ';' } as const;
const crlf = { newline: '\r\n' } as const;
const marked = { ...crlf, mark: true } as const;
const german: Options = { decimal: ',' };
const apostrophe = (text: string): string => (/^[\d+$]/.test(text) ? `'${text}` : text);

describe('a file as people export it is read as the orders that it holds', () => {
  const files: [program: string, Dialect, Options?][] = [
    ['Excel, CSV UTF-8', marked],
    ['Excel, CSV UTF-8, dollars', { ...marked, price: 'dollars' }],
    ['Excel, CSV UTF-8, decimals', { ...marked, price: 'units' }],
    ['Excel, CSV (cp1252)', { ...crlf, encoding: 'latin1' }, { encoding: 'latin1' }],
    [
      'Excel, German CSV',
      { ...crlf, ...semicolons, encoding: 'latin1', price: 'comma' },
      { encoding: 'latin1', ...german },
    ],
    ['Excel, German CSV UTF-8', { ...marked, ...semicolons, price: 'comma' }, german],
    ['Excel, Unicode text', { ...marked, delimiter: '\t', encoding: 'utf-16le' }],
    [
      'Excel, Unicode text, comma decimals',
      { ...marked, delimiter: '\t', encoding: 'utf-16le', price: 'comma' },
      german,
    ],
    ['Excel, sep=;', { ...marked, ...semicolons, above: ['sep=;'] }],
    ['Excel, "sep=," quoted', { ...marked, above: ['"sep=,"'] }],
    ['Excel, sep= in capitals, tabs', { ...marked, delimiter: '\t', above: ['SEP=\t'] }],
    ['Excel, a title above', { ...marked, above: ['Orders of November,,,,,,,,'] }],
    [
      'Excel, a title and an empty line above',
      { ...marked, above: ['Orders; November, 2026', '', ',,,,,,,,'] },
    ],
    ['Excel, a title in quotes over two lines', { ...marked, above: ['"Orders', 'of November",,,,,,,,'] }],
    ['Excel, a title with an inch sign', { ...marked, above: ['24" screens'] }],
    [
      'Excel, columns that were used once',
      {
        ...marked,
        more: [
          ['', ''],
          ['', ''],
          ['', ''],
        ],
      },
    ],
    [
      'Excel, a column with no heading',
      {
        ...marked,
        more: [
          ['', ''],
          ['note', 'x'],
        ],
      },
    ],
    ['Excel, for the Macintosh', { newline: '\r', encoding: 'utf-8', mark: true }],
    ['Excel, rows below that are empty', { ...marked, below: [',,,,,,,,', ',,,,,,,,'] }],
    [
      'Excel, headings in capitals',
      { ...marked, headings: usualHeadings.map((one) => (one === 'PRICE' ? one : one.toUpperCase())) },
    ],
    [
      'Excel, headings with spaces',
      {
        ...marked,
        headings: [
          'Product URL',
          'PRICE',
          'Full Name',
          'Address 1',
          'City',
          'State',
          'Zip Code',
          'Phone Number',
          'Country',
        ],
      },
    ],
    ['Excel, numbers marked as text', { ...marked, spell: apostrophe }],
    ['Excel, dollars marked as text', { ...marked, price: 'dollars', spell: apostrophe }],
    ['Google Sheets, CSV', crlf],
    ['Google Sheets, CSV, dollars', { ...crlf, price: 'dollars' }],
    ['Google Sheets, CSV, no line end at the end', { ...crlf, last: '' }],
    ['Google Sheets, TSV', { ...crlf, delimiter: '\t' }],
    ['Google Sheets, check boxes', { ...crlf, more: [['is_gift', 'FALSE']] }],
    ['Google Sheets, a German sheet', { ...crlf, price: 'comma' }, german],
    ['Google Sheets, country by name', { ...crlf, country: 'United States' }],
    ['Google Sheets, USA', { ...crlf, country: 'USA' }],
    ['Google Sheets, U.S.A.', { ...crlf, country: ' U.S.A. ' }],
    ['Google Sheets, us', { ...crlf, country: 'us' }],
    ['LibreOffice, UTF-8', {}],
    ['LibreOffice, every cell in quotes', { quoteAll: true }],
    ['LibreOffice, semicolons and quotes', { ...semicolons, quoteAll: true }],
    ['LibreOffice, tabs', { delimiter: '\t', quoteAll: true }],
    ['LibreOffice, pipes', { delimiter: '|' }],
    ['LibreOffice, UTF-16', { encoding: 'utf-16le', mark: true }],
    ['LibreOffice, big-endian UTF-16', { encoding: 'utf-16be', mark: true }],
    ['LibreOffice, UTF-16 that is named', { encoding: 'utf-16be' }, { encoding: 'utf-16be' }],
    ['LibreOffice, Italian', { ...semicolons, price: 'comma', quoteAll: true }, german],
    [
      'a shop, order lines that go on without a product',
      { below: [',,,,,,,,', ',,note,,,,,,', ',,,,Lakewood,,,,'] },
    ],
    [
      'a shop, a date above and a total below',
      {
        above: ['Exported,2026-11-22'],
        below: ['Total: 2 orders,,,,,,,,'].map((one) => `,,${one.slice(0, -2)}`),
      },
    ],
    ['a shop, comments above', { above: ['# exported by shop', '#'] }],
  ];

  test.each<[string, Dialect, Options?]>(files)('%s', async (_, dialect, options) => {
    for (const size of [1, 65_536]) {
      const { orders, numbers } = await read(fileOf(wanted, dialect), { size, ...options });
      expect(orders).toEqual(asOrders(wanted));
      const lines = dialect.above?.filter((line) => !/^"?sep=/i.test(line)) ?? [];
      const titles = lines.length - (dialect.above?.[0] === '"Orders' ? 1 : 0);
      expect(numbers).toEqual([titles + 2, titles + 3]);
    }
  });

  test('what was read as something else than it says is told once', async () => {
    const file = fileOf([...wanted, ...wanted], {
      country: 'United States',
      below: [',,a,,,,,,', ',,b,,,,,,'],
    });
    expect((await read(file)).told).toEqual([
      'country "United States" is read as US in 4 rows',
      '2 rows without product, price and address are left out: rows 6, 7',
    ]);
    expect((await read(fileOf(wanted, { country: 'Germany', below: [',,a'] }))).told).toEqual([
      'country "Germany" is read as DE in 2 rows',
      '1 row without product, price and address is left out: row 4',
    ]);
  });

  test('a key of its own makes a row an order, however little it has', async () => {
    const file = fileOf(wanted, { more: [['idempotency_key', '']], below: [',,,,,,,,,k1'] });
    await expect(read(file)).rejects.toThrow('product_url  is missing');
  });
});

describe('a file that a program has damaged, or that is no CSV, is refused in one sentence with the way out', () => {
  const first = wanted[0] as Wanted;
  const one = (more: Partial<Wanted>, dialect: Dialect = {}) => fileOf([{ ...first, ...more }], dialect);
  test.each<[string, Uint8Array, string, Options?]>([
    ['a phone in powers of ten', one({ phone: '5.12555E+09' }), 'digits are lost; format the column as text'],
    [
      'the same in German',
      one({ phone: '5,12555E+09' }, semicolons),
      'digits are lost; format the column as text',
    ],
    ['a phone with decimals', one({ phone: '5125550100.0' }), 'write 5125550100'],
    ['a postal code without its zero', one({ zip: '8701' }), 'write 08701, in a column formatted as text'],
    ['a postal code with decimals', one({ zip: '78701.0' }), 'write 78701'],
    ['a postal code without its dash', one({ zip: '787011234' }), 'write 78701-1234'],
    ['a German one without its zero', one({ zip: '1067' }, { country: 'DE' }), 'write 01067'],
    [
      'bare whole cents with a decimal',
      one({ cents: 5000 }, { spell: (text) => (text === '5000' ? '5000.0' : text) }),
      'write 5000, or 500000 for $5,000.00',
    ],
    ['decimal commas without a word', one({}, { ...semicolons, price: 'comma' }), '--locale de, or your own'],
    [
      'decimal points in a German file',
      one({}, { price: 'units' }),
      'is not an amount with a decimal comma',
      german,
    ],
    [
      'euros',
      one({}, { ...semicolons, price: 'comma', spell: (text) => text.replace(/,50$/, ',50 €') }),
      'takes amounts in USD only',
      german,
    ],
    [
      'a thousand that may be one and a bit',
      one({}, { price: 'units', spell: (text) => text.replace('45.50', '1,250') }),
      'write it without the comma',
    ],
    ['cp1252 without a word', one({}, { encoding: 'latin1' }), 'is not utf-8 text'],
    ['UTF-16 without a mark', one({}, { encoding: 'utf-16le' }), 'holds NUL bytes'],
    [
      'a workbook',
      Buffer.from('PK\x03\x04\x14\0\x06\0', 'latin1'),
      'is a workbook (.xlsx, .ods, .numbers) or an archive, not CSV',
    ],
    [
      'an old workbook',
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1]),
      'is an old Excel workbook (.xls), not CSV',
    ],
    ['a web page named .xls', Buffer.from('\n<html><table>'), 'is a web page or XML, not CSV'],
    ['JSON', Buffer.from('[{"product_url":"x"}]'), 'is JSON, not CSV'],
    ['a PDF', Buffer.from('%PDF-1.7 …'), 'is a PDF, not CSV'],
    ['a compressed file', Buffer.from([0x1f, 0x8b, 8, 0]), 'is compressed, not CSV'],
    [
      'quotes of another kind',
      Buffer.from("'product_url','name','zip'\n'https://x.example/1','Ada','78701'\n"),
      'no column for product_url',
    ],
    [
      'two tables in one',
      one({}, { below: ['', usualHeadings.join(',')] }),
      'product_url product_url is not an http or https URL',
    ],
  ])('%s', async (_, bytes, reason, options) => {
    for (const size of [7, 65_536]) {
      const error = await read(bytes, { size, ...options }).catch((thrown: Error) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).message).toContain(reason);
      expect((error as Error).message.split('\n')).toHaveLength(reason.startsWith('product_url') ? 5 : 1);
    }
  });
});

test('orders written in any dialect are read back as the same orders', async () => {
  const text = fc
    .string({ unit: fc.constantFrom(...'abcXYZ äöüéñ,;|"#-./&0123456789\n'), minLength: 1, maxLength: 20 })
    // A cell of an address has three lines at most.
    .map((one) => `A${one.trim()}`.split('\n').slice(0, 3).join('\n').trimEnd());
  const order: fc.Arbitrary<Wanted> = fc.record({
    url: fc
      .webUrl({ withQueryParameters: true })
      .map((url) => url.replaceAll('|', '-'))
      .filter((url) => productUrlProblem(url) === undefined),
    cents: fc.integer({ min: 1, max: 99_999_999 }),
    first: text.map((one) => one.replaceAll(/\s+/g, '')),
    last: text.map((one) => one.replaceAll(/\s+/g, '')),
    street: text,
    city: text,
    state: fc.constantFrom('TX', 'NJ'),
    zip: fc.constantFrom('08701', '78701', '78701-1234'),
    phone: fc.constantFrom('5125550100', '+15125550100', '(512) 555-0100'),
  });
  const dialect: fc.Arbitrary<Dialect> = fc.record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    newline: fc.constantFrom('\n', '\r\n'),
    encoding: fc.constantFrom('utf-8', 'latin1', 'utf-16le', 'utf-16be'),
    mark: fc.constant(true),
    price: fc.constantFrom('cents', 'units', 'dollars', 'comma'),
    quoteAll: fc.boolean(),
    above: fc.constantFrom([], ['sep='], ['A title'], ['', 'Orders,of,November']),
    spell: fc.constantFrom((one: string) => one, apostrophe),
    country: fc.constantFrom('US', 'usa', 'United States'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(order, { minLength: 1, maxLength: 5 }),
      dialect,
      fc.integer({ min: 1, max: 300 }),
      async (orders, given, size) => {
        const above = given.above?.map((line) => (line === 'sep=' ? `sep=${given.delimiter}` : line)) ?? [];
        const isLatin = given.encoding === 'latin1';
        const bytes = fileOf(orders, {
          ...given,
          above,
          mark: !isLatin,
          ...(size % 2 === 0 && { last: '' }),
        });
        const options: Options = {
          size,
          ...(isLatin && { encoding: 'latin1' }),
          ...(given.price === 'comma' && german),
        };
        expect((await read(bytes, options)).orders).toEqual(asOrders(orders));
      },
    ),
    { numRuns: 300 },
  );
});
