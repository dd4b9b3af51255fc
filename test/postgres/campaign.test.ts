import { describe, expect, test } from 'vitest';
import { hasPostgres } from '../support/postgres.ts';
import { runCampaign } from './campaign/run.ts';

describe.skipIf(!hasPostgres)('docs/examples/campaign.js', () => {
  test('two workers, one killed, and a crash of the database: each row is ordered once, at one pace', async () => {
    const report = await runCampaign({ rows: 60, workers: 2, rate: 3, kills: 1, crashes: 1 });
    expect(report).toMatchObject({ orders: 59, missing: [], doubled: [], campaigns: 1, leaked: [] });
    // Both began it, and a third start finds it done: the row that is no order is named by its number alone.
    const printed = [...report.printed, report.again].map((line) => JSON.parse(line));
    for (const one of printed)
      expect(one).toEqual({
        campaign: expect.stringMatching(/^[0-9a-f]{64}$/),
        rows: 60,
        ordered: 59,
        refused: [{ row: 60, category: 'usage' }],
      });
    expect(new Set(printed.map(({ campaign }) => campaign)).size).toBe(1);
    expect(report.maxBegun).toBe(3);
    // Two begin, one is killed, the crash ends at least one, and the last finds it done.
    expect(report.starts).toBeGreaterThanOrEqual(5);
  });
});
