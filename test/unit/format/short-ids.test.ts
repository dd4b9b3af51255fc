import { expect, test } from 'vitest';
import { ShortIds } from '../../../src/format/short-ids.ts';

const first = '9e2919b9-0000-4000-8000-000000000000';
const alike = '9e2919b9-0a00-4000-8000-000000000000';
const other = '5ed705d7-e0e2-4a56-9c2d-5da5e4e58f6c';

function shown(...ids: readonly string[]): string[] {
  const short = new ShortIds();
  for (const id of ids) short.learn(id);
  return ids.map((id) => short.short(id));
}

test('eight characters of a UUID tell it apart', () => {
  expect(shown(first, other)).toEqual(['9e2919b9', '5ed705d7']);
});

test('two that share a beginning show as much as tells them apart', () => {
  expect(shown(first, alike, other)).toEqual(['9e2919b9-00', '9e2919b9-0a', '5ed705d7']);
});

test('the same id twice needs no more', () => {
  expect(shown(first, first)).toEqual(['9e2919b9', '9e2919b9']);
});

test('what is no UUID stays whole', () => {
  const ids = ['xx_acct_12345678', '17', `${first} `, '9e2919b9-0000-4000-8000-00000000000g', ''];
  expect(shown(...ids)).toEqual(ids);
});

test('a list of any length is compared with its first rows alone', () => {
  const ids = Array.from(
    { length: 1000 },
    (_, index) => `${String(index).padStart(8, '0')}${first.slice(8)}`,
  );
  const short = new ShortIds();
  for (const id of [...ids, first, alike]) short.learn(id);
  expect([short.short(first), short.short(alike)]).toEqual(['9e2919b9', '9e2919b9']);
});
