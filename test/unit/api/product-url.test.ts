import { describe, expect, test } from 'vitest';
import { planColumns } from '../../../src/api/bulk-columns.ts';
import { readBulkRow } from '../../../src/api/bulk-row.ts';
import { checkShape } from '../../../src/api/schemas/check.ts';
import { parseProduct } from '../../../src/orders/input/product-flag.ts';

const [one, other] = ['https://a.example/p/1', 'https://b.example/p/2?x=1'];

/** The error for a URL in a CSV cell, in a request body and as a flag. */
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

  const page = 'https://www.a.example/p/x/3086431744';
  test.each([
    [',', 'a.example/p/y/5550566464'],
    [';', 'b.example/p/y'],
    [', ', 'b.example:8080/p/y'],
    [',', '//b.example/p'],
    [';', '//b.example/p'],
    [',', 'https:/b.example/p'],
    [';', 'a.example?id=5550566464'],
    ['/', 'https://www.a.example/p/y'],
    ['&', 'https://a.example/p/y'],
    ['#', 'https://m.a.example/p/y'],
    ['?ref=', 'https://www.a.example/p/y'],
    ['?url=', 'HTTPS://WWW.A.EXAMPLE/p/y'],
    ['/', 'a.example/p/y'],
  ])('without a scheme, or in the path of the first: %j and %j', (between, second) => {
    for (const problem of problemsOf(page + between + second)) {
      expect(problem).toContain('holds 2 URLs');
      expect(problem).toContain(`"${second}"`);
    }
  });

  test.each([
    [',', '%2C'],
    [';', '%3B'],
    [';5550566464', '%3B'],
    [',5550566464', '%2C'],
  ])('what is left of a second one at the end: %j', (end, written) => {
    for (const problem of problemsOf(page + end)) {
      expect(problem).toContain(`ends in "${end}"`);
      expect(problem).toContain(`write ${written} for`);
    }
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
  'https://a.example/p?ref=https://a.example/',
  'https://a.example/p/mug,12345.html?a=1',
  'https://a.example/p/mug,v1.2/blue',
  "https://a.example/p/'//b,//",
  'https://a.example/p;jsessionid=5550566464',
  'https://a.example/go/https://b.example/p',
  'https://a.example/go?a=1&https://b.example/p#https://c.example/p',
])('one URL is one: %s', (url) => {
  expect(problemsOf(url)).toEqual([undefined, undefined, undefined]);
});

test('a space within a URL is refused, with how to write it', () => {
  for (const problem of problemsOf('https://a.example/blue mug')) expect(problem).toContain('URL');
  expect(problemsOf('https://a.example/blue mug')[0]).toContain('has a space in it; write %20');
});
