import { describe, expect, test } from 'vitest';
import { examplePolicy } from '../../../src/spending/policy/example.ts';
import { readPolicy } from '../../../src/spending/policy/read.ts';

const read = (text: string) => readPolicy('policy.yaml', text);
const limits = (text: string) => read(`version: 1\nlimits:\n  ${text}\n`).limits;

describe('a policy file', () => {
  test('the example reads, and so does all of it without the comment signs', () => {
    expect(read(examplePolicy).limits.map(({ rule, max }) => [rule, max])).toEqual([
      ['limits.per_order', 20_000],
      ['limits.per_day', 200_000],
    ]);
    const whole = read(examplePolicy.replace(/^( *)# (?=[a-z_]+:| {2}|- )/gm, '$1'));
    expect(whole.limits).toHaveLength(7);
    expect(whole).toMatchObject({
      timeZone: 'UTC',
      retailers: { kind: 'allow', names: ['www.shop.example'] },
      countries: { names: ['US'] },
      urls: { names: ['*gift-card*'] },
      duplicates: { same: ['product', 'address'], withinMs: 604_800_000, action: 'warn' },
      approveAbove: { max: 10_000 },
    });
    expect(whole.limits.at(-1)).toMatchObject({
      rule: 'per[2].per_month',
      max: 100_000,
      scope: { metadata: { team: 'office' } },
    });
  });

  test.each([
    ['per_order: $200', 20_000],
    ['per_order: 200.00', 20_000],
    ['per_order: $2,000.50', 200_050],
    ['per_order: USD 5', 500],
    ['per_order: 0', 0],
    ['quantity_per_line: 10', 10],
  ])('%s', (text, most) => {
    expect(limits(text)[0]?.max).toBe(most);
  });

  test.each([
    ['9,000', '"$9000.00"', 900_000],
    ['9.000,00', '"$9000.00"', 900_000],
    ['€9,000', '"$9000.00"', 900_000],
    ['$1234,567', '"$9000.00"', 900_000],
    ['$9,000k', '"$9000.00"', 900_000],
    ['$1,0', '"$9000.00"', 900_000],
    ['$1 000,50', '"$9000.00"', 900_000],
    ['$9,000', '"$9,000"', 900_000],
    ['1,250.50', '"1,250.50"', 125_050],
    ['9,000 USD', '"9,000 USD"', 900_000],
  ])('what is advised where a comma ends an amount is read: %s', (amount, advised, most) => {
    const policy = (value: string) => `version: 1\nlimits: { per_day: ${value}, per_month: $5 }`;
    const message = `the comma ends the value of ${amount}; within braces `;
    expect(() => read(policy(amount))).toThrow(message);
    expect(() => read(policy(amount))).toThrow(advised);
    expect(read(policy(advised)).limits[0]?.max).toBe(most);
  });

  test.each([
    ['limits: { per_order: $1 }', 'line 1: version: 1 is missing'],
    ['', 'line 1: a policy is a map: version: 1, …'],
    ['version: 2', 'line 1: version is 2; this errand knows version 1'],
    ['version: 1\nlimit:\n  per_order: $1', 'line 2: "limit" is not known; did you mean limits?'],
    ['version: 1\nlimits:\n  per_dya: $1', 'line 3: "per_dya" is not known in limits; did you mean per_day?'],
    [
      'version: 1\nlimits:\n  per_order: 200',
      'line 3: limits.per_order is 200, which can be read in two ways: write $200.00 or $2.00',
    ],
    ['version: 1\nlimits:\n  per_order: €200', 'line 3: limits.per_order €200 is not in USD'],
    ['version: 1\nlimits:\n  per_order: -$5', 'line 3: limits.per_order must not be negative'],
    ['version: 1\nlimits:\n  per_order: 2e2', 'line 3: limits.per_order takes an amount'],
    ['version: 1\nlimits:\n  per_order:', 'line 3: limits.per_order has no value'],
    ['version: 1\nlimits: []', 'line 2: limits takes a map'],
    ['version: 1\nlimits: {}', 'line 2: limits sets no limit'],
    [
      'version: 1\nlimits: { per_day: $1,000 }',
      'line 2: the comma ends the value of $1,000; within braces an amount with a comma needs quotes: "$1,000"',
    ],
    ['version: 1\nlimits: { per_order: $5, per_month: $9,000,000 }', 'needs quotes: "$9,000,000"'],
    ['version: 1\nlimits: { per_month: 9,000,000.50 USD, per_day: $5 }', 'needs quotes: "9,000,000.50 USD"'],
    ['version: 1\nlimits: { per_month: $9,000,\n  000 }', 'needs quotes: "$9,000,000"'],
    ['version: 1\nlimits: { per_day: 9,000,000 }', 'write an amount in quotes, such as "$9000.00"'],
    ['version: 1\nlimits:\n  per_order: $1\n  per_order: $2', 'line 4: "per_order" is given twice'],
    ['version: 1\nlimits: &a { per_order: $1 }\nper: [*a]', 'per[1] takes a map'],
    [
      'version: 1\ntime_zone: Mars/Olympus',
      'line 2: time_zone takes a time zone such as America/Chicago, not "Mars/Olympus"',
    ],
    ['version: 1\ncountries: [Germany]', 'line 2: countries[1] "GERMANY"'],
    ['version: 1\nretailers: { allow: [a], deny: [b] }', 'line 2: retailers takes either of allow or deny'],
    ['version: 1\nretailers: { allow: [] }', 'line 2: retailers.allow takes a list with at least one value'],
    ['version: 1\nper:\n  - per_day: $1', 'line 3: per[1] names no part of the orders'],
    ['version: 1\nper:\n  - retailer: a', 'line 3: per[1] sets no limit'],
    [
      'version: 1\nduplicates: { same: [product], within: 7, then: warn }',
      'duplicates.within 7 names no unit',
    ],
    [
      'version: 1\nduplicates: { same: [color], within: 7d, then: warn }',
      'takes product or address, not "color"',
    ],
    ['version: 1\napprove: $100', 'line 2: approve takes a map'],
    ['version: 1\noverrides: maybe', 'line 2: overrides takes terminal or never, not "maybe"'],
    ['version: 1\n---\nversion: 1', 'a second document begins here'],
    ['version: 1\nlimits: {', 'policy.yaml'],
  ])('is refused, naming the line: %j', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
