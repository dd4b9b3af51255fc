import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import {
  breakCell,
  cut,
  cutMiddle,
  cutStart,
  cutUrl,
  fullMeasure,
  isNarrow,
  measureFor,
  minUrlWidth,
  pad,
} from '../../../src/format/width.ts';

const measure = await fullMeasure();

describe('the width of a text', () => {
  test('what is taken for narrow without a library is so', () => {
    for (let code = 0x20; code < 0x3000; code += 1) {
      const character = String.fromCodePoint(code);
      if (isNarrow(character)) expect(`${character} ${stringWidth(character)}`).toBe(`${character} 1`);
    }
  });

  test.each([
    ['日本', 4],
    ['👨‍👩‍👧', 2],
    ['🫠', 2],
    ['น้ำ', 1],
    ['grün', 4],
  ])('%s takes %d columns', async (text, columns) => {
    expect((await measureFor([text]))(text)).toBe(columns);
  });
});

describe('cutting', () => {
  const texts = fc
    .array(fc.constantFrom('a', 'é', '日', '👨‍👩‍👧', '🫠', 'e\u0301', ' ', '한'), { maxLength: 20 })
    .map((parts) => parts.join(''));

  test('keeps within the width, and keeps what fits', () => {
    fc.assert(
      fc.property(texts, fc.nat(30), (text, width) => {
        const short = cut(text, width, measure);
        expect(measure(short)).toBeLessThanOrEqual(width);
        if (measure(text) <= width) expect(short).toBe(text);
        else if (width > 0) expect(short.endsWith('…')).toBe(true);
      }),
    );
  });

  test('never cuts an emoji in half', () => {
    expect(cut('ab👨‍👩‍👧👨‍👩‍👧', 5, measure)).toBe('ab👨‍👩‍👧…');
    expect(cut('ab👨‍👩‍👧👨‍👩‍👧', 4, measure)).toBe('ab…');
    expect(cutStart('👨‍👩‍👧👨‍👩‍👧ab', 5, measure)).toBe('…👨‍👩‍👧ab');
    expect(cutStart('👨‍👩‍👧👨‍👩‍👧ab', 4, measure)).toBe('…ab');
    expect(cutStart('https://shop.example/test-success', 13, measure)).toBe('…test-success');
    expect(cutStart('short', 5, measure)).toBe('short');
    expect(cutMiddle('👨‍👩‍👧👨‍👩‍👧ab👨‍👩‍👧👨‍👩‍👧', 6, measure)).toBe('👨‍👩‍👧…👨‍👩‍👧');
    expect(cutMiddle('Coffee Beans, 340 g', 13, measure)).toBe('Coffee… 340 g');
    expect(cutMiddle('short', 5, measure)).toBe('short');
    expect([0, 1, 2, 3].map((width) => cutMiddle('abcdef', width, measure))).toEqual(['', '…', 'a…', 'a…f']);
  });

  test('an address loses its scheme, then the middle of its path, and never its host', () => {
    const url = 'https://shop.example/p/a-long-name/test-success';
    expect(cutUrl(url, 47, measure)).toBe(url);
    expect(cutUrl(url, 39, measure)).toBe('shop.example/p/a-long-name/test-success');
    expect(cutUrl(url, 26, measure)).toBe('shop.example/…test-success');
    expect(cutUrl(url, minUrlWidth(url, measure), measure)).toBe('shop.example/…');
    expect(cutUrl(url, 20, measure)).toBe('shop.example/…uccess');
    expect(cutUrl('http://shop.example/p/test-success', 26, measure)).toBe('http://shop.example/…ccess');
    expect(cutUrl('https://bank.example.evil.example/x', 14, measure)).toBe('…evil.example/');
    expect(cutUrl('A title, in place of an address', 10, measure)).toBe('A title, …');
    expect(minUrlWidth('A title/name in place of an address', measure)).toBe(0);
    fc.assert(
      fc.property(texts, fc.nat(30), (text, width) => {
        for (const whole of [
          `https://${text}/x`,
          `2 x https://${text}/x, ${text}, https://a.example/${text}`,
        ])
          expect(measure(cutUrl(whole, width, measure))).toBeLessThanOrEqual(width);
      }),
    );
  });

  test('in a line of products no address loses its host: what does not fit behind one is left out', () => {
    const two = '2 x https://shop.example/p/tea-500-g, https://other.example/p/mug';
    expect(cutUrl(two, 60, measure)).toBe('2 x shop.example/p/tea-500-g, other.example/p/mug');
    expect(cutUrl(two, 45, measure)).toBe('2 x shop.example/p/tea-500-g, other.example/…');
    expect(cutUrl(two, 44, measure)).toBe('2 x shop.example/p/tea-500-g, …');
    expect(cutUrl(two, 24, measure)).toBe('2 x shop.example/…0-g, …');
    expect(minUrlWidth(two, measure)).toBe('2 x shop.example/…, …'.length);
    expect(cutUrl(two, minUrlWidth(two, measure), measure)).toBe('2 x shop.example/…, …');
    const mixed = 'Tea, Green, 500 g, https://shop.example/p/mug';
    expect(cutUrl(mixed, 40, measure)).toBe('Tea, Green, 500 g, shop.example/p/mug');
    expect(cutUrl(mixed, 35, measure)).toBe('Tea, Green, 500 g, shop.example/…ug');
    expect(cutUrl(mixed, 32, measure)).toBe('Tea, Green, 500 g, …');
    expect(cutUrl(mixed, 16, measure)).toBe('Tea, Green, 500…');
    expect(minUrlWidth(mixed, measure)).toBe(0);
    expect(cutUrl('2 x A long title', 10, measure)).toBe('2 x A lon…');
  });

  test('padding counts columns, not characters', () => {
    expect(pad('日本', 6, 'left', measure)).toBe('日本  ');
    expect(pad('日本', 6, 'right', measure)).toBe('  日本');
    expect(pad('long', 2, 'left', measure)).toBe('long');
  });
});

test('a cell is broken between words, then within a name of several, and only then cut', () => {
  const broken = (text: string, width: number): string[] => breakCell(text, width, (one) => one.length);
  expect(broken('is out of stock', 9)).toEqual(['is out of', 'stock']);
  expect(broken('invalid_shipping_address', 14)).toEqual(['invalid_', 'shipping_', 'address']);
  expect(broken('unbreakable', 6)).toEqual(['unbre…']);
});

test('an address of this machine does without its scheme where there is no room, no other that is not encrypted', () => {
  const at = (url: string): string => cutUrl(url, 27, (one) => one.length);
  expect(at('http://127.0.0.1:4848/shop/test-slow')).toBe('127.0.0.1:4848/…p/test-slow');
  expect(at('http://127.0.0.1.example/shop/test-slow')).toBe('http://127.0.0.1.example/…w');
});
