import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeSecret, maskAddress, secretOf } from '../../../src/integrations/webhooks/listener.ts';

test('secrets are long, fit for a path, and never the same', () => {
  const secrets = Array.from({ length: 100 }, makeSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) expect(secret).toMatch(/^[\w-]{32}$/);
});

test.each([
  ['http://127.0.0.1:4000/abcdefghijklmnopqrstuvwxyz', 'http://127.0.0.1:4000/…wxyz'],
  ['https://me:pass@hooks.example/errand', 'https://…@hooks.example/errand'],
  ['https://hooks.example/a?token=s3cret&x=1', 'https://hooks.example/a?token=…&x=…'],
  ['https://hooks.example/plain#part', 'https://hooks.example/plain'],
  ['s3cret', '…'],
])('%s is shown as %s', (address, shown) => {
  expect(maskAddress(address)).toBe(shown);
});

describe('a secret in a file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'errand-secret-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('is made where there is none, for its owner only, and stays', () => {
    const file = join(folder, 'secret');
    const made = secretOf(file, () => {});
    expect(readFileSync(file, 'utf8')).toBe(`${made}\n`);
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(secretOf(file, () => {})).toBe(made);
  });

  test.each(['', 'short', `${'x'.repeat(20)}/..`, 'x'.repeat(300)])('is refused where it is %j', (text) => {
    const file = join(folder, 'secret');
    writeFileSync(file, text);
    expect(() => secretOf(file, () => {})).toThrow(`--secret-file ${file} must hold`);
  });

  test('is refused where the file cannot be used', () => {
    expect(() => secretOf(join(folder, 'no', 'such'), () => {})).toThrow('--secret-file');
    expect(() => secretOf(folder, () => {})).toThrow('--secret-file');
  });
});
