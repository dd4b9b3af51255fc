import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { copyOf, makeWorkspace, type Workspace } from './workspace.ts';

/**
 * Prepares one workspace for the tests of a file, and gives each of them a copy of its own.
 * @param begin called before each test.
 */
export function beginWithCopies(
  prepare: (workspace: Workspace) => Promise<unknown>,
  begin: (workspace: Workspace) => void,
): void {
  let prepared: Workspace;
  let copy: Workspace;
  beforeAll(async () => {
    prepared = makeWorkspace();
    await prepare(prepared);
  });
  afterAll(() => prepared.remove());
  beforeEach(() => {
    copy = copyOf(prepared);
    begin(copy);
  });
  afterEach(() => copy.remove());
}
