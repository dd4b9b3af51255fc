import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyHash, canonicalJson } from '../../../src/format/canonical.ts';

/** Reference output from JSON.stringify, with object members sorted by name. */
const written = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

test('canonical JSON has the members of every object in the order of their names', () => {
  expect(canonicalJson({ b: [{ d: 1, c: undefined }, undefined], a: null })).toBe(
    '{"a":null,"b":[{"d":1},null]}',
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(value)).toBe(written(value));
    }),
  );
});

test('names that an object inherits by, and those that differ from the last object in one alone, are as written', () => {
  const odd: unknown = JSON.parse('{"b":1,"__proto__":{"y":1,"x":2},"a":[{"__proto__":3}]}');
  expect(canonicalJson(odd)).toBe('{"__proto__":{"x":2,"y":1},"a":[{"__proto__":3}],"b":1}');
  expect(
    canonicalJson([
      { b: 1, a: 2 },
      { b: 1, A: 2 },
      { a: 2, b: 1 },
      { c: 3, b: 1 },
    ]),
  ).toBe('[{"a":2,"b":1},{"A":2,"b":1},{"a":2,"b":1},{"b":1,"c":3}]');
});

test('the hash of a body is the one that it has had from the first, for the keys of rows follow from it', () => {
  const body = {
    products: [{ url: 'https://a.example/1', quantity: 1 }],
    max_price: 5000,
    idempotency_key: 'k',
  };
  expect(bodyHash(body)).toBe('87925d83e62aa44844c4aa428d7fb2ac3251d7d5767a5135c027907e873637c8');
});
