import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatOf, formatOfCode, numberText } from '../../../../src/bulk/xlsx/number-format.ts';

describe('the format of a number', () => {
  test.each([
    ['General', { kind: 'plain' }],
    ['0', { kind: 'plain' }],
    ['0.00', { kind: 'plain' }],
    ['#,##0', { kind: 'plain' }],
    ['00000', { kind: 'mask', mask: '00000' }],
    ['00000;-00000', { kind: 'mask', mask: '00000' }],
    ['"$"#,##0.00', { kind: 'money', currency: '$' }],
    ['\\$#,##0.00', { kind: 'money', currency: '$' }],
    ['[$$-409]#,##0.00;[Red]-[$$-409]#,##0.00', { kind: 'money', currency: '$' }],
    ['_("$"* #,##0.00_);_("$"* (#,##0.00)', { kind: 'money', currency: '$' }],
    ['[$€-407]#,##0.00', { kind: 'money', currency: '€' }],
    ['#,##0.00 "€"', { kind: 'money', currency: '€' }],
    ['[$£-809]#,##0.00', { kind: 'money', currency: '£' }],
    ['"CHF" #,##0.00', { kind: 'money', currency: 'CHF' }],
    ['[$CA$-1009]#,##0.00', { kind: 'money', currency: 'CA$' }],
    ['$#,##0', { kind: 'money', currency: '$' }],
    ['00000\\-0000', { kind: 'mask', mask: '00000-0000' }],
    ['"PO-"0000', { kind: 'mask', mask: 'PO-0000' }],
    ['yyyy\\-mm\\-dd', { kind: 'date' }],
    ['d/m/yy', { kind: 'date' }],
    ['mmm', { kind: 'date' }],
    ['h:mm AM/PM', { kind: 'time' }],
    ['[h]:mm:ss', { kind: 'elapsed' }],
    ['yyyy-mm-dd hh:mm', { kind: 'date-time' }],
    ['0" days"', { kind: 'plain' }],
    ['[Red]0', { kind: 'plain' }],
  ] as const)('%s', (code, expected) => {
    expect(formatOfCode(code)).toEqual(expected);
  });

  test('of an id is that of the workbook, or of every workbook', () => {
    expect(formatOf(14, new Map())).toEqual({ kind: 'date' });
    expect(formatOf(14, new Map([[14, '000']]))).toEqual({ kind: 'mask', mask: '000' });
    expect(formatOf(999, new Map())).toEqual({ kind: 'plain' });
  });
});

describe('the text of a number', () => {
  test.each([
    ['2108', { kind: 'mask', mask: '00000' }, '02108'],
    ['78701', { kind: 'mask', mask: '00000' }, '78701'],
    ['12.5', { kind: 'mask', mask: '00000' }, '12.5'],
    ['5125550100', { kind: 'plain' }, '5125550100'],
    ['21081234', { kind: 'mask', mask: '00000-0000' }, '02108-1234'],
    ['12', { kind: 'mask', mask: 'PO-0000' }, 'PO-0012'],
    ['123456', { kind: 'mask', mask: 'PO-0000' }, 'PO-123456'],
    ['4503599627370496123', { kind: 'plain' }, '4503599627370496123'],
    ['1.5', { kind: 'elapsed' }, '36:00:00'],
    ['45.5', { kind: 'money', currency: '€' }, '€45.50'],
    ['45.5', { kind: 'money', currency: 'CHF' }, 'CHF 45.50'],
    ['0', { kind: 'date' }, '0'],
    ['5.12555E9', { kind: 'plain' }, '5125550000'],
    ['12.100000000000001', { kind: 'plain' }, '12.1'],
    ['50', { kind: 'money', currency: '$' }, '$50.00'],
    ['12.5', { kind: 'money', currency: '$' }, '$12.50'],
    ['19.999', { kind: 'money', currency: '$' }, '$19.999'],
    ['-5', { kind: 'money', currency: '$' }, '-5'],
    ['46380', { kind: 'date' }, '2026-12-24'],
    ['46380.75', { kind: 'date-time' }, '2026-12-24 18:00:00'],
    ['0.5', { kind: 'time' }, '12:00:00'],
    ['1', { kind: 'date' }, '1900-01-01'],
    ['61', { kind: 'date' }, '1900-03-01'],
    ['-1', { kind: 'date' }, '-1'],
    ['99999999999', { kind: 'date' }, '99999999999'],
    ['abc', { kind: 'date' }, 'abc'],
  ] as const)('%s as %j', (stored, format, expected) => {
    expect(numberText(stored, format, false)).toBe(expected);
  });

  test('counts days from 1904 where the workbook does', () => {
    expect(numberText('44918', { kind: 'date' }, true)).toBe('2026-12-24');
  });

  test('of a plain number is the number, whatever it is', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }), (value) => {
        const text = numberText(String(value), { kind: 'plain' }, false);
        expect(Math.abs(Number(text) - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-14);
      }),
    );
  });

  test('of a day is that day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 61, max: 2_900_000 }), (day) => {
        const text = numberText(String(day), { kind: 'date' }, false);
        expect(Date.parse(text) / 86_400_000 + 25_569).toBe(day);
      }),
    );
  });
});
