import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Row } from '../../../../src/format/result.ts';
import { printed } from '../../../support/streams.ts';

const list = (rows: readonly unknown[]) => ({ kind: 'list', rows: rows as Row[], columns: [] }) as const;

describe('YAML', () => {
  test('a list is a sequence of the records, an empty one []', async () => {
    const { out } = await printed(list([{ id: 'a', items: [{ quantity: 1 }] }, { id: 'b' }]), {
      format: 'yaml',
    });
    expect(out).toBe('- id: a\n  items:\n    - quantity: 1\n- id: b\n');
    expect((await printed(list([]), { format: 'yaml' })).out).toBe('[]\n');
  });

  test('what an older reader would take for a boolean, number or date is quoted', async () => {
    const record = { a: 'no', b: '2026-01-01', c: '012', d: '1e3', e: 'null', f: '12:30' };
    const { out } = await printed({ kind: 'record', record, columns: [] }, { format: 'yaml' });
    expect(parse(out, { version: '1.1' })).toEqual(record);
    expect(parse(out, { version: '1.2' })).toEqual(record);
  });

  test('any record reads back, and nothing in it reaches a terminal as a control', async () => {
    const texts = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,5}$/),
      fc.oneof(
        fc.jsonValue(),
        fc.string({
          unit: fc.constantFrom(
            '\u001b',
            '\u009b',
            '\u202e',
            '\u{e0041}',
            '\n',
            ' ',
            'a',
            ':',
            '#',
            '\u2028',
            '\t',
            '\0',
          ),
        }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (record) => {
        const plain = JSON.parse(JSON.stringify(record));
        const { out } = await printed({ kind: 'record', record: plain, columns: [] }, { format: 'yaml' });
        expect(parse(out)).toEqual(plain);
        expect(out.replace(/[\n\t]/g, '')).not.toMatch(
          /[\p{Cc}\p{Bidi_Control}\u2028\u2029\u{e0000}-\u{e0fff}]/u,
        );
      }),
    );
  });

  test('a number is written in decimal digits, however large or small, and reads back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true }), async (number) => {
        const { out } = await printed(
          { kind: 'record', record: { number }, columns: [] },
          { format: 'yaml' },
        );
        expect(out).toMatch(/^number: -?\d+(?:\.\d+)?\n$/);
        expect(parse(out).number).toBe(number);
      }),
      { examples: [[1e21], [-1.5e-7], [Number.MAX_VALUE], [5e-324]] },
    );
  });

  test('a record that is the same object twice has no aliases', async () => {
    const shared = { city: 'X' };
    expect((await printed(list([{ a: shared, b: shared }]), { format: 'yaml' })).out).not.toMatch(/[&*]/);
  });
});
