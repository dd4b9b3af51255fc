import { expect, test } from 'vitest';
import { leftOut } from '../../src/output/left-out.ts';

const hidden = ['delivery', 'total', 'ceiling', 'created', 'product'];

test('the hidden columns are told in one line that does not wrap', () => {
  expect(leftOut({ hidden, narrowed: [] }, 'id', false, 72)).toEqual([
    '5 columns hidden: delivery and 4 more; widen the terminal or use -o json',
  ]);
  const whole =
    '5 columns hidden: delivery, total, ceiling, created, product; widen the terminal or use -o json';
  expect(leftOut({ hidden, narrowed: [] }, 'id', false, whole.length)).toEqual([whole]);
  expect(leftOut({ hidden, narrowed: [] }, 'id', false, undefined)).toEqual([whole]);
});

test('an id that is cut says how to have it whole; a title that is cut says nothing', () => {
  const narrowed = ['title', 'url'];
  expect(leftOut({ hidden: [], narrowed }, 'url', false, 80)).toEqual([
    'url is cut short; -o id prints it whole',
  ]);
  expect(leftOut({ hidden: [], narrowed }, 'url', true, 80)).toEqual([
    'url is cut short; @1 names the first row, -o id prints it whole',
  ]);
  expect(leftOut({ hidden: [], narrowed }, 'product_id', true, 80)).toEqual([]);
});
