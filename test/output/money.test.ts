import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { formatMoney, parseMoney } from '../../src/output/money.ts';

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

describe('the amount of a price flag', () => {
  test.each([
    ['$50', 5000, 'USD'],
    ['50.00', 5000, undefined],
    ['50.5', 5050, undefined],
    ['$1,234.50', 123450, 'USD'],
    ['$1,234', 123400, 'USD'],
    ['EUR 50', 5000, 'EUR'],
    ['eur50', 5000, 'EUR'],
    ['50 EUR', 5000, 'EUR'],
    ['€50', 5000, 'EUR'],
    [' $50 ', 5000, 'USD'],
    ['0.07', 7, undefined],
    ['0', 0, undefined],
    ['1,234 JPY', 1234, 'JPY'],
    ['12.345 KWD', 12345, 'KWD'],
    ['$0.29', 29, 'USD'],
    ['1.15', 115, undefined],
    ['$90071992547409.91', Number.MAX_SAFE_INTEGER, 'USD'],
  ])('%s is %s cents', (text, cents, currency) => {
    expect(parseMoney(text, '--max-price')).toEqual(currency === undefined ? { cents } : { cents, currency });
  });

  test('a bare integer is refused with both readings', () => {
    expect(() => parseMoney('5000', '--max-price')).toThrow(
      new UsageError(
        "--max-price 5000 is ambiguous: write --max-price '$5000' for $5,000.00 or --max-price-cents 5000 for $50.00",
      ),
    );
    expect(() => parseMoney('5,000', '--min-price')).toThrow(
      /--min-price 5000 is ambiguous.*--min-price-cents 5000/,
    );
  });

  test.each([
    ['', /is empty/],
    ['   ', /is empty/],
    ['-5.00', /must not be negative/],
    ['-$5', /must not be negative/],
    ['$-5', /must not be negative/],
    ['-5000', /must not be negative/],
    ['50.001', /3 decimals.*at most 2/],
    ['JPY 50.5', /1 decimals; JPY has at most 0/],
    ['NaN', /takes an amount/],
    ['Infinity', /takes an amount/],
    ['1e5', /takes an amount/],
    ['0x10', /takes an amount/],
    ['50.', /takes an amount/],
    ['50,00', /takes an amount/],
    ['1,23.45', /takes an amount/],
    ['fifty', /takes an amount/],
    ['$50 EUR', /names the currency twice/],
    ['USD 50 USD', /names the currency twice/],
    ['ZZZ 50', /ZZZ is no currency/],
    ['$90071992547409.92', /too large/],
    ['99999999999999999999', /too large/],
    ['$99999999999999999999999.00', /too large/],
    ['9'.repeat(100_000), /takes an amount/],
    ['$'.repeat(100_000), /takes an amount/],
  ])('%s is refused, naming the flag', (text, reason) => {
    const refused = () => parseMoney(text, '--max-price');
    expect(refused).toThrow(UsageError);
    expect(refused).toThrow(reason);
    expect(refused).toThrow(/^--max-price/);
  });

  test('what was formatted parses back to the same cents and currency', () => {
    const currencies = fc.constantFrom('USD', 'EUR', 'CHF', 'JPY', 'KWD', 'GBP');
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), currencies, (cents, currency) => {
        expect(parseMoney(formatMoney(cents, currency), '--max-price')).toEqual({ cents, currency });
      }),
    );
  });

  test('any other text is a UsageError, never another failure', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[$€\-+.,0-9 A-Z]{0,12}$/)), (text) => {
        try {
          const { cents } = parseMoney(text, '--max-price');
          expect(Number.isSafeInteger(cents) && cents >= 0).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });
});
