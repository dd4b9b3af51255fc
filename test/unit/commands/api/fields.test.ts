import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  collectFields,
  emptyList,
  type FieldValue,
  splitField,
} from '../../../../src/commands/api/payload.ts';

const made = (...pairs: [string, FieldValue][]) => JSON.parse(JSON.stringify(collectFields(pairs)));

describe('fields', () => {
  test('brackets with a name open an object, empty ones a list', () => {
    expect(made(['a', 1], ['b[c]', 'x'], ['b[d][e]', true], ['f[]', 1], ['f[]', null])).toEqual({
      a: 1,
      b: { c: 'x', d: { e: true } },
      f: [1, null],
    });
  });

  test('a name that the last object of a list has begins the next one', () => {
    const pairs: [string, FieldValue][] = [
      ['products[][url]', 'u1'],
      ['products[][variant][][label]', 'Size'],
      ['products[][variant][][value]', 'L'],
      ['products[][variant][][label]', 'Color'],
      ['products[][url]', 'u2'],
    ];
    expect(made(...pairs)).toEqual({
      products: [{ url: 'u1', variant: [{ label: 'Size', value: 'L' }, { label: 'Color' }] }, { url: 'u2' }],
    });
  });

  test('a key with [] and no value is an empty list', () => {
    expect(splitField('-F', 'tags[]')).toEqual({ key: 'tags[]' });
    expect(made(['tags[]', emptyList])).toEqual({ tags: [] });
  });

  test('a value may hold an equals sign, and may be empty', () => {
    expect(splitField('-f', 'a=b=c')).toEqual({ key: 'a', value: 'b=c' });
    expect(splitField('-f', 'a=')).toEqual({ key: 'a', value: '' });
  });

  test.each(['=x', 'a', '', '[]'])('%j is no field', (text) => {
    expect(() => splitField('-F', text)).toThrow('-F takes key=value');
  });

  test.each([
    [['a', 'a'], 'given twice'],
    [['a', 'a[b]'], 'something else'],
    [['a[]', 'a[b]'], 'something else'],
    [['a[b]', 'a[]'], 'something else'],
    [['a[b'], 'not a name'],
    [['a]b['], 'not a name'],
    [['a[][]'], 'list of lists'],
    [[`a${'[b]'.repeat(40)}`], 'deeper'],
  ])('%j is refused', (keys, message) => {
    expect(() => collectFields(keys.map((key) => [key, 'x']))).toThrow(message);
  });

  test('a field named after a prototype is a field like any other', () => {
    expect(JSON.stringify(collectFields([['__proto__[polluted]', 'yes']]))).toBe(
      '{"__proto__":{"polluted":"yes"}}',
    );
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(made(['constructor[prototype][x]', 1])).toEqual({ constructor: { prototype: { x: 1 } } });
  });

  test('any plain object comes back from its leaves', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const name = fc.stringMatching(/^[a-z_]{1,5}$/);
    const tree = fc.dictionary(name, fc.dictionary(name, leaf, { minKeys: 1 }), { minKeys: 1 });
    fc.assert(
      fc.property(tree, (wanted) => {
        const pairs = Object.entries(wanted).flatMap(([outer, inner]) =>
          Object.entries(inner).map(([key, value]): [string, FieldValue] => [`${outer}[${key}]`, value]),
        );
        expect(made(...pairs)).toEqual(JSON.parse(JSON.stringify(wanted)));
      }),
    );
  });
});
