import type { TeamDatabase } from '../../support/postgres.ts';
import { brokenRows } from '../chain.ts';

/** Verifies the audit chain in a database; empty if it is intact or was never created. */
export async function brokenDatabase(database: TeamDatabase): Promise<string[]> {
  const [made] = await database.rows<{ is: boolean }>("SELECT to_regclass('errand.audit') IS NOT NULL AS is");
  if (!made?.is) return [];
  const [rows, [tally]] = await Promise.all([
    database.rows<Record<string, unknown>>('SELECT * FROM errand.audit ORDER BY number'),
    database.rows<{ count: number }>('SELECT count FROM errand.tally'),
  ]);
  return brokenRows(rows, Number(tally?.count ?? 0)).map((broken) => `in the database: ${broken}`);
}

/** Expires the leases of dead processes, as time would. */
export async function endLeases(database: TeamDatabase): Promise<void> {
  const [made] = await database.rows<{ is: boolean }>(
    "SELECT to_regclass('errand.leases') IS NOT NULL AS is",
  );
  if (!made?.is) return;
  // Bump the sequence number like any change, so that local copies pick it up.
  await database.run(`
    BEGIN;
    UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
    UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = 'journal');
    COMMIT`);
}
