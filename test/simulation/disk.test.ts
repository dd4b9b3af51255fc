import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { Random } from '../faults/random.ts';
import { makeFolder } from '../support/folder.ts';
import { Disk } from './disk.ts';
import { Connections } from './storage.ts';

/** Power cuts that each thing is tried with. */
const seeds = Array.from({ length: 20 }, (_, at) => at + 1);

let folder: ReturnType<typeof makeFolder>;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

describe('a database after a power cut', () => {
  /** Commits `first` with a sync and `second` with another setting, then cuts the power. @returns what is left. */
  function leftOf(seed: number, synchronous: 'FULL' | 'NORMAL' | 'OFF'): unknown[] {
    const path = join(folder.path, `${seed}`, 'some.db');
    mkdirSync(join(folder.path, `${seed}`));
    const disk = new Disk();
    const connections = new Connections(disk);
    const [connection, close] = connections.open(path, {});
    connection.exec('PRAGMA journal_mode = WAL');
    for (const [text, mode] of [
      ['first', 'FULL'],
      ['second', synchronous],
    ] as const) {
      connection.exec(`PRAGMA synchronous = ${mode}`);
      connection.exec('BEGIN EXCLUSIVE');
      connection.exec('CREATE TABLE IF NOT EXISTS texts (text)');
      connection.prepare('INSERT INTO texts VALUES (?)').run(text);
      connection.exec('COMMIT');
    }
    connection.exec('BEGIN EXCLUSIVE');
    connection.prepare('INSERT INTO texts VALUES (?)').run('never committed');
    close();
    disk.cutPower(new Random(seed));
    connections.close();
    // Read by SQLite itself, without what the simulation knows.
    const reader = new (loadSqlite())(path);
    const texts = reader.prepare('SELECT text FROM texts').all();
    reader.close();
    return texts.map((row) => Object(row).text);
  }

  test('has all that was committed with a sync', () => {
    for (const seed of seeds) expect(leftOf(seed, 'FULL')).toEqual(['first', 'second']);
  });

  test.each(['NORMAL', 'OFF'] as const)('may lack what was committed with synchronous = %s', (mode) => {
    const left = seeds.map((seed) => leftOf(seed, mode).join());
    expect(new Set(left)).toEqual(new Set(['first', 'first,second']));
  });
});

describe('a file after a power cut', () => {
  /** @returns the sizes that it may have. */
  function sizesOf(isSynced: boolean): Set<number> {
    return new Set(
      seeds.map((seed) => {
        const path = join(folder.path, String(seed));
        const disk = new Disk();
        writeFileSync(path, 'text');
        disk.writes(path, false);
        if (isSynced) disk.synced(statSync(path).ino);
        disk.cutPower(new Random(seed));
        return readFileSync(path).length;
      }),
    );
  }

  test('is whole once it was synced', () => {
    expect(sizesOf(true)).toEqual(new Set([4]));
  });

  test('may be torn, or empty, where it was not', () => {
    expect(sizesOf(false)).toEqual(new Set([0, 1, 2, 3, 4]));
  });
});
