import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Journal } from '../../src/journal/journal.ts';
import { journalFile } from '../../src/journal/journal-tables.ts';
import { columnsOf, journalMirror, uploadsMirror } from '../../src/journal/postgres/tables.ts';
import { Uploads } from '../../src/journal/uploads.ts';
import { uploadsFile } from '../../src/journal/uploads-file.ts';
import { openReader } from '../../src/platform/sqlite/load.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';

interface Columns {
  readonly [table: string]: readonly string[];
}

const sorted = (columns: Readonly<Record<string, Iterable<string>>>): Columns =>
  Object.fromEntries(Object.entries(columns).map(([table, names]) => [table, [...names].sort()]));

const mirrored = (except: readonly string[] = []): Columns =>
  sorted(
    Object.fromEntries(
      [...journalMirror.tables, ...uploadsMirror.tables]
        .filter(({ name }) => !except.includes(name))
        .map((table) => [table.name, columnsOf(table)]),
    ),
  );

/** Tables of which a machine has no copy; its local ones serve a local journal. */
const unmirrored = ['attempts', 'attempt_accounts', 'attempt_parts', 'attempt_settings'];

/** Columns of every table in the two database files of a state directory. */
async function localColumns(): Promise<Columns> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-tables-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await (await Journal.open(folder, Date.now)).close();
  await (await Uploads.open(folder, Date.now)).close();
  const found: Record<string, string[]> = {};
  for (const file of [journalFile(folder), uploadsFile(folder)]) {
    const reader = openReader(file);
    const sql = `SELECT m.name AS name, c.name AS field FROM sqlite_master m, pragma_table_info(m.name) c
      WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`;
    for (const row of reader.prepare(sql).all()) {
      const { name, field } = Object(row);
      found[String(name)] = [...(found[String(name)] ?? []), String(field)];
    }
    reader.close();
  }
  return sorted(found);
}

describe.skipIf(!hasPostgres)('the tables that machines share', () => {
  const server = useServer();

  test('are all that a machine of its own has, column by column', async () => {
    const local = Object.entries(await localColumns()).filter(([name]) => !unmirrored.includes(name));
    expect(mirrored(['leases'])).toEqual(Object.fromEntries(local));
  });

  test('are those of the schema, with the number of their last change', async () => {
    const database = await server().newDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'errand-tables-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const address = { url: database.url, shown: 'the test' };
    await (await Journal.open(folder, Date.now, { shared: { address } })).close();
    const rows = await database.rows<{ table_name: string; column_name: string }>(
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'errand'",
    );
    const names = [...Object.keys(mirrored()), ...unmirrored];
    const found: Record<string, string[]> = {};
    for (const { table_name: name, column_name: field } of rows)
      if (names.includes(name)) found[name] = [...(found[name] ?? []), field];
    const wanted = Object.entries(mirrored()).map(([name, columns]) => [name, [...columns, 'seq']]);
    const shared = Object.entries(await localColumns()).filter(([name]) => unmirrored.includes(name));
    expect(sorted(found)).toEqual(sorted(Object.fromEntries([...wanted, ...shared])));
  });
});
