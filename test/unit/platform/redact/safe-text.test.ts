import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeLines, safeText } from '../../../../src/platform/redact/safe-text.ts';

const family = '👨‍👩‍👧';
const astronaut = '👩🏽‍🚀';
/** Everything a terminal may interpret or hide, written differently from the source; joiners are handled separately. */
const dangerous =
  /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Zl}\p{Zp}\u200b\u200c\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u;
const looseJoiner =
  /(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/u;

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        '\u001b[31m',
        '\u001b]0;title\u0007',
        '\u009b2J',
        '\u202e',
        '\u2066',
        '\u200f',
        '\u200d',
        '\ufe0f',
        '\ud800',
        '\udc00',
        family,
        '👩',
        'a',
        'é',
        '日',
        '\r\n',
        '\r',
        '\n',
        '\t',
        '\0',
        '\u{e0041}',
        '\u{e0100}',
        '\u2028',
      ),
    )
    .map((parts) => parts.join('')),
);

describe('text for a terminal', () => {
  test.each([
    ['plain', 'plain'],
    ['grün, 日本語, שלום', 'grün, 日本語, שלום'],
    ['\u001b[31mred\u001b[0m', '␛[31mred␛[0m'],
    ['\u001b]8;;https://evil\u0007click', '␛]8;;https://evil␇click'],
    ['\u009b2J', '<U+009B>2J'],
    ['a\tb\0c\u007f', 'a␉b␀c␡'],
    ['one\ntwo\r\nthree\rfour', 'one⏎two⏎three␍four'],
    ['invoice\u202efdp.exe', 'invoice<U+202E>fdp.exe'],
    ['\u2066a\u2069\u200e\u200f\u061c', '<U+2066>a<U+2069><U+200E><U+200F><U+061C>'],
    ['pay\u200bpal\ufeff', 'pay<U+200B>pal<U+FEFF>'],
    ['a\u2028b\u2029c', 'a<U+2028>b<U+2029>c'],
    ['\u{e0041}\u{e0042}', '<U+E0041><U+E0042>'],
    ['half \ud83d', 'half <U+D83D>'],
    ['a\u200db', 'a<U+200D>b'],
    [`${family} ${astronaut} ❤️‍🔥 🏳️‍🌈`, `${family} ${astronaut} ❤️‍🔥 🏳️‍🌈`],
    ['👩\u200dx', '👩<U+200D>x'],
    ['❤️', '❤️'],
    ['a\ufe01\ufe02\ufe03', 'a<U+FE01><U+FE02><U+FE03>'],
  ])('%j is shown as %s', (text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  test('nothing that a terminal obeys or hides comes through', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = safeText(text);
        expect(shown).not.toMatch(dangerous);
        expect(shown).not.toMatch(looseJoiner);
      }),
      { numRuns: 1000 },
    );
  });

  test('of many lines only line breaks and tabs come through', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(safeLines(text).replace(/[\n\t]/g, '')).not.toMatch(dangerous);
      }),
    );
    expect(safeLines('a\r\n\tb\u001b[2J\rc\n')).toBe('a\n\tb␛[2J␍c\n');
  });

  test('what is safe stays as it is', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(safeText(safeText(text))).toBe(safeText(text));
      }),
    );
  });

  test('a huge text is cut, between characters, with a sign that it was', () => {
    expect(safeText('x'.repeat(1_000_000), 1000)).toBe(`${'x'.repeat(1000)}…`);
    expect(safeText('😀'.repeat(10), 5)).toBe('😀😀…');
  });
});
