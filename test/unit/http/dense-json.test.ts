import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endOfObject } from '../../../src/http/sent-records.ts';

const mostDeep = 200;
const endOf = (text: string): number => endOfObject(Buffer.from(text), 1, mostDeep);
const isWhole = (text: string): boolean => endOf(text) === Buffer.byteLength(text);

test.each([
  ...['{}', '{"a":[]}', '{"a":[{},[[]]],"b":{"c":{}}}', '{"a":null,"b":true,"c":false}'],
  ...[
    '{"a":0,"b":-0,"c":-12.50,"d":1e9,"e":2E+7,"f":0.1e-3}',
    '{"a":"}]\\"\\\\","b":"Orl\\u00e9ans \\n é 😀"}',
  ],
  ...['{"a":" \u007f\u2028"}', '{"":"","":1}'],
])('%s is an object', (text) => {
  expect(() => JSON.parse(text)).not.toThrow();
  expect(endOf(`${text},`)).toBe(Buffer.byteLength(text));
});

test.each([
  ...[
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,}',
    '{"a":}',
    '{"a" 1}',
    '{a:1}',
    '{"a":1]',
    '{"a":[1}',
  ],
  ...['{"a":[1,]}', '{"a":[,1]}', '{"a":[', '{"a":[1', '{"a":"', '{"a":"\\', '{"a":"\\u12"}', '{"a":"\\x"}'],
  ...[
    '{"a":"\t"}',
    '{"a":"\u0000"}',
    '{"a":01}',
    '{"a":-}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":1e}',
    '{"a":1e+}',
  ],
  ...[
    '{"a":nul}',
    '{"a":nulL}',
    '{"a":trues}',
    '{"a":False}',
    '{"a":NaN}',
    '{"a":1\u00a0}',
    '{"a":\'b\'}',
    '{"a":1/**/}',
  ],
])('%s is none', (text) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(isWhole(text)).toBe(false);
});

test.each(['{"a": 1}', '{ "a":1}', '{"a":1 }', '{"a":[1, 2]}', '{"a" :1}', '{"a":1,\n"b":2}'])(
  'the spaces of %j are left to JSON.parse',
  (text) => {
    expect(endOf(text)).toBe(0);
  },
);

test('what is an object to JSON.parse is one, and nothing else', () => {
  const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }));
  const change = fc.option(
    fc.record({
      at: fc.nat({ max: 400 }),
      removed: fc.nat({ max: 2 }),
      added: fc.constantFrom('', ...'{}[]",:\\-+.eEu0x1nt\t\u0000é'),
    }),
  );
  fc.assert(
    fc.property(object, change, (value, changed) => {
      const whole = JSON.stringify(value);
      const at = (changed?.at ?? 0) % whole.length;
      const text = changed
        ? `{${whole.slice(0, at)}${changed.added}${whole.slice(at + changed.removed)}`.slice(1)
        : whole;
      if (!text.startsWith('{')) return;
      const spaced = /\s/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, ''));
      expect(isWhole(text)).toBe(parses(text) && !spaced);
    }),
    { numRuns: 3_000 },
  );
});

test('objects and arrays stand within each other no deeper than is said', () => {
  const nested = (depth: number): string => `${'{"a":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`;
  expect(isWhole(nested(mostDeep))).toBe(true);
  expect(isWhole(nested(mostDeep + 2))).toBe(false);
  expect(isWhole(nested(100_000))).toBe(false);
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
