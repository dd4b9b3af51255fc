import { describe, expect, test } from 'vitest';
import { hasPostgres } from '../support/postgres.ts';
import { addresses, sentChunks, useWorkers } from './workers.ts';

const workers = useWorkers();
const { rows, write, bulk, begun, until, places, endLeases } = workers;

describe.skipIf(!hasPostgres)(
  'a shared upload that somebody with the role of the database has changed',
  () => {
    /** An upload whose only worker is killed once some rows are ordered. @returns the places that are ordered by then. */
    async function halfDone(): Promise<string[]> {
      write('december.csv', rows(30), [0, 1]);
      const worker = begun(0, 'december.csv', '--share', '--batch-size', '1');
      await until(`${sentChunks} > 3`);
      worker.child.kill('SIGKILL');
      await worker.ended;
      await endLeases();
      return places();
    }

    const open = "FROM errand.campaign_chunks WHERE kind = 'place' AND result IS NULL";
    const elsewhere = (from: string, to: string): string =>
      `UPDATE errand.campaign_chunks SET body = replace(body::text, '${from}', '${to}')::json
       WHERE kind = 'place' AND result IS NULL`;

    test.each<[string, () => string]>([
      ['orders that go to somebody else', () => elsewhere('"Austin"', '"Elsewhere"')],
      ['a higher ceiling', () => elsewhere('1000', '9000')],
      [
        'orders of other places of the file',
        () => `UPDATE errand.campaign_chunks AS one SET body = other.body FROM errand.campaign_chunks AS other
        WHERE one.campaign = other.campaign AND one.kind = 'place' AND other.kind = 'place' AND one.result IS NULL
          AND other.place = (SELECT max(place) ${open}) - one.place % 2`,
      ],
      [
        'other terms',
        () =>
          `UPDATE errand.campaigns SET terms = replace(terms::text, '"again":false', '"again":true')::json`,
      ],
      [
        'what is known of the file',
        () => `UPDATE errand.campaigns SET facts = (facts::jsonb || '{"since": 9000000000000}')::json`,
      ],
      [
        'no signature',
        () => `UPDATE errand.campaign_chunks SET body = (body::jsonb - 'mac')::json WHERE kind = 'place'`,
      ],
    ])('sends nothing of it: %s', async (_, sql) => {
      await halfDone();
      // An order may have been on its way when its worker was killed.
      expect((await bulk(2, 'list')).code).toBe(0);
      await workers.database.run(sql());
      const before = await places();
      for (const line of [['december.csv'], ['--name', 'december']]) {
        const { code, stderr } = await bulk(1, 'upload', ...line, '--share');
        expect([code, stderr], stderr).toEqual([
          5,
          expect.stringContaining('the shared upload december is not signed under the API key in use'),
        ]);
      }
      expect(await places()).toEqual(before);
      const anew = await bulk(1, 'upload', 'december.csv', '--share', '--name', 'anew', '--skip-duplicates');
      expect(anew.code, anew.stderr).toBe(0);
      expect(await places()).toEqual(addresses(30));
    });

    test.each([
      ['no more of its batches', `DELETE ${open}`],
      ['that it is done', "UPDATE errand.campaigns SET state = 'done'"],
    ])('is not called whole where the database has %s', async (_, sql) => {
      await halfDone();
      await workers.database.run(sql);
      for (const machine of [1, 2]) {
        const { code, stderr } = await bulk(machine, 'upload', '--name', 'december', '--share');
        expect([code, stderr]).toEqual([
          5,
          expect.stringContaining('not all of the shared upload december is ordered'),
        ]);
      }
    });
  },
);
