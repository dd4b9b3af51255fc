/**
 * `npm run bench`: prints every figure with its target, in one table each for Node 20 and Node 24; leaves no files
 * behind.
 * Arguments select themes: `npx tsx bench/main.ts startup list`; `--this-node` runs on the current Node only.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { otherNode } from './other-node.ts';
import { printTable, type Row, type Theme } from './table.ts';

const themes: Readonly<Record<string, () => Promise<{ readonly measure: Theme }>>> = {
  startup: () => import('./startup.ts'),
  mcp: () => import('./mcp.ts'),
  get: () => import('./get.ts'),
  size: () => import('./size.ts'),
  journal: () => import('./journal.ts'),
  attempts: () => import('./attempts.ts'),
  pages: () => import('./orders-list.ts'),
  list: () => import('./list.ts'),
  export: () => import('./export.ts'),
  validate: () => import('./validate.ts'),
  upload: () => import('./upload.ts'),
  share: () => import('./share.ts'),
  watch: () => import('./watch.ts'),
  reconcile: () => import('./reconcile.ts'),
  batches: () => import('./batches.ts'),
  tables: () => import('./tables.ts'),
  history: () => import('./history.ts'),
  served: () => import('./served.ts'),
  placing: () => import('./placing.ts'),
  console: () => import('./console.ts'),
  'test-bed': () => import('./test-bed.ts'),
};

/** Themes that do not depend on the Node version. */
const alike: readonly string[] = ['size'];

const words = process.argv.slice(2);
const isAlone = words.includes('--this-node');
const requested = words.filter((word) => word !== '--this-node');
const unknown = requested.filter((name) => !(name in themes));
if (unknown.length > 0)
  throw new Error(`no theme ${unknown.join(', ')}; there are ${Object.keys(themes).join(', ')}`);

// It would add 36 ms to every Node start-up for reading certificates, bare or not, and flatter every start-up ratio.
delete process.env.NODE_EXTRA_CA_CERTS;

const wanted = requested.length > 0 ? requested : Object.keys(themes);
await inFolder(async (folder) => {
  // Redirect the program's compile cache so that a bench leaves nothing behind.
  process.env.XDG_CACHE_HOME = join(folder, 'caches');
  const other = isAlone ? undefined : otherNode(folder);
  await measureAll(wanted);
  const more = wanted.filter((name) => !alike.includes(name));
  if (other === undefined || more.length === 0) return;
  const tsx = fileURLToPath(import.meta.resolve('tsx/cli'));
  const args = [tsx, fileURLToPath(import.meta.url), '--this-node', ...more];
  const { status } = spawnSync(other, args, { stdio: 'inherit' });
  process.exitCode = status ?? 1;
});

async function measureAll(names: readonly string[]): Promise<void> {
  const rows: Row[] = [];
  for (const [name, load] of Object.entries(themes)) {
    if (!names.includes(name)) continue;
    process.stderr.write(`${name} … `);
    const began = performance.now();
    await inFolder(async (folder) => void rows.push(...(await (await load()).measure(folder))));
    process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0)} s\n`);
  }
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${process.platform}\n`);
  printTable(rows);
  console.log();
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
