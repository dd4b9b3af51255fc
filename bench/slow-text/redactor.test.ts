import { expect, test } from 'vitest';
import { createRedactor } from '../../src/platform/redact/redactor.ts';
import { growth, linear } from './growth.ts';

const repeated: readonly (readonly [before: string, part: string])[] = [
  ['', 'a'],
  ['', '"password":"'],
  ['', 'a://'],
  ['', 'xx_'],
  ['', '?sig='],
  ['', '"secret'],
  ['"', 'token_'],
  ['"token"', ' '],
  ['?', 'secret-'],
  ['', '\\'],
  ['', '%25'],
];
const knowing = createRedactor();
knowing.remember(['%%%%%%%%%%', 'aaaaaaaaaaaaaaaaaaab', '\\\\\\\\\\\\\\x', '&&&&&&&y']);

test.each(repeated)('a text of %s and then %s for ever is redacted in linear time', async (before, part) => {
  const redact = (size: number) => knowing.text(before + part.repeat(size / part.length));
  expect(await growth(redact, 20_000)).toBeLessThan(linear);
});

test('text that is nearly a key is redacted in linear time', async () => {
  const key = 'abc_test_Zq9Xw8Ec7Rv6Tb5Yn4Um3Ik2Ol1Pa0';
  const redactor = createRedactor();
  redactor.remember([key]);
  for (const piece of [key.slice(0, 20), key.slice(0, 11), '%25', '\\', '&amp;#', '\\u004'])
    expect(await growth((size) => redactor.text(piece.repeat(size)), 2000)).toBeLessThan(linear);
});
