import { expect, test } from 'vitest';
import { leftOut } from '../../../../src/cli/output/left-out.ts';

const hidden = ['delivery', 'total', 'ceiling', 'created', 'product'];

test('the hidden columns are told in one line that does not wrap', () => {
  expect(leftOut({ hidden, narrowed: [] }, { name: 'id', isNumbered: false }, 72)).toEqual([
    '5 columns hidden: delivery and 4 more; widen the terminal or use -o json',
  ]);
  const whole =
    '5 columns hidden: delivery, total, ceiling, created, product; widen the terminal or use -o json';
  expect(leftOut({ hidden, narrowed: [] }, { name: 'id', isNumbered: false }, whole.length)).toEqual([whole]);
  expect(leftOut({ hidden, narrowed: [] }, { name: 'id', isNumbered: false }, undefined)).toEqual([whole]);
});

test('an id that is cut says how to have it whole; a title that is cut says nothing', () => {
  const narrowed = ['title', 'url'];
  expect(leftOut({ hidden: [], narrowed }, { name: 'url', isNumbered: false }, 80)).toEqual([
    'url is cut short; -o id prints it whole',
  ]);
  expect(leftOut({ hidden: [], narrowed }, { name: 'url', isNumbered: true }, 80)).toEqual([
    'url is cut short; @1 names the first row, -o id prints it whole',
  ]);
  expect(leftOut({ hidden: [], narrowed }, { name: 'product_id', isNumbered: true }, 80)).toEqual([]);
});

test('what stands in place of an id is not what -o id prints', () => {
  const milestone = { name: 'milestone', isNumbered: false, value: () => 'Order placed' };
  expect(leftOut({ hidden: [], narrowed: ['milestone'] }, milestone, 80)).toEqual([
    'milestone is cut short; -o json prints it whole',
  ]);
});
