import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import type { PlacedColumn } from '../../../../src/cli/output/table.ts';
import { drawRows } from '../../../../src/cli/output/table.ts';
import { isNarrow, measureFor } from '../../../../src/format/width.ts';

const column = (width: number, align: 'left' | 'right' = 'left'): PlacedColumn => ({
  index: 0,
  width,
  align,
  cuts: false,
  wraps: false,
  keeps: 'start',
});

async function draw(texts: readonly (readonly string[])[], ...columns: PlacedColumn[]): Promise<string[]> {
  const measure = await measureFor(texts.flat());
  return drawRows(
    texts.map((row) => row.map((text) => ({ text }))),
    columns,
    measure,
  );
}

describe('rows drawn by cli-table3', () => {
  test('have two spaces between columns, none around them and none at the end', async () => {
    expect(
      await draw(
        [
          ['a', '1', 'b'],
          ['cc', '22', ''],
        ],
        column(2),
        column(2, 'right'),
        column(3),
      ),
    ).toEqual(['a    1  b', 'cc  22']);
  });

  test('keep a row that is empty', async () => {
    expect(await draw([['a'], [''], ['b']], column(1))).toEqual(['a', '', 'b']);
  });

  test('let a text stick out of its column where it may not be cut', async () => {
    expect(
      await draw(
        [
          ['abcdef', 'x'],
          ['a', 'y'],
        ],
        column(2),
        column(1),
      ),
    ).toEqual(['abcdef  x', 'a   y']);
  });

  test('give each narrow character one column', async () => {
    const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
      isNarrow,
    );
    expect(characters.length).toBeGreaterThan(800);
    const lines: string[] = [];
    for (let at = 0; at < characters.length; at += 100) {
      const page = characters.slice(at, at + 100);
      lines.push(
        ...(await draw(
          page.map((character) => [character, '|']),
          column(3),
          column(1),
        )),
      );
    }
    expect(lines).toEqual(characters.map((character) => `${character}    |`));
  });

  // cli-table3's width tables predate most of these and are off by up to six columns.
  test.each([
    ['an emoji of Unicode 14', '🫠'],
    ['a family', '👨‍👩‍👧'],
    ['a flag', '🇯🇵'],
    ['a keycap', '1️⃣'],
    ['a skin tone', '👋🏽'],
    ['Chinese', '日本'],
    ['a combining accent', 'e\u0301'],
    ['a Thai vowel sign', 'ก\u0e34'],
    ['a Hebrew point', '\u05d0\u05b8'],
    ['conjoining Hangul', '\u1112\u1161\u11ab'],
    ['the character of the placeholder', 'a\ue000b\ue000'],
    ['a text of width 0', '\u0301'],
  ])('line up beside %s', async (_, text) => {
    const lines = await draw(
      [
        ['name', '9', '|'],
        [text, text, '|'],
        ['x', text, '|'],
      ],
      column(6),
      column(8, 'right'),
      column(1),
    );
    expect(lines.map((line) => stringWidth(line))).toEqual([19, 19, 19]);
    expect(lines[1]).toBe(
      `${text}${' '.repeat(6 - stringWidth(text))}  ${' '.repeat(8 - stringWidth(text))}${text}  |`,
    );
  });

  test('are painted within their padding', async () => {
    const paint = (text: string) => `\u001b[31m${text}\u001b[39m`;
    const rows = [
      [{ text: 'ok', paint }, { text: '|' }],
      [{ text: '日', paint }, { text: '|' }],
    ];
    const columns = [column(4), column(1)];
    expect(await drawRows(rows, columns, await measureFor(['日']))).toEqual([
      '\u001b[31mok\u001b[39m    |',
      '\u001b[31m日\u001b[39m    |',
    ]);
  });
});
