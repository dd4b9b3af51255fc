import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { errand, fastShop } from './run.ts';
import { copyOf, makeWorkspace, type Workspace } from './workspace.ts';

/**
 * Prepares one workspace per test file and gives each test its own copy.
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

/** Like `beginWithCopies`, with a fast sandbox. @param begin also receives the base URL of its products. */
export function beginInFastShop(begin: (workspace: Workspace, shop: string) => void): void {
  let shop = '';
  beginWithCopies(
    async (workspace) => {
      shop = await fastShop(workspace);
      // Creates the sandbox's key.
      await errand(workspace, ['wallet']);
    },
    (copy) => begin(copy, shop),
  );
}
