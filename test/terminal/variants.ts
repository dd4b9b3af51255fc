import { expect } from 'vitest';
import { errand } from '../support/run.ts';
import type { Workspace } from '../support/workspace.ts';

/** The URL of a product that comes in several variants. */
export async function withVariants(
  workspace: Workspace,
): Promise<{ url: string; choices: { dimension: string; value: string }[][] }> {
  const json = async (...args: string[]) =>
    JSON.parse((await errand(workspace, [...args, '-o', 'json'])).stdout);
  for (const { url } of await json('search', 'coffee beans')) {
    const { variants = [] } = await json('product', 'get', url);
    const choices = variants
      .filter(({ available }: { available: boolean }) => available)
      .map(({ variant_specifics }: { variant_specifics: object }) => variant_specifics);
    if (choices.length > 1) return { url, choices };
  }
  return expect.fail('no product has variants');
}
