import { describe, expect, test } from 'vitest';
import { headFirst } from '../../../../src/cli/output/table.ts';

async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<(readonly T[])[]> {
  const seen: (readonly T[])[] = [];
  for await (const batch of batches) seen.push(batch);
  return seen;
}

const never = { size: 3, waitMs: 60_000 };

/** A row source that logs when it is closed, and fails at row `failAt`. */
function source(count: number, failAt = Number.POSITIVE_INFINITY) {
  const log: string[] = [];
  async function* rows(): AsyncGenerator<number> {
    try {
      for (let n = 0; n < count; n += 1) {
        if (n === failAt) throw new Error(`no row ${n}`);
        yield n;
      }
    } finally {
      log.push('closed');
    }
  }
  return { rows: rows(), log };
}

describe('rows in batches', () => {
  test('the first batch holds as many as asked for, then they come one by one', async () => {
    expect(await all(headFirst(source(5).rows, never))).toEqual([[0, 1, 2], [3], [4]]);
    expect(await all(headFirst([0, 1, 2, 3], never))).toEqual([[0, 1, 2], [3]]);
    expect(await all(headFirst([0], never))).toEqual([[0]]);
    expect(await all(headFirst([], never))).toEqual([]);
  });

  test('no row is lost when the first batch did not wait for it', async () => {
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* slow(): AsyncGenerator<number> {
      yield 0;
      await gate;
      yield 1;
      yield 2;
    }
    const batches = headFirst(slow(), { size: 3, waitMs: 1 });
    expect((await batches.next()).value).toEqual([0]);
    release();
    expect(await all(batches)).toEqual([[1], [2]]);
  });

  test('a source that is left early is closed', async () => {
    const { rows, log } = source(10);
    for await (const batch of headFirst(rows, never)) if (batch.length > 0) break;
    expect(log).toEqual(['closed']);
  });

  test('leaving does not wait for a source that is busy', async () => {
    async function* stuck(): AsyncGenerator<number> {
      yield 0;
      await new Promise(() => {});
    }
    for await (const batch of headFirst(stuck(), { size: 3, waitMs: 1 })) if (batch.length > 0) break;
  });

  test('a failure reaches whoever reads', async () => {
    const { rows, log } = source(10, 4);
    const batches = headFirst(rows, never);
    expect((await batches.next()).value).toEqual([0, 1, 2]);
    expect((await batches.next()).value).toEqual([3]);
    await expect(batches.next()).rejects.toThrow('no row 4');
    expect(log).toEqual(['closed']);
  });

  test('a failure while nobody waits for it reaches whoever reads next', async () => {
    async function* slow(): AsyncGenerator<number> {
      yield 0;
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new Error('gone meanwhile');
    }
    const batches = headFirst(slow(), { size: 3, waitMs: 1 });
    expect((await batches.next()).value).toEqual([0]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(batches.next()).rejects.toThrow('gone meanwhile');
  });
});
