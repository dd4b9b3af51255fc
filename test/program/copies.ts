import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { errand, fastShop } from './run.ts';
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

/** The same, of a workspace whose sandbox is there and works fast. @param begin called with where its products are, too. */
export function beginInFastShop(begin: (workspace: Workspace, shop: string) => void): void {
  let shop = '';
  beginWithCopies(
    async (workspace) => {
      shop = await fastShop(workspace);
      // It gets its key.
      await errand(workspace, ['wallet']);
    },
    (copy) => begin(copy, shop),
  );
}
