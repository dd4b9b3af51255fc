import { win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathInside, safeFileName } from '../../../../src/commands/return/labels.ts';

test.each(['..', '.', '', 'a/b', '../a', '/a', 'a/..'])('%j is proved to leave its folder', (name) => {
  expect(() => pathInside('labels', name)).toThrow('would leave the folder');
});

describe('the name of a file, from outside', () => {
  test.each([
    ['1.pdf', '1.pdf'],
    ['Étiquette 2.pdf', 'Étiquette 2.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['/etc/cron.d/job', 'job'],
    ['C:evil.exe', 'C_evil.exe'],
    ['CON', '_CON'],
    ['nul.pdf', '_nul.pdf'],
    ['com1.tar.gz', '_com1.tar.gz'],
    ['a\0b.pdf', 'a_b.pdf'],
    ['\u001b]0;title\u0007.pdf', '0_title_.pdf'],
    ['exe.\u202efdp', 'exe._fdp'],
    ['.bashrc', 'bashrc'],
    ['-rf', 'rf'],
    ['a\u3164b\u115fc\u2066d\u200be.pdf', 'a_b_c_d_e.pdf'],
    ['/../../pwned', 'pwned'],
    ['label.pdf. .', 'label.pdf'],
    ['..', 'label'],
    ['', 'label'],
  ])('%j becomes %j', (given, expected) => {
    expect(safeFileName(given)).toBe(expected);
  });

  test('whatever it was, stays in its folder on every system, is short and can be read', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (given) => {
        const name = safeFileName(given);
        expect(name).toMatch(/^[\p{L}\p{N}_][\p{L}\p{N}._ -]*$/u);
        expect(name.endsWith('.') || name.endsWith(' ')).toBe(false);
        expect(win32.basename(name)).toBe(name);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(80);
        expect(name).not.toMatch(/[\p{C}\u3164\uffa0\u115f\u1160]/u);
      }),
      { numRuns: 500 },
    );
  });
});
