/**
 * `npm run bench`: every figure beside its aim, in one table; writes nothing that stays. Names after it run those themes
 * alone: `npx tsx bench/main.ts startup list`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { printTable, type Row, type Theme } from './table.ts';

const themes: Readonly<Record<string, () => Promise<{ readonly measure: Theme }>>> = {
  startup: () => import('./startup.ts'),
  mcp: () => import('./mcp.ts'),
  get: () => import('./get.ts'),
  size: () => import('./size.ts'),
  journal: () => import('./journal.ts'),
  pages: () => import('./orders-list.ts'),
  list: () => import('./list.ts'),
  export: () => import('./export.ts'),
  validate: () => import('./validate.ts'),
  upload: () => import('./upload.ts'),
  watch: () => import('./watch.ts'),
  batches: () => import('./batches.ts'),
  served: () => import('./served.ts'),
  console: () => import('./console.ts'),
  'test-bed': () => import('./test-bed.ts'),
};

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !(name in themes));
if (unknown.length > 0)
  throw new Error(`no theme ${unknown.join(', ')}; there are ${Object.keys(themes).join(', ')}`);

// With it each start of Node, bare or not, reads certificates for 36 ms, and every ratio of starts looks better.
delete process.env.NODE_EXTRA_CA_CERTS;

const rows: Row[] = [];
for (const [name, load] of Object.entries(themes)) {
  if (requested.length > 0 && !requested.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'));
  try {
    rows.push(...(await (await load()).measure(folder)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${process.platform}\n`);
printTable(rows);
