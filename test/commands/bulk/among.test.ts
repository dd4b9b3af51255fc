import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { sandboxFile } from '../../../src/sandbox/config.ts';
import { embeddedShop, errand } from '../../support/run.ts';
import { makeWorkspace, prefer } from '../../support/workspace.ts';

const rowsEach = 300;

test('a watch of one batch brings those before it forward, too: first come, first served', async () => {
  const workspace = makeWorkspace();
  try {
    const run = (...args: string[]) => errand(workspace, args);
    prefer(workspace, { 'sandbox-speed': 50 });
    const product = `${await embeddedShop()}test-success`;
    await run('sandbox', 'trigger', 'wallet-funded', '--amount-cents', '10000000');
    const ids: string[] = [];
    for (const file of ['a.csv', 'b.csv', 'c.csv']) {
      const rows = Array.from(
        { length: rowsEach },
        (_, at) => `${product},5000,Ada Byron,${at} ${file},Austin,TX,78701,5125550100`,
      );
      const text = ['product_url,max_price_cents,name,address,city,state,zip,phone', ...rows, ''].join('\n');
      writeFileSync(join(workspace.folder, file), text);
      ids.push((await run('bulk', 'upload', file, '-o', 'id')).stdout.trim());
    }
    const watched = await run('bulk', 'watch', ids[2] ?? '', '--timeout', '10m');
    expect(watched.code, watched.stderr).toBe(0);
    // Read the database directly: a request would itself advance the batches.
    const database = new (loadSqlite())(sandboxFile(join(workspace.folder, '.state')));
    const left = database.prepare('SELECT count(*) AS rows FROM batch_rows WHERE due IS NOT NULL').get();
    database.close();
    expect(left).toEqual({ rows: 0 });
  } finally {
    workspace.remove();
  }
});
