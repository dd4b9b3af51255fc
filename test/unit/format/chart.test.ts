import { expect, test } from 'vitest';
import { sparkline } from '../../../src/format/cell.ts';

test.each([
  ['nothing counted is a flat line', [0, 0, 0], '▁▁▁'],
  ['the most is the highest bar, and anything stands above nothing', [0, 1, 50, 100], '▁▂▅█'],
  ['a negative count is none', [-5, 10], '▁█'],
  ['an empty series is no chart', [], ''],
])('%s', (_, series, chart) => {
  expect(sparkline(series)).toBe(chart);
});

test('a terminal of ASCII gets ASCII', () => {
  expect(sparkline([0, 5, 10], { plain: true })).toBe('_+@');
  expect(sparkline([0, 5, 10], { plain: true })).toMatch(/^[\x20-\x7e]*$/);
});

test('a year fits in a line, no call of it lost', () => {
  const year = Array.from({ length: 365 }, (_, day) => (day === 364 ? 1 : 0));
  const chart = sparkline(year);
  expect(chart.length).toBeLessThanOrEqual(30);
  expect(chart.endsWith('█')).toBe(true);
});
