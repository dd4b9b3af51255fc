import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DatabaseError } from '../../../../src/platform/sqlite/database-error.ts';
import { SandboxClock } from '../../../../src/sandbox/store/clock.ts';
import { IdGenerator } from '../../../../src/sandbox/store/identity.ts';
import { Store } from '../../../../src/sandbox/store/store.ts';
import { emptyStore } from '../../../../src/sandbox/store/tables.ts';
import { makeFolder } from '../../../support/folder.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** What a call throws. */
async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('the store', () => {
  let folder: ReturnType<typeof makeFolder>;
  let file: string;
  beforeEach(() => {
    folder = makeFolder();
    file = join(folder.path, 'state', 'sandbox.db');
  });
  afterEach(() => folder.remove());

  test('is readable by its owner alone, whatever the umask and whatever it was before', async () => {
    const before = process.umask(0);
    try {
      await (await Store.open(file)).close();
      expect([modeOf(file), modeOf(join(folder.path, 'state'))]).toEqual(['600', '700']);
      chmodSync(file, 0o644);
      const store = await Store.open(file);
      await store.transaction(() => store.setMeta('a', 'b'));
      expect([modeOf(file), modeOf(`${file}-wal`)]).toEqual(['600', '600']);
      await store.close();
    } finally {
      process.umask(before);
    }
  });

  test.each([
    ['is no database', 'it is damaged', (path: string) => writeFileSync(path, 'x'.repeat(5000))],
    ['is a link', 'does not follow links', (path: string) => symlinkSync('/dev/null', path)],
    ['is a folder', 'it is a folder, not a file', (path: string) => mkdirSync(path)],
  ])('a file that %s is refused with its name and the reason', async (_, reason, make) => {
    mkdirSync(join(folder.path, 'state'));
    make(file);
    const error = await thrownBy(() => Store.open(file));
    expect(error).toBeInstanceOf(DatabaseError);
    expect(String(error)).toContain(file);
    expect(String(error)).toContain(reason);
  });

  test('a store that a newer errand has changed is left alone', async () => {
    const store = await Store.open(file);
    await store.perform('PRAGMA user_version = 99');
    await store.close();
    expect(String(await thrownBy(() => Store.open(file)))).toContain('a newer errand has changed it');
  });

  test('a full disk is reported as such, and leaves nothing of the transaction', async () => {
    const store = await Store.open(file);
    const { page_count: pages } = store.get('PRAGMA page_count') ?? {};
    await store.perform(`PRAGMA max_page_count = ${Number(pages) + 2}`);
    const error = await thrownBy(() =>
      store.transaction(() => {
        for (let row = 0; row < 100; row += 1) store.setMeta(`row ${row}`, 'x'.repeat(4000));
      }),
    );
    expect(error).toBeInstanceOf(DatabaseError);
    expect(String(error)).toContain('the disk is full');
    expect(store.get("SELECT count(*) AS rows FROM meta WHERE name LIKE 'row%'")?.rows).toBe(0);
    await store.perform('PRAGMA max_page_count = 1000000');
    await store.transaction(() => store.setMeta('after', 'well'));
    expect(store.meta('after')).toBe('well');
    await store.close();
  });

  test('a mistake in a statement is a bug and no trouble of the file', async () => {
    const store = await Store.open(':memory:');
    expect(
      await thrownBy(() => store.transaction(() => store.run('INSERT INTO nothing VALUES (1)'))),
    ).not.toBeInstanceOf(DatabaseError);
    await store.close();
  });

  test('keeps texts apart that SQLite alone would take for the same', async () => {
    const store = await Store.open(':memory:');
    const texts = ['k', 'k\u0000a', 'k\u0000b', 'k\ud800', 'k\ud801', 'k\ufffd', 'k😀'];
    await store.transaction(() => {
      for (const [index, text] of texts.entries()) store.setMeta(text, String(index));
    });
    expect(texts.map((text) => store.meta(text))).toEqual(texts.map((_, index) => String(index)));
    await store.close();
  });

  test('an attempt that fails leaves nothing, and the rest of its transaction stays', async () => {
    const store = await Store.open(':memory:');
    await store.transaction(() => {
      store.setMeta('before', '1');
      expect(() =>
        store.attempt(() => {
          store.setMeta('within', '1');
          throw new Error('no');
        }),
      ).toThrow('no');
      store.setMeta('after', '1');
    });
    expect(['before', 'within', 'after'].map((name) => store.meta(name))).toEqual(['1', undefined, '1']);
    await store.close();
  });
});

