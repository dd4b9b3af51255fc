import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkKey, keyMode, maskKey } from '../../../src/config/keys.ts';

describe('keys', () => {
  test('are shown by prefix, mode and last four characters', () => {
    expect(maskKey('xx_test_0123456789abcdefa1b2')).toBe('xx_test_…a1b2');
    expect(keyMode('xx_test_abc')).toBe('test');
    expect(keyMode('other_live_abc')).toBe('live');
    expect(keyMode('nothing')).toBeUndefined();
  });

  test('never show more of their secret than its last four characters', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{8,60}$/);
    fc.assert(
      fc.property(secret, (text) => {
        for (const key of [`pre_test_${text}`, text]) {
          const shown = maskKey(key).split('…')[1] ?? '';
          expect(shown.length).toBeLessThanOrEqual(4);
          expect(key.endsWith(shown)).toBe(true);
        }
      }),
    );
  });

  test.each(['', '  ', 'two words', 'line\nbreak', 'ключ'])('%j is refused, without showing it', (text) => {
    expect(() => checkKey(text, 'the key')).toThrow(/^the key/);
  });
});
