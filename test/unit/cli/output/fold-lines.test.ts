import { describe, expect, test } from 'vitest';
import { renderError } from '../../../../src/cli/output/error.ts';
import { foldLines, noteLines } from '../../../../src/cli/output/notice.ts';
import { ErrandError } from '../../../../src/platform/errors.ts';
import { capture } from '../../../support/streams.ts';

const id = '9e2919b9-0000-4000-8000-000000000001';
const long = `note: no \`errand webhook listen --register\` is running for order ${id}, and events come to https://shop.example/a/very/long/path/that/goes/on only then`;

const at = (columns: number) => capture({}, { terminal: true, columns }).io;

describe('a line for people on stderr', () => {
  test.each([40, 50, 80, 120])(
    'is broken between words at %i columns, set in, and nothing of it is lost',
    (columns) => {
      const lines = foldLines([long], at(columns));
      expect(lines.length).toBeGreaterThan(1);
      expect(lines.map((line) => line.trimStart()).join(' ')).toBe(long);
      for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\S/);
      for (const whole of [
        '`errand webhook listen --register`',
        id,
        'https://shop.example/a/very/long/path/that/goes/on',
      ])
        expect(lines.filter((line) => line.includes(whole))).toHaveLength(1);
      for (const line of lines)
        if (/ \S+ \S+ /.test(line.replace(/`.*`/, ''))) expect(line.length).toBeLessThanOrEqual(columns);
    },
  );

  test('that says what to type keeps it in one piece', () => {
    const command = `errand order watch ${id} --until placed --profile 'my own'`;
    const lines = [
      `try: ${command} — to go on watching it until it is placed`,
      `\u001b[2mto go on watching the order that was just placed:\u001b[22m \u001b[36m${command}\u001b[39m`,
      `     $ ${command}`,
    ];
    const folded = foldLines(lines, at(60));
    expect(folded.filter((line) => line.includes(command))).toHaveLength(3);
    // The explanation stands below, so that the command can be copied, also where there is room beside it.
    const said = [`try: ${command}`, '  to go on watching it until it is placed'];
    expect(folded.slice(0, 2)).toEqual(said);
    expect(foldLines(lines.slice(0, 1), at(300))).toEqual(said);
    expect(folded.at(-1)).toBe(`     $ ${command}`);
  });

  test('of a name and its value goes on below the value', () => {
    expect(foldLines(['  ship to  Ada Lovelace, 100 Congress Avenue, Austin TX 78701 US'], at(50))).toEqual([
      '  ship to  Ada Lovelace, 100 Congress Avenue,',
      '           Austin TX 78701 US',
    ]);
  });

  test('in columns stays as it is, and a wide one is rather too short', () => {
    const columns = `2026-06-15T12:00:00.000Z  ${id}  order_placed  in_transit`;
    expect(foldLines([columns], at(50))).toEqual([columns]);
    const wide = foldLines([`note: ${'数据 '.repeat(30).trim()}`], at(40));
    for (const line of wide)
      expect(line.length + (line.match(/[数据]/g)?.length ?? 0)).toBeLessThanOrEqual(40);
  });

  test('of a pipe or a file stays byte for byte', async () => {
    const { io, err } = capture();
    noteLines([long], io);
    expect(err.text).toBe(`${long}\n`);
    expect(foldLines([long], at(10))).toEqual([long]);
    const piped = capture();
    await renderError(new ErrandError('conflict', long), piped.io, 'table', { debug: false });
    expect(piped.err.text).toBe(`error: ${long}\n`);
  });

  test('is broken where it is an error, too', async () => {
    const { io, err } = capture({}, { terminal: true, columns: 50 });
    const next = [{ command: `errand order get ${id}`, when: 'to see where it stands' }];
    await renderError(new ErrandError('conflict', long, { hint: long, next }), io, 'table', { debug: false });
    const lines = err.text.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^error: note: no$/);
    expect(lines.slice(-2)).toEqual([`try: errand order get ${id}`, '  to see where it stands']);
    expect(lines.filter((line) => line.startsWith('  ')).length).toBeGreaterThan(4);
  });
});
