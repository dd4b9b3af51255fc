import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const cells = 'https://x.example/1,$45.00,Ada Byron,1 Main St,Austin,TX,78701,5125550100';
const check = (headings: string, ...more: string[]) => {
  writeFileSync(join(workspace.folder, 'theirs.csv'), `${headings}\n${cells}\n`);
  return errand(workspace, ['bulk', 'validate', 'theirs.csv', '--local', ...more]);
};
const maps = ['Item=product_url', 'Limit=max_price', 'Ort=city'].flatMap((map) => ['--map', map]);
const mine = 'Item,Limit,name,address,Ort,state,zip,phone';

test('headings that a saved map names in vain are told once, with its name', async () => {
  expect(await check(mine, ...maps, '--save-map', 'mine')).toMatchObject({ code: 0 });
  const other = await check('product_url,max_price,name,address,city,state,zip,phone', '--use-map', 'mine');
  expect(other.code).toBe(2);
  expect(other.stderr).toContain('the map mine names headings that are not there: Item, Limit, Ort');
  expect(other.stderr).not.toContain('--map names');
  const both = await check(mine.replace('Ort', 'city'), '--use-map', 'mine', '--map', 'Stadt=city');
  expect(both.stderr).toContain('--map names a heading that is not there: Stadt');
  expect(both.stderr).toContain('the map mine names a heading that is not there: Ort');
});

test('a map that is saved under the name of a preset says what it hides', async () => {
  const told = '--use-map shopify is now your map';
  expect((await check(mine, ...maps, '--save-map', 'shopify')).stderr).toContain(told);
  expect((await check(mine, ...maps, '--save-map', 'mine')).stderr).not.toContain(told);
});
