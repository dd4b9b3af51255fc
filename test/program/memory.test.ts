import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { errand } from './run.ts';
import { makeWorkspace } from './workspace.ts';

const teller = fileURLToPath(new URL('./memory.cjs', import.meta.url));
const rowCount = 250_000;

test('a long command keeps V8 from taking more memory the longer it runs', { timeout: 60_000 }, async () => {
  const workspace = makeWorkspace({ NODE_OPTIONS: `--require ${teller}` });
  onTestFinished(workspace.remove);
  const [file, told] = [join(workspace.folder, 'orders.csv'), join(workspace.folder, 'young')];
  workspace.environment.YOUNG_GENERATION = told;
  const heading = 'product_url,max_price_cents,name,address_line1,city,state,postal_code,phone_number';
  const row = 'https://www.example.com/products/1,5000,Ada Byron,1 Main Street,Austin,TX,78701,5125550100';
  writeFileSync(file, `${heading}\n${`${row}\n`.repeat(rowCount)}`);
  const { code, stderr } = await errand(workspace, ['bulk', 'validate', file, '--local'], {
    timeoutMs: 60_000,
  });
  expect(code, stderr).toBe(0);
  expect(Number(readFileSync(told, 'utf8')) / 2 ** 20).toBeLessThanOrEqual(32);
});
