import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { HeadingMap } from '../../../src/bulk/csv/headings.ts';
import { noReadings, referenceLines } from '../../../src/bulk/csv/shop-export-quirks.ts';
import { readRows } from '../../../src/bulk/rows.ts';
import { mapPresets } from '../../../src/config/maps.ts';
import { UsageError } from '../../../src/platform/errors.ts';

const order = 'product_url,max_price_cents,name,address,city,state,zip,phone';
const cells = 'https://x.example/1,5000,Ada Byron,1 Main St,Austin,TX,78701,5125550100';

async function read(more: string, rows: readonly string[], options: Partial<HeadingMap> = {}) {
  const text = [`${order},${more}`, ...rows.map((row) => `${cells},${row}`), ''].join('\n');
  const readings = noReadings();
  const all = [];
  for await (const part of readRows(Readable.from([Buffer.from(text)]), {
    ...{ name: 'orders.csv', map: {}, readings },
    ...options,
  }))
    all.push(...part);
  return { rows: all, lines: referenceLines(readings) };
}

const references = async (...given: Parameters<typeof read>) =>
  (await read(...given)).rows.map(({ reference }) => reference);
const named = (columns: readonly string[], namespace = '') => ({ reference: { columns, namespace } });

describe('the reference of a row', () => {
  test.each([
    ['Requisition', 'REQ-1', named(['Requisition']), 'REQ-1'],
    ['Requisition,Line', 'REQ-1,2', named(['Requisition,Line']), 'REQ-1/2'],
    ['Requisition,Line', 'REQ-1,2', named(['Line', 'Requisition']), '2/REQ-1'],
    ['Requisition,Line', 'REQ-1,', named(['Requisition', 'Line']), 'REQ-1/'],
    ['"Requisition, Line"', 'REQ-1', named(['Requisition, Line']), 'REQ-1'],
    ['errand_reference', ' REQ-1 ', {}, 'REQ-1'],
    ['Errand Reference', 'REQ-1', {}, 'REQ-1'],
    ['PO Number', 'PO-7', named(['PO Number']), 'PO-7'],
    ['Requisition', 'e\u0301', named(['Requisition']), '\u00e9'],
    ['Requisition', "'00017", named(['Requisition']), '00017'],
    ['Requisition', '"=""00017"""', named(['Requisition']), '00017'],
    ['Reference', 'R-1', {}, undefined],
    ['errand_reference', 'R-1', { map: { errand_reference: 'errand_reference' } }, undefined],
  ] as const)('under %s, %s', async (more, row, options, text) => {
    const reference = text === undefined ? undefined : { namespace: '', text };
    expect(await references(more, [row], options)).toStrictEqual([reference]);
  });

  test('is in the namespace that is given', async () => {
    const [reference] = await references('Requisition', ['REQ-1'], named(['Requisition'], 'shop'));
    expect(reference).toStrictEqual({ namespace: 'shop', text: 'REQ-1' });
    const [ours] = await references('errand_reference', ['REQ-1'], named([], 'shop'));
    expect(ours).toStrictEqual({ namespace: 'shop', text: 'REQ-1' });
  });

  test.each([
    ['', 'Requisition, Line', 'has no reference; give each row its own'],
    ['\u200bR,1', 'Requisition', /^as a reference holds a character that cannot be seen; the cell holds/],
    [`${'x'.repeat(201)},1`, 'Requisition', 'as a reference has 201 characters; at most 200 are allowed'],
    ['1.2E+15,1', 'Requisition', /^is what a spreadsheet made of a long number/],
  ] as const)('%j is refused, with its column', async (row, column, message) => {
    const { rows } = await read('Requisition,Line', [row === '' ? ',' : row], named(['Requisition,Line']));
    expect(rows[0]?.reference).toBeUndefined();
    expect(rows[0]?.issues).toMatchObject([
      { column, message: typeof message === 'string' ? message : expect.stringMatching(message) },
    ]);
  });

  test('does not go with a key of its own', async () => {
    const { rows } = await read('errand_reference,idempotency_key', ['R-1,mine', 'R-2,']);
    expect(rows.map(({ issues }) => issues)).toMatchObject([
      [{ column: 'idempotency_key', value: 'mine' }],
      [],
    ]);
  });
});

