import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/api/limits.ts';
import { writeParameters } from '../../../src/api/operation.ts';
import { operations } from '../../../src/api/operations/index.ts';
import { checkShape } from '../../../src/api/schemas/check.ts';
import { orderBody } from '../../support/caller.ts';

/** One code point, two UTF-16 code units. */
const gift = '\u{1F381}';

describe('a length is counted in characters, an emoji being one', () => {
  const most = limits.giftMessageLength.max;
  const messages = (count: number): readonly string[] =>
    checkShape(
      'OrderCreate',
      { ...orderBody, is_gift: true, gift_message: gift.repeat(count) },
      'body',
    ).issues?.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`) ?? [];

  test('in a body', () => {
    expect(messages(most)).toEqual([]);
    expect(messages(most + 1)).toEqual([`body.gift_message: String should have at most ${most} characters`]);
  });

  test('in a query', () => {
    const { query, rules } = operations['order.list'];
    const issues = (count: number) =>
      writeParameters(query, rules, 'query', { metadata_key: 'k', metadata_value: gift.repeat(count) })
        .issues;
    expect(issues(limits.metadataValueLength.max)).toEqual([]);
    expect(issues(limits.metadataValueLength.max + 1)).toMatchObject([{ type: 'string_too_long' }]);
  });
});
