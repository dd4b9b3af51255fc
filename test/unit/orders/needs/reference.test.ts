import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Reference } from '../../../../src/journal/attempts.ts';
import {
  attemptKey,
  composedReference,
  metadataOf,
  namespaceProblem,
  referenceIn,
  referenceKey,
  referenceOf,
  referenceProblem,
} from '../../../../src/orders/needs/reference.ts';

test('a reference is trimmed and composed, and its case counts', () => {
  expect(referenceOf(' cafe\u0301-1 ', ' shop ')).toStrictEqual({ namespace: 'shop', text: 'café-1' });
  expect(referenceOf('REQ-1')).not.toStrictEqual(referenceOf('req-1'));
  expect(referenceOf('REQ-1', '', 'may').text).toBe('REQ-1~may');
});

test.each([
  ['', 'is empty'],
  [' \t', 'is empty'],
  ['a\u200bb', 'holds a character that cannot be seen'],
  ['a\nb', 'holds a character that cannot be seen'],
  ['x'.repeat(201), 'has 201 characters; at most 200 are allowed'],
  ['😀'.repeat(200), undefined],
  ['#1001', undefined],
  ['REQ-00006 / 3', undefined],
])('what can be a reference: %j', (text, problem) => {
  expect(referenceProblem(text)).toBe(problem);
});

test.each([
  ['', undefined],
  ['shop-1', undefined],
  ['a:b', 'takes letters, digits, ".", "_", "/" and "-"'],
  ['x'.repeat(61), 'has 61 characters; at most 60 are allowed'],
])('what can be a namespace: %j', (text, problem) => {
  expect(namespaceProblem(text)).toBe(problem);
});

test.each<readonly [string, Reference]>([
  ['REQ-00006', { namespace: '', text: 'REQ-00006' }],
  ['shop:#1001', { namespace: 'shop', text: '#1001' }],
  [':a:b', { namespace: '', text: 'a:b' }],
  ['a:b', { namespace: 'a', text: 'b' }],
])('the metadata of an order: %s', (metadata, reference) => {
  expect(metadataOf(reference)).toBe(metadata);
  expect(referenceIn({ [referenceKey]: metadata })).toStrictEqual(reference);
});

test('metadata that names no reference', () => {
  for (const metadata of [undefined, null, {}, 'x', { [referenceKey]: 5 }, { [referenceKey]: '' }])
    expect(referenceIn(metadata)).toBeUndefined();
});

test('two references are never written alike, and each is read back', () => {
  const namespace = fc.constantFrom('', 'a', 'shop.1', 'ü/b');
  const text = fc
    .string({ minLength: 1, maxLength: 12 })
    .filter((one) => referenceProblem(one) === undefined);
  fc.assert(
    fc.property(namespace, text, (space, one) => {
      const reference = referenceOf(one, space);
      expect(referenceIn({ [referenceKey]: metadataOf(reference) })).toStrictEqual(reference);
    }),
  );
});

test('the key of an attempt follows from reference and number alone', () => {
  expect(attemptKey({ namespace: '', text: 'REQ-00006' }, 1)).toBe('f6ce236714e320b3590c6690170c67faee2a');
  expect(attemptKey({ namespace: 'shop', text: '#1001' }, 2)).toBe('2f7dfacabce7f4c121abf478e4d7a0242696');
});

test('columns compose', () => {
  expect(composedReference([' R-1 ', '3'])).toBe('R-1/3');
  expect(composedReference(['R-1', ''])).toBe('R-1/');
  expect(composedReference(['', ' '])).toBe('');
});
