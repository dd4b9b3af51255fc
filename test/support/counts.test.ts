import { expect, test } from 'vitest';
import { miscounted } from './counts.ts';

test.each([
  [
    '5 rows: 5 ordered in 2 s\n5 orders: 2 placed, 3 failed\n3 failed: 2 out_of_stock, 1 max_price_exceeded',
    '',
  ],
  [
    '1,005 rows: 1,000 ordered, 5 refused in 2 s\n1,000 orders: 998 placed, 2 already ordered, not ordered again',
    '',
  ],
  ['20,000 rows: city is missing; first rows 2, 3, 4', ''],
  ['', 'ID  STATUS     ROWS  ORDERED  REFUSED  FILE\na   completed     5        4        1  5 of 9.csv'],
  ['', '{"type":"summary","rows":2,"ordered":2,"refused":0,"waiting":0,"placed":1,"failed":1}'],
])('counts that add up: %s %s', (stderr, stdout) => {
  expect(miscounted(stdout, stderr)).toBeUndefined();
});

test.each([
  ['5 rows: 4 ordered in 2 s', ''],
  ['5 rows: 5 ordered in 2 s\n4 orders: 2 placed, 2 failed', ''],
  ['5 orders: 2 placed, 2 failed', ''],
  ['3 failed: 2 out_of_stock', ''],
  ['', 'ID  STATUS     ROWS  ORDERED  REFUSED  FILE\na   completed     5        4        0  a.csv'],
  ['', 'ID  STATUS      ROWS  ORDERED  REFUSED  FILE\na   processing     5        4        2  a.csv'],
  ['', '{"type":"summary","rows":2,"ordered":1,"refused":0,"waiting":0,"placed":1,"failed":0}'],
  ['', '{"type":"summary","rows":2,"ordered":2,"refused":0,"waiting":0,"placed":1,"failed":0}'],
])('counts that do not: %s %s', (stderr, stdout) => {
  expect(miscounted(stdout, stderr)).toBeDefined();
});
