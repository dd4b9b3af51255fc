import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../../src/format/parse-document.ts';

const yaml = (text: string): unknown => parseDocument('order.yaml', text, false, ['max_price']);

describe('a document that cannot be taken', () => {
  const bomb = Array.from('abcdefgh', (name, index) => {
    const inside = index === 0 ? 'lol' : `*${String.fromCharCode(96 + index)}`;
    return `${name}: &${name} [${Array(9).fill(inside).join(', ')}]`;
  }).join('\n');

  test.each([
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'order.yaml, line 3: "a" is given twice'],
    [
      'a second document',
      'a: 1\n---\nb: 2\n',
      'order.yaml, line 2: a second document begins here; write one',
    ],
    ['a missing bracket', 'a: [1\nb: 2\n', /^order\.yaml, line 2: .*[^:]$/],
    [
      'bottomless nesting',
      '['.repeat(5000) + ']'.repeat(5000),
      'order.yaml, line 1: it is nested too deeply',
    ],
    ['aliases that multiply', bomb, /^order\.yaml: its aliases \(\*\) stand for too much/],
    ['an alias of itself', 'metadata: &a {b: *a}\n', /^order\.yaml: its aliases .* for themselves/],
    ['an alias of nothing', 'a: *b\n', 'order.yaml: nothing is named for the alias *b; write the values out'],
  ])('names the line and the reason: %s', (_, text, message) => {
    const read = (): unknown => yaml(text);
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ name: 'UsageError' }));
  });

  test.each([
    [
      '- { max_price: 9,000,000, quantity: 1 }',
      'the comma ends the value of 9,000,000; within braces',
      '9000000',
    ],
    [
      'a: { max_price: 1,250.50 }',
      'the comma ends the value of 1,250.50',
      'in cents, such as 900000 for $9,000.00',
    ],
    ['a:\n  { top: €1.000,00 }', 'line 2: the comma ends the value of €1.000,00', 'in cents, such as'],
    ['a: [$1,000, $2,500]', 'the comma ends the value of $1,000; within brackets', 'in cents, such as'],
    ['a: [USD 9,000,000]', 'the comma ends the value of USD 9,000,000', 'in cents, such as'],
    ['a: { max_price: 9.000,00 }', 'the comma ends the value of 9.000,00', 'in cents, such as'],
    ['{"max_price": 5,000}', 'the comma ends the value of 5,000', 'write a number without commas: 5000'],
  ])('says where a comma cuts an amount, and how to write it: %s', (text, what, remedy) => {
    expect(() => yaml(text)).toThrow(what);
    expect(() => yaml(text)).toThrow(remedy);
  });

  test.each([
    'a: [1, 100]',
    'a: [$5, 12 items]',
    'a: {b: 1, c: 100}',
    'a: ["$1", 000]',
    'a: {b: "$1,000", c: 1}',
  ])('takes what is no amount that a comma cuts: %s', (text) => {
    expect(() => yaml(text)).not.toThrow('the comma ends');
  });

  test('names a key of JSON that is given twice', () => {
    const text = '{\n  "max_price": 5000,\n  "max_price": 9000\n}';
    expect(() => parseDocument('order.json', text, true, [])).toThrow(
      'order.json, line 3: "max_price" is given twice',
    );
  });
});

test.each(['0x1388', '0o17', '.inf', '.nan', '010', '2e1', '.5'])(
  'a number is written in decimal digits wherever it stands, not as %s',
  (written) => {
    for (const [text, at] of [
      [`max_price: 5000\nquantity: ${written}\n`, 'line 2: quantity'],
      [`payment: {mode: connect, margin: {type: flat, value: ${written}}}\n`, 'line 1: payment.margin.value'],
      [`products:\n- url: u\n- url: v\n  quantity: ${written}\n`, 'line 4: products.1.quantity'],
      [`sizes: [1, ${written}]\n`, 'line 1: sizes.1'],
      [`metadata: {a: &a ${written}}\nquantity: *a\n`, 'line 1: metadata.a'],
    ])
      expect(() => yaml(text ?? '')).toThrow(
        `order.yaml, ${at} is written ${written}; write numbers in decimal`,
      );
  },
);

test('decimal numbers, and other spellings in quotes, are read', () => {
  const text = 'a: 0\nb: -1.50\nc: +3\nd: "0x10"\n0x5: key\ne: 0x\n';
  expect(yaml(text)).toEqual({ a: 0, b: -1.5, c: 3, d: '0x10', 5: 'key', e: '0x' });
});

test.each(['0x1388', '0o17'])('cents are written in decimal digits, not as %s', (price) => {
  expect(() => yaml(`max_price: ${price}\n`)).toThrow(`order.yaml, line 1: max_price is written ${price}`);
});

test('a document of YAML 1.1 is refused, where 010 is 8', () => {
  expect(() => yaml('%YAML 1.1\n---\nmax_price: 010\n')).toThrow('order.yaml says %YAML 1.1');
});

test('only the field of the record itself is cents: metadata may hold any number', () => {
  expect(yaml('max_price: 5000\nmetadata: {max_price: 12.5}\n')).toEqual({
    max_price: 5000,
    metadata: { max_price: 12.5 },
  });
});

test.each(['1,234.50', '1e400'])('no reading is offered of a price that has none: %s', (price) => {
  expect(() => yaml(`max_price: ${price}\n`)).toThrow(
    `order.yaml: max_price is ${price}, and files carry integer cents: write 5000 for 50.00`,
  );
});

test('of very many keys one that is given twice is named', () => {
  const lines = Array.from({ length: 40_000 }, (_, index) => `k${index}: v\n`);
  expect(() => yaml(`${lines.join('')}k39999: v\n`)).toThrow(
    'order.yaml, line 40001: "k39999" is given twice',
  );
});

test('aliases that only spare writing are followed', () => {
  expect(yaml('home: &home {city: Austin}\nwork: *home\n')).toEqual({
    home: { city: 'Austin' },
    work: { city: 'Austin' },
  });
});
