import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { embeddedShop, errand, type Finished } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

export const place = (more: Record<string, string> = {}): Workspace => {
  const workspace = makeWorkspace(more);
  onTestFinished(workspace.remove);
  return workspace;
};

export type Row = Readonly<Record<string, unknown>>;

export const rowsOf = ({ stdout }: Finished): readonly Row[] => JSON.parse(stdout);
export const fileOf = ({ folder }: Workspace): string => join(folder, '.config/standing.yaml');
export const dayFrom = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

export const run = (workspace: Workspace, ...more: string[]) =>
  errand(workspace, ['standing', 'run', '-o', 'json', ...more]);

/** Advances the sandbox. A key that was not used for seven days expires. */
export async function advance(workspace: Workspace, ...steps: string[]): Promise<void> {
  for (const by of steps) {
    await errand(workspace, ['sandbox', 'advance', by]);
    await errand(workspace, ['wallet']);
  }
}

/** Adds an entry for a test product. Its first date is tomorrow. */
export async function add(workspace: Workspace, slug = 'test-success', ...more: string[]): Promise<Row> {
  const url = `${await embeddedShop()}${slug}`;
  const made = await errand(workspace, [
    ...['standing', 'add', 'coffee', '--product', url, '--max-price', '$50', '--ship-to', 'home'],
    ...['--every', '1w', '--late', '2d', ...more, '-o', 'json'],
  ]);
  expect(made.code, made.stderr).toBe(0);
  return JSON.parse(made.stdout);
}

/** The same, of a served sandbox: with an address of its own, and from today on. */
export async function addAt(workspace: Workspace, url: string): Promise<void> {
  const added = await errand(workspace, [
    ...['standing', 'add', 'coffee', '--product', `${url}/shop/test-success`, '--max-price', '$50'],
    ...['--first-name', 'Ada', '--last-name', 'Example', '--address-line1', '100 Congress Avenue'],
    ...['--city', 'Austin', '--state', 'TX', '--postal-code', '78701', '--country', 'US'],
    ...['--phone-number', '5125550100', '--every', '1w', '--starts', dayFrom(0), '--late', '3d'],
  ]);
  expect(added.code, added.stderr).toBe(0);
}

export const ordersIn = async (workspace: Workspace): Promise<number> =>
  rowsOf(await errand(workspace, ['order', 'list', '-o', 'json'])).length;
