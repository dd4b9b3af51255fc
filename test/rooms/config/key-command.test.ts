import { describe, expect, test } from 'vitest';
import { readKeyCommand } from '../../../src/config/key-command.ts';

describe.runIf(process.platform !== 'win32')('a typed key command', () => {
  const read = (text: string) => readKeyCommand(text, { PATH: '/usr/bin:/bin' }).slice(1);

  test.each([
    ['sh -c true', ['-c', 'true']],
    ["  sh  'a  b'\t\"c 'd'\"  ", ['a  b', "c 'd'"]],
    ['sh a\\ b \'$HOME `x` | y\' "\\$x \\"y\\"" \'\'', ['a b', '$HOME `x` | y', '$x "y"', '']],
    ["sh -c 'pass show errand | head -1'", ['-c', 'pass show errand | head -1']],
    ['sh op://vault/item?attribute=otp #1 a~b', ['op://vault/item?attribute=otp', '#1', 'a~b']],
  ])('%s is split as a shell would split it', (text, words) => {
    expect(read(text)).toEqual(words);
  });

  test.each([
    'sh $HOME/key',
    'sh "$HOME/key"',
    'sh `cat key`',
    'pass show errand | head -1',
    'sh a; sh b',
    'sh a > b',
    'sh a\nsh b',
    'sh ~/key',
  ])('%s is refused, since no shell runs it', (text) => {
    expect(() => read(text)).toThrow(/is for a shell, and none runs it/);
  });

  test.each([
    ["sh 'a", "' has no end"],
    ['sh "a', '" has no end'],
    ['sh a\\', '\\ has no end'],
    ['', 'is empty'],
    ["''", 'is empty'],
    ['no-such-program-here a', 'there is no program no-such-program-here'],
    ['./no-such a', 'no-such is not a program that can be run'],
    ['sh zz_live_0123456789abcdefghij', 'holds a secret itself'],
  ])('%s is refused', (text, why) => {
    expect(() => read(text)).toThrow(why);
  });
});
