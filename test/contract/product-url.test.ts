import { describe, expect, test } from 'vitest';
import { planColumns } from '../../src/api/bulk-columns.ts';
import { readBulkRow } from '../../src/api/bulk-row.ts';
import { checkShape } from '../../src/api/schemas/check.ts';
import { parseProduct } from '../../src/orders/input/product-flag.ts';

const [one, other] = ['https://a.example/p/1', 'https://b.example/p/2?x=1'];

/** What is wrong with a URL in a cell, in a request and as a flag. */
function problemsOf(url: string): readonly (string | undefined)[] {
  const { issues } = readBulkRow(planColumns(['product_url']), [url]);
  const checked = checkShape('OrderProduct', { url }, 'body');
  let flag: string | undefined;
  try {
    parseProduct(url);
  } catch (error) {
    flag = error instanceof Error ? error.message : String(error);
  }
  return [issues.find(({ column }) => column === 'product_url')?.message, checked.issues?.[0]?.msg, flag];
}

describe('two URLs in the place of one are refused with both, in a cell, a request and a flag', () => {
  test.each([
    ...[
      ', ',
      ',',
      ' ',
      ';',
      '; ',
      '\n',
      '\r\n',
      '\t',
      ' , ',
      ' and ',
      '"',
      '\u00a0',
      '\u200b',
      '，',
      '、',
      '',
    ],
  ])('with %j between them', (between) => {
    for (const problem of problemsOf(`${one}${between}${other}`)) {
      expect(problem).toContain(`"${one}`);
      expect(problem).toContain(`"${other}"`);
    }
    expect(problemsOf(`${one}${between}${other}`)[0]).toMatch(/; separate products by \|$/);
  });

  test('the second without its scheme', () => {
    for (const problem of problemsOf(`${one}, www.b.example/p`))
      expect(problem).toContain(`"${one}" and "www.b.example/p"`);
  });

  test('a row takes several with | between them, a request and a flag do not', () => {
    const [row, request, flag] = problemsOf(`${one}|${other}`);
    expect(row).toBeUndefined();
    expect(request).toContain('holds 2 URLs');
    expect(flag).toContain('give --product for each');
  });

  test('of many the first are named', () => {
    expect(problemsOf(Array(9).fill(one).join(' '))[0]).toContain(
      `holds 9 URLs: "${one}" and "${one}" and "${one}" …;`,
    );
  });
});

test.each([
  'https://web.archive.example/web/2020/https://a.example/p',
  'https://a.example/go?url=https://b.example/p&next=https://c.example',
  'https://a.example/?https://b.example',
  'https://a.example/p#https://b.example',
  'https://a.example/a,b;c=1/p?ids=1,2;3&w=www.b.example',
  'https://www.a.example/www.b.example',
  'HTTPS://A.EXAMPLE/P',
])('one URL is one: %s', (url) => {
  expect(problemsOf(url)).toEqual([undefined, undefined, undefined]);
});

test('a space within a URL is refused, with how to write it', () => {
  for (const problem of problemsOf('https://a.example/blue mug')) expect(problem).toContain('URL');
  expect(problemsOf('https://a.example/blue mug')[0]).toContain('has a space in it; write %20');
});
