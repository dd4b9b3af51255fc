import { describe, expect, test } from 'vitest';
import { formatMoney } from '../../../src/format/money.ts';

describe('an amount for people', () => {
  test.each([
    [1234, undefined, '$12.34'],
    [-100, undefined, '-$1.00'],
    [0, undefined, '$0.00'],
    [7, undefined, '$0.07'],
    [123456789, undefined, '$1,234,567.89'],
    [1234, 'EUR', '€12.34'],
    [-5, 'eur', '-€0.05'],
    [1234, 'CHF', '12.34 CHF'],
    [-1234, 'CHF', '-12.34 CHF'],
    [1234, 'JPY', '1,234 JPY'],
    [12345, 'KWD', '12.345 KWD'],
    [1234, 'no currency', '12.34 NO CURRENCY'],
    [2 ** 60, undefined, '$11,529,215,046,068,469.76'],
    [10n ** 20n, undefined, '$1,000,000,000,000,000,000.00'],
    [12.5, undefined, '12.5 cents USD'],
  ])('%s cents in %s reads %s', (cents, currency, text) => {
    expect(formatMoney(cents, currency)).toBe(text);
  });
});
