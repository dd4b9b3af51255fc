import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import type { JournalOptions } from '../../src/journal/journal.ts';
import { Journal } from '../../src/journal/journal.ts';
import { type Intent, paidAccount } from '../../src/journal/journal-record.ts';
import { bundledModule } from './bundled.ts';
import { isOnPostgres, takeDatabase } from './store.ts';

export const baseUrl = 'https://service.example';

/** An order intent as recorded in the journal. */
export const intent = (key: string, max_price = 5000): Intent => ({
  key,
  keyOrigin: 'made',
  operation: 'order.create',
  profile: 'work',
  baseUrl,
  keyMasked: 'xx_test_…a1b2',
  account: 'a-fingerprint',
  body: { products: [{ url: 'https://shop.example/1' }], max_price, idempotency_key: key },
});

/** An order intent paid by challenge. */
export const paidIntent = (key: string, max_price = 5000): Intent => ({
  ...intent(key, max_price),
  operation: 'agent.order.create',
  keyMasked: 'payment by sandbox',
  account: paidAccount,
  payment: { challenge_id: 'c1', method: 'sandbox', amount: '5100', currency: 'usd', expires: null },
});

/** Database URL per test directory, if the store is PostgreSQL. */
const databases = new Map<string, string | undefined>();

function databaseFor(folder: string): string | undefined {
  if (!databases.has(folder)) databases.set(folder, takeDatabase());
  return databases.get(folder);
}

/** Opens a directory's journal on the store under test. */
export function openJournal(
  folder: string,
  now: () => number,
  options: JournalOptions = {},
): Promise<Journal> {
  const url = databaseFor(folder);
  return Journal.open(folder, now, {
    ...options,
    ...(url !== undefined && { shared: { address: { url, shown: 'the database' } } }),
  });
}

/** What scripts import `Journal`, `connect` and `openWebhookStore` from, as a literal. */
export const journalModule = await bundledModule(new URL('./journal-elsewhere.ts', import.meta.url));

/** Script prologue and environment for a separate process that opens a directory's journal as `journal`. */
export function openingIn(
  folder: string,
  nowMs: number,
  place = folder,
): { readonly opens: string; readonly env: NodeJS.ProcessEnv } {
  const opens = `const { Journal } = await import(${journalModule});
    const url = process.env.DATABASE;
    const options = url ? { shared: { address: { url, shown: 'the database' } } } : {};
    const journal = await Journal.open(${JSON.stringify(place)}, () => ${nowMs}, options);`;
  return { opens, env: { ...process.env, DATABASE: databaseFor(folder) ?? '' } };
}

/**
 * Runs `work` in another process, which is then killed without closing the journal. On a shared store it runs as
 * another machine, and its lease is expired unless `leaseHolds`. @param work with `journal` in scope.
 */
export function inAnotherProcess(folder: string, nowMs: number, work: string, leaseHolds = false): void {
  const place = isOnPostgres ? `${folder}-elsewhere` : folder;
  const { opens, env } = openingIn(folder, nowMs, place);
  const script = `${opens}
    ${work};
    ${isOnPostgres && !leaseHolds ? endOfLeases : ''}
    process.kill(process.pid, 'SIGKILL');`;
  const node = ['--input-type=module', '-e', script];
  const { signal, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8', env });
  // A machine may lose its local copy at any time.
  if (isOnPostgres) rmSync(place, { recursive: true, force: true });
  expect(signal, stderr).toBe('SIGKILL');
}

/** Expires all leases. Bumps the sequence number like any change, so that local copies pick it up. */
const endOfLeases = `const { connect } = await import(${journalModule});
  const sql = await connect({ url, shown: '' });
  await sql.unsafe(\`UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
    UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = 'journal')\`).simple();`;

/** Records one order in another process, which then dies. */
export const recordedElsewhere = (folder: string, nowMs: number, key: string, max_price = 5000): void =>
  inAnotherProcess(folder, nowMs, `await journal.record(${JSON.stringify(intent(key, max_price))})`);
