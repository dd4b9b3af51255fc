import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { cut, cutStart, fullMeasure, isNarrow, measureFor, pad } from '../../src/output/width.ts';

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
  });

  test('padding counts columns, not characters', () => {
    expect(pad('日本', 6, 'left', measure)).toBe('日本  ');
    expect(pad('日本', 6, 'right', measure)).toBe('  日本');
    expect(pad('long', 2, 'left', measure)).toBe('long');
  });
});
