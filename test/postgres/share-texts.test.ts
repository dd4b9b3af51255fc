import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { JobQueue } from '../../src/journal/postgres/queue.ts';
import { StorageError } from '../../src/platform/errors.ts';
import { hasPostgres } from '../support/postgres.ts';
import { useWorkers } from './workers.ts';

const workers = useWorkers();
const { row, write, bulk, run, places } = workers;

/** A lone surrogate, as in truncated text, and NUL: valid in JSON, but not in PostgreSQL text. */
const halves = 'out of \ud83d\0 stock';

describe.skipIf(!hasPostgres)('texts that a database cannot hold', () => {
  test('why one upload was refused keeps no other from being shared', async () => {
    // Opening the journal creates the tables.
    expect((await run(0, 'order', 'journal', 'list')).code).toBe(0);
    const queue = new JobQueue({ url: workers.database.url, shown: 'here' }, new AbortController().signal);
    const owner = { baseUrl: 'http://service.test', account: 'account' };
    const enter = async (name: string) => {
      const { own } = await queue.enter(owner, name, { sentWith: 'key', terms: { file: halves } });
      return own ?? expect.fail('it was not begun');
    };
    try {
      const december = await enter('december');
      await queue.work(december);
      await queue.refuse(december, { category: 'invalid', message: halves });
      expect((await queue.read(december))?.facts.message).toBe('out of \ufffd\ufffd stock');
      expect((await enter('june')).isReader).toBe(true);
      // As stored by an earlier version of errand.
      await workers.database.run(
        `UPDATE errand.campaigns SET facts = '{"message": "\\ud83d \\u0000"}' WHERE name = 'december'`,
      );
      expect((await enter('july')).isReader).toBe(true);
      expect((await enter('december')).isReader).toBe(true);
      await workers.database.run('DROP TABLE errand.campaign_chunks');
      await expect(queue.progress(december)).rejects.toThrow(StorageError);
    } finally {
      await queue.leave();
    }
  });

  test('NUL in a cell is refused, as without --share', async () => {
    write('december.csv', [row(1, '5000').replace('A B', 'A B\0')], [0]);
    const path = join(workers.machine(0).folder, 'december.csv');
    writeFileSync(path, Buffer.from(`\ufeff${readFileSync(path, 'utf8')}`, 'utf16le'));
    for (const more of [['--share'], []])
      expect(await bulk(0, 'upload', 'december.csv', ...more)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('holds NUL'),
      });
    expect(await places()).toEqual([]);
  });
});
