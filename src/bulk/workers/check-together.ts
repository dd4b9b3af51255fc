import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import type { Chunk } from '../../journal/postgres/queue.ts';
import { type Checked, checkBatch } from '../check/service-check.ts';
import { type Batch, batchIn, serializeBatch } from '../upload/batches.ts';
import type { Team } from './team.ts';

/** Interval in ms between checks for the results of other workers. */
const pauseMs = 100;
/** Number of batches to enqueue at once. */
const atOnce = 10;

/**
 * Runs a shared check in the worker that reads the file. This worker distributes batches, and all workers have the
 * service validate them. @throws ErrandError.
 */
export async function* checkTogether(
  team: Team,
  name: string,
  batches: AsyncIterable<Batch>,
): AsyncGenerator<Checked> {
  const { queue, job, context } = team;
  await queue.forgetChecks(job);
  let fed = 0;
  let isFed = false;
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  const failed = (error: unknown): void => {
    failure ??= { error };
  };
  const feeding = (async () => {
    for await (const some of groupsOf(batches, atOnce)) {
      await queue.addChecks(
        job,
        some.map((batch, at) => ({ place: fed + at, body: { name, ...serializeBatch(batch) } })),
      );
      fed += some.length;
    }
    isFed = true;
  })().catch(failed);
  const working = helpChecking(team, async () => !isOver).catch(failed);
  const known: number[] = [];
  try {
    while (!isFed || known.length < fed) {
      const found = await queue.checked(job, known);
      for (const { place, body, result } of found) {
        known.push(place);
        yield checkedIn(batchIn(body), result);
      }
      if (failure) throw failure.error;
      if (found.length === 0) await context.clock.sleep(pauseMs, context.signal);
    }
  } finally {
    isOver = true;
    await Promise.all([feeding, working]);
  }
}

/**
 * Has the service validate batches that another worker has read. @param waits tells whether more batches may still
 * come. @throws ErrandError.
 */
export async function helpChecking(team: Team, waits: () => Promise<boolean>): Promise<void> {
  const { queue, job, context } = team;
  const check = async (chunk: Chunk): Promise<void> => {
    const name = textIn(chunk.body, 'name') ?? '';
    const { batch: _, ...checked } = await checkBatch(await context.client(), name, batchIn(chunk.body));
    await queue.done(job, chunk, checked);
  };
  for await (const _ of team.work('check', check, { waits }));
}

function checkedIn(batch: Batch, result: Chunk['body']): Checked {
  return {
    batch,
    rows: batch.rows.length,
    refused: (Array.isArray(result.refused) ? result.refused : []).map(Number),
    estimate: numberIn(result, 'estimate') ?? 0,
    wallet: numberIn(result, 'wallet') ?? 0,
    byInvoice: result.byInvoice === true,
    issues: objectsIn(result, 'issues').map((issue) => ({
      row: numberIn(issue, 'row') ?? 0,
      column: textIn(issue, 'column') ?? '',
      value: textIn(issue, 'value') ?? '',
      message: textIn(issue, 'message') ?? '',
    })),
  };
}

export async function* groupsOf<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
