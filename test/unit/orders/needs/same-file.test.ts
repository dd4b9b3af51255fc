import { expect, test } from 'vitest';
import type { Attempt } from '../../../../src/journal/attempts.ts';
import { SameFile } from '../../../../src/orders/needs/same-file.ts';

const row = (upload: string | undefined, change: Partial<Attempt> = {}): Attempt => ({
  ...{ serial: 1, run: undefined, number: 1, key: 'k', operation: 'bulk.create', upload, orderId: 'o' },
  ...{ state: 'placed', madeAt: 0, seenAt: 0, reference: undefined, likeness: 'alike' },
  ...change,
});

const found = (rows: readonly (readonly Attempt[])[]) => {
  const file = new SameFile();
  for (const related of rows) file.add(related);
  return file.found();
};

test('a file of which half the rows are those of one upload is that upload again', () => {
  expect(found([[row('may')], [row('may'), row('may')], [], []])).toStrictEqual({ upload: 'may', rows: 2 });
  expect(found([[row('may')], [row('april')], [], []])).toBeUndefined();
  expect(found([[row('may')], [row('may'), row('april')], [row('april')], [row('april')]])).toStrictEqual({
    upload: 'april',
    rows: 3,
  });
  expect(found([])).toBeUndefined();
});

test('what has ended, overlaps or was a single order says nothing', () => {
  const ended: readonly Attempt[] = [
    row('may', { state: 'failed' }),
    row('may', { likeness: 'overlap' }),
    row(undefined),
  ];
  expect(found(ended.map((one) => [one]))).toBeUndefined();
});
