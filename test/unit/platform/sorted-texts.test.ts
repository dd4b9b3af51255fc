import { expect, test } from 'vitest';
import { SortedTexts } from '../../../src/platform/sorted-texts.ts';

/** More than memory holds, the newest first, some late and many of one time. */
const texts = Array.from({ length: 45_000 }, (_, index) => ({
  at: (index % 7 === 0 ? 99_991 * index : -Math.floor(index / 3)) % 50_000,
  text: `entry ${index} “ü”\n`,
}));

test.each([100, texts.length])(
  '%i texts are read in order of time, and of one time as they came',
  (count) => {
    const some = texts.slice(0, count);
    const sorted = new SortedTexts();
    for (const one of some) sorted.add(one);
    expect(sorted.count).toBe(count);
    const expected = some.toSorted((one, other) => one.at - other.at).map(({ text }) => text);
    expect([...sorted.read()]).toEqual(expected);
  },
);
