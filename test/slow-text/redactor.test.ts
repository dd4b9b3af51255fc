import { expect, test } from 'vitest';
import { createRedactor } from '../../src/redact/redactor.ts';
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
