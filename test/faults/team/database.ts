import type { TeamDatabase } from '../../team/postgres.ts';
import { brokenRows } from '../chain.ts';

/** What is wrong with the audit chain that a database holds; nothing where it was never used. */
export async function brokenDatabase(database: TeamDatabase): Promise<string[]> {
  const [made] = await database.rows<{ is: boolean }>("SELECT to_regclass('errand.audit') IS NOT NULL AS is");
  if (!made?.is) return [];
  const [rows, [tally]] = await Promise.all([
    database.rows<Record<string, unknown>>('SELECT * FROM errand.audit ORDER BY number'),
    database.rows<{ count: number }>('SELECT count FROM errand.tally'),
  ]);
  return brokenRows(rows, Number(tally?.count ?? 0)).map((broken) => `in the database: ${broken}`);
}

/** Time passes: the leases of processes that are gone have ended. */
export async function endLeases(database: TeamDatabase): Promise<void> {
  const [made] = await database.rows<{ is: boolean }>(
    "SELECT to_regclass('errand.leases') IS NOT NULL AS is",
  );
  if (!made?.is) return;
  // A change like any other: copies learn of it by its number.
  await database.run(`
    BEGIN;
    UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
    UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = 'journal');
    COMMIT`);
}
