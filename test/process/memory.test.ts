import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { peer } from '../support/peer.ts';
import { spawned } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const teller = fileURLToPath(new URL('./memory.cjs', import.meta.url));
const rowCount = 250_000;
const pieces = 800;

let workspace: Workspace;
let told: string;
beforeEach(() => {
  workspace = makeWorkspace({
    NODE_OPTIONS: `--require ${teller}`,
    ERRAND_API_KEY: 'xx_test_abcdefghijkl1234',
  });
  told = join(workspace.folder, 'young');
  workspace.environment.YOUNG_GENERATION = told;
});
afterEach(() => workspace.remove());

/** Size of V8's young generation at exit, MB. */
async function youngAfter(...args: readonly string[]): Promise<number> {
  const { code, stderr } = await spawned(workspace, args);
  expect(code, stderr).toBe(0);
  return Number(readFileSync(told, 'utf8')) / 2 ** 20;
}

test('a long command keeps V8 from taking more memory the longer it runs', async () => {
  const file = join(workspace.folder, 'orders.csv');
  const heading = 'product_url,max_price_cents,name,address_line1,city,state,postal_code,phone_number';
  const row = 'https://www.example.com/products/1,5000,Ada Byron,1 Main Street,Austin,TX,78701,5125550100';
  writeFileSync(file, `${heading}\n${`${row}\n`.repeat(rowCount)}`);
  expect(await youngAfter('bulk', 'validate', file, '--local')).toBeLessThanOrEqual(32);
});

test('what is only passed on takes half of it at most', async () => {
  const rows = Buffer.from('0b7f4c52-3d0e-4f0c-9a55-6f3f1e7a9b10,pending,5000,Ada,-1,Austin\n'.repeat(1_000));
  const csv = Readable.from(Array.from({ length: pieces }, () => rows));
  const there = await peer((response) => {
    response.setHeader('content-type', 'text/csv');
    csv.pipe(response);
  });
  workspace.environment.ERRAND_BASE_URL = there.url;
  expect(await youngAfter('order', 'export')).toBeLessThanOrEqual(16);
});
