import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatMoney } from '../../../src/format/money.ts';
import { UsageError } from '../../../src/platform/errors.ts';
import { parseCeiling, parseMoney } from '../../../src/run/parse-option.ts';

describe('the amount of a price flag', () => {
  test.each([
    ['$50', 5000],
    ['50.00', 5000],
    ['50.5', 5050],
    ['$1,234.50', 123450],
    ['$1,234', 123400],
    ['USD 50', 5000],
    ['usd50', 5000],
    ['50 USD', 5000],
    ['50$', 5000],
    [' $50 ', 5000],
    ['0.07', 7],
    ['0', 0],
    ['$0.29', 29],
    ['1.15', 115],
    ['$90071992547409.91', Number.MAX_SAFE_INTEGER],
  ])('%s is %s cents', (text, cents) => {
    expect(parseMoney(text, '--max-price')).toBe(cents);
  });

  test.each(['EUR 50', '€50', '50 €', 'JPY 5000', '¥5000', 'KWD 50', '£50.00', '50 CHF', 'ZZZ 50'])(
    '%s is refused: the service takes one currency',
    (text) => {
      expect(() => parseMoney(text, '--max-price')).toThrow(
        `--max-price ${text} is not in USD; the service takes amounts in USD only`,
      );
    },
  );

  test.each(['$0', '0', '0.00', '$0.00', 'USD 0'])('a ceiling of %s is refused', (text) => {
    expect(parseMoney(text, '--min-price')).toBe(0);
    expect(() => parseCeiling(text, '--max-price')).toThrow('--max-price is $0.00');
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
    ['NaN', /takes an amount/],
    ['Infinity', /takes an amount/],
    ['1e5', /takes an amount/],
    ['0x10', /takes an amount/],
    ['50.', /takes an amount/],
    ['50,00', /takes an amount/],
    ['u\u017fd 50', /takes an amount/],
    ['1,23.45', /takes an amount/],
    ['fifty', /takes an amount/],
    ['$50 USD', /names the currency twice/],
    ['USD 50 USD', /names the currency twice/],
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

  test('what was formatted parses back to the same cents', () => {
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (cents) => {
        expect(parseMoney(formatMoney(cents), '--max-price')).toBe(cents);
      }),
    );
  });

  test('any other text is a UsageError, never another failure', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[$€\-+.,0-9 A-Z]{0,12}$/)), (text) => {
        try {
          const cents = parseMoney(text, '--max-price');
          expect(Number.isSafeInteger(cents) && cents >= 0).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });
});
