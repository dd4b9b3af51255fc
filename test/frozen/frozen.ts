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
  else expect(text).toBe(committed(file));
}

/**
 * The same for what `docs/stability.md` calls stable: lines may come, and are written down by a refill. One that is gone
 * fails the refill too, so that it goes by hand or not at all.
 */
export function expectStable(context: TestContext, name: string, text: string): void {
  const gone = goneFrom(committed(new URL(name, import.meta.url)), text);
  if (gone.length > 0)
    expect.fail(
      `docs/stability.md says that these stay as they are:\n\n${gone.join('\n')}\n\nKeep them. What must go goes as that page says: delete its lines in test/frozen/${name}, and list it in CHANGELOG.md under Breaking.`,
    );
  expectFrozen(context, name, text);
}

/** Lines of `before` that `after` has no more, wherever they stood. */
export function goneFrom(before: string, after: string): string[] {
  const lines = new Set(after.split('\n'));
  return before.split('\n').filter((line) => !lines.has(line));
}

const committed = (file: URL): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
