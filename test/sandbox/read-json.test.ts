import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../src/sandbox/read-json.ts';
import { Invalid } from '../../src/sandbox/refusal.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('JSON from outside', () => {
  test('any value that JSON can write is read as it was', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }).filter((value) => !JSON.stringify(value).includes('__proto__')),
        (value) => {
          const text = JSON.stringify(value, null, 1);
          expect(readJson(bytes(text))).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('whatever else comes is refused and never breaks', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (garbage) => {
        try {
          readJson(garbage);
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
    expect(() => readJson(bytes(text))).toThrow(Invalid);
  });

  test.each([
    ['one key in two objects', '[{"a":1},{"a":2}]'],
    ['marks inside of text', '{"a":"{\\"a\\":1,[[[","b":"\\\\"}'],
    ['100 levels', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['names of the prototype that change nothing', '{"constructor":1,"toString":2}'],
  ])('%s is taken', (_, text) => {
    expect(readJson(bytes(text))).toEqual(JSON.parse(text));
  });

  test('ten megabytes of backslashes and quotes take no longer than they should', () => {
    const text = `"${'\\\\\\"'.repeat(2_500_000)}"`;
    const started = performance.now();
    readJson(bytes(text));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
