import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Invalid } from '../../../../src/sandbox/server/refusal.ts';
import { readJson } from '../../../../src/sandbox/server/request.ts';

const limits = { entries: 1_000, values: 10_000 };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('JSON from outside', () => {
  test('any value that JSON can write is read as it was', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }).filter((value) => !JSON.stringify(value).includes('__proto__')),
        (value) => {
          const text = JSON.stringify(value, null, 1);
          expect(readJson(bytes(text), limits)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('whatever else comes is refused and never breaks', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (garbage) => {
        try {
          readJson(garbage, limits);
        } catch (error) {
          expect(error).toBeInstanceOf(Invalid);
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['the same key twice', '{"a":1,"a":2}'],
    ['the same key written in two ways', '{"a":1,"\\u0061":2}'],
    ['the same key twice, deep down', '{"x":[{"b":{"c":1,"c":1}}]}'],
    ['__proto__', '{"__proto__":{}}'],
    ['__proto__ in disguise', '{"\\u005f_proto__":{}}'],
    ['101 levels', `${'['.repeat(101)}${']'.repeat(101)}`],
  ])('%s is refused', (_, text) => {
    expect(() => readJson(bytes(text), limits)).toThrow(Invalid);
  });

  test.each([
    ['one key in two objects', '[{"a":1},{"a":2}]'],
    ['marks inside of text', '{"a":"{\\"a\\":1,[[[","b":"\\\\"}'],
    ['100 levels', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['names of the prototype that change nothing', '{"constructor":1,"toString":2}'],
  ])('%s is taken', (_, text) => {
    expect(readJson(bytes(text), limits)).toEqual(JSON.parse(text));
  });

  test.each([
    [
      'a list',
      `{"a":[{"b":[${Array(1_001).fill(1)}]}]}`,
      ['body', 'a', 'b'],
      'List should have at most 1000 items',
    ],
    [
      'an object',
      `{"a":{${Array.from({ length: 1_001 }, (_, key) => `"${key}":{}`)}}}`,
      ['body', 'a'],
      'Dictionary should have at most 1000 items',
    ],
    [
      'all of it',
      `[${Array(20).fill(`[${Array(900).fill(0)}]`)}]`,
      ['body'],
      'the body should have at most 10000 values',
    ],
  ])('%s with too many entries is refused where it stands', (_, text, loc, msg) => {
    const refused = (): unknown => readJson(bytes(text), limits);
    expect(refused).toThrow(expect.objectContaining({ issues: [{ loc, msg, type: 'too_long' }] }));
  });

  test('as many as may be are taken', () => {
    const text = `{"a":[${Array(1_000).fill(1)}]}`;
    expect(readJson(bytes(text), limits)).toEqual(JSON.parse(text));
  });

  test('what comes after too many entries is not looked at', () => {
    const text = `[${Array(1_001).fill(1)},${'"'.repeat(9_000_000)}`;
    expect(() => readJson(bytes(text), limits)).toThrow(Invalid);
  });
});
