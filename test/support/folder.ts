import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary directory for a test. */
export function makeFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'errand-sandbox-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