describe('a group of works', () => {
  const rows = (store: Store): unknown[] =>
    store.all("SELECT name FROM meta WHERE name LIKE 'row%' ORDER BY name").map(({ name }) => name);
  const settled = async (works: readonly Promise<unknown>[]): Promise<string[]> =>
    (await Promise.allSettled(works)).map((one) =>
      one.status === 'fulfilled' ? String(one.value) : String(one.reason.message),
    );

  test.each([
    ['before it has written', () => {}],
    ['after it has written', (store: Store) => store.setMeta('row 2', 'half')],
  ])('keeps the others where one fails %s', async (_, write) => {
    const store = await Store.open(':memory:');
    const keep = (name: string): Promise<string> =>
      store.grouped(() => {
        store.setMeta(name, 'whole');
        return name;
      });
    const fail = store.grouped(() => {
      write(store);
      throw new Error('refused');
    });
    expect(await settled([keep('row 1'), fail, keep('row 3')])).toEqual(['row 1', 'refused', 'row 3']);
    expect(rows(store)).toEqual(['row 1', 'row 3']);
    await store.close();
  });

  test('that is not durable keeps none of it, and forgets what it had read of it', async () => {
    const folder = makeFolder();
    const store = await Store.open(join(folder.path, 'sandbox.db'));
    const { page_count: pages } = store.get('PRAGMA page_count') ?? {};
    await store.perform(`PRAGMA max_page_count = ${Number(pages) + 2}`);
    const works = ['row 1', 'row 2'].map((name) =>
      store.grouped(() => {
        store.setMeta(name, 'x'.repeat(20_000));
        return store.meta(name)?.length;
      }),
    );
    expect((await settled(works)).every((said) => said.includes('the disk is full'))).toBe(true);
    expect([store.meta('row 1'), rows(store)]).toEqual([undefined, []]);
    await store.close();
    folder.remove();
  });
});

describe('what is kept of a store', () => {
  test('changes with it, whoever changes it', async () => {
    const folder = makeFolder();
    const file = join(folder.path, 'sandbox.db');
    const [one, other] = [await Store.open(file), await Store.open(file)];
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    expect(one.meta('fact')).toBeUndefined();
    await other.transaction(() => other.setMeta('fact', 'theirs'));
    await turn();
    expect(one.meta('fact')).toBe('theirs');
    await one.transaction(() => one.setMeta('fact', 'ours'));
    expect(one.meta('fact')).toBe('ours');
    await one.transaction(() => one.deleteMeta('fact'));
    expect(one.meta('fact')).toBeUndefined();
    const failed = one.transaction(() => {
      one.setMeta('fact', 'never');
      expect(one.meta('fact')).toBe('never');
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(one.meta('fact')).toBeUndefined();
    await emptyStore(one);
    await one.close();
    await other.close();
    folder.remove();
  });
});

describe('the clock', () => {
  test('is the same for all who share a store, and only goes forward', async () => {
    const folder = makeFolder();
    const file = join(folder.path, 'sandbox.db');
    const [one, other] = [await Store.open(file), await Store.open(file)];
    const clocks = [new SandboxClock(one, () => 1_000), new SandboxClock(other, () => 1_000)];
    expect(await clocks[0]?.advance(500)).toBe(1_500);
    expect(clocks[1]?.now()).toBe(1_500);
    expect(await clocks[1]?.advance(-10_000)).toBe(1_500);
    await one.close();
    await other.close();
    folder.remove();
  });

  test.each([8.64e15, Number.MAX_SAFE_INTEGER, 1e300])(
    'moved by %f ms stays where ISO 8601 can write it',
    async (ms) => {
      const store = await Store.open(':memory:');
      const clock = new SandboxClock(store, Date.now);
      expect(new Date(await clock.advance(ms)).toISOString()).toMatch(/^\d{4}-/);
      expect(new Date(await clock.advance(ms)).toISOString()).toMatch(/^\d{4}-/);
      await store.close();
    },
  );
});

describe('ids', () => {
  const five = async (seed: number | undefined): Promise<string[]> => {
    const store = await Store.open(':memory:');
    const identity = await IdGenerator.open(store, seed);
    const ids = await store.transaction(() => Array.from({ length: 5 }, () => identity.uuid('order')));
    await store.close();
    return ids;
  };

  test('follow from the seed, and are never given twice', async () => {
    expect(await five(3)).toEqual(await five(3));
    expect(await five(3)).not.toEqual(await five(4));
    expect(new Set(await five(3)).size).toBe(5);
  });

  test('cannot be guessed where no seed was given', async () => {
    expect(await five(undefined)).not.toEqual(await five(undefined));
  });

  test('of a store keep to the seed that it began with', async () => {
    const store = await Store.open(':memory:');
    expect([(await IdGenerator.open(store, 5)).seed, (await IdGenerator.open(store, 6)).seed]).toEqual([
      '5',
      '5',
    ]);
    await store.close();
  });
});