describe('what is said of references', () => {
  test.each([
    ['errand_reference', {}, 'the reference of each row is its "errand_reference": row 2 is R-1'],
    [
      'Requisition,Line',
      named(['Requisition,Line'], 'shop'),
      'the reference of each row is its "Requisition" and "Line", in the namespace shop: row 2 is shop:R-1/7',
    ],
    [
      'Reference',
      {},
      '"Reference" stays a column of your own; --reference-column Reference makes it the reference of each row, which is bought once then (--own Reference says that it is none)',
    ],
    ['Reference', { map: { Reference: 'Reference' } }, undefined],
    ['Note', {}, undefined],
  ] as const)('of a column %s', async (more, options, line) => {
    const rows = [more.includes(',') ? 'R-1,7' : 'R-1', more.includes(',') ? 'R-2,7' : 'R-2'];
    expect((await read(more, rows, options)).lines).toEqual(line === undefined ? [] : [line]);
  });

  test.each([
    ['Note', named(['Requisition']), '--reference-column names a heading that is not there: Requisition'],
    [
      'Note',
      { reference: { columns: ['A,B'], namespace: '', savedAs: 'theirs' } },
      'the map theirs names headings that are not there: A, B',
    ],
    ['Note', named([], 'shop'), 'the namespace shop is for references, and no column holds one'],
    ['Note', named(['Note,Note']), '--reference-column names a column twice'],
    [
      'Requisition,errand_reference',
      named(['Requisition']),
      '"errand_reference" is the reference, and --reference-column names others',
    ],
    ['metadata.errand_reference', {}, '"metadata.errand_reference" is where references travel'],
  ] as const)('%s, where that cannot be', async (more, options, problem) => {
    const failing = read(more, ['a,b'.slice(0, more.includes(',') ? 3 : 1)], options);
    await expect(failing).rejects.toThrow(UsageError);
    await expect(failing).rejects.toThrow(problem);
  });
});

describe("a shop's export", () => {
  const preset = mapPresets.get('shopify');
  const line = (name: string, item: string) =>
    `${name},${item},1,Ada Byron,1 Main St,Austin,TX,78701,US,5125550100,https://x.example/1,50.00`;
  const headings =
    'Name,Lineitem name,Lineitem quantity,Shipping Name,Shipping Address1,Shipping City,Shipping Province,Shipping Zip,Shipping Country,Shipping Phone,product_url,max_price';
  const exported = async (namespace: string) => {
    const text = [headings, line('#1001', 'Coffee'), line('#1001', 'Tea'), ''].join('\n');
    const readings = noReadings();
    const found = [];
    const options = { name: 'shop.csv', map: {}, preset, readings, ...named([], namespace) };
    for await (const rows of readRows(Readable.from([Buffer.from(text)]), options)) found.push(...rows);
    return { references: found.map(({ reference }) => reference), lines: referenceLines(readings) };
  };

  test('gives references once the shop has a name, one for each line', async () => {
    const { references: found } = await exported('my-shop');
    expect(found).toStrictEqual([
      { namespace: 'my-shop', text: '#1001/Coffee' },
      { namespace: 'my-shop', text: '#1001/Tea' },
    ]);
  });

  test('gives none without, which is said', async () => {
    const { references: found, lines } = await exported('');
    expect(found).toStrictEqual([undefined, undefined]);
    expect(lines).toEqual([
      '"Name" and "Lineitem name" can be the reference of each row, which is bought once then: --namespace names the shop that numbers them',
    ]);
  });

  test('names its lines under the headings of each preset', () => {
    for (const { reference, name } of mapPresets.values())
      expect(
        reference.map(({ length }) => length > 0),
        name,
      ).toEqual([true, true]);
  });
});
