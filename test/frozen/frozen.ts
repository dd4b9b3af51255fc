import { existsSync, readFileSync } from 'node:fs';
import { expect, type TestContext } from 'vitest';
import { refill, refills } from '../support/refill.ts';

/**
 * Compares lines with those of a committed file. A name that users, files, databases or programs know changes only on purpose:
 * `UPDATE_GOLDEN=1 npx vitest run test/frozen` writes them anew.
 */
export function expectFrozen(context: TestContext, name: string, text: string): void {
  const file = new URL(name, import.meta.url);
  if (refills('UPDATE_GOLDEN')) refill(context, file, text);
  else expect(text).toBe(existsSync(file) ? readFileSync(file, 'utf8') : '');
}
