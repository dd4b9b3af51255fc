import type { ErrandError } from '../../errors.ts';
import { createProgress } from '../../output/progress.ts';
import type { Chunk } from '../../state/shared/campaign.ts';
import { isBeingSent } from '../../state/take-over.ts';
import type { KeptUpload } from '../../state/uploads.ts';
import { rowsText } from '../spend.ts';
import { cutShort, uploadBatch } from '../upload-file.ts';
import { batchIn } from './kept-batch.ts';
import type { Team } from './team.ts';
import { workOf } from './terms.ts';

export const workersText = (count: number): string => (count === 1 ? '1 worker' : `${count} workers`);

/**
 * Places what is left of a shared upload together with its other workers, each batch journaled before it is sent, and waits
 * until the last one is placed, whoever does it. @throws ErrandError: what stopped this worker; others go on.
 */
export async function placeTogether(team: Team, { serial }: Pick<KeptUpload, 'serial'>): Promise<void> {
  const { queue, campaign, context } = team;
  const { file, notifies } = workOf(campaign);
  const begun = await queue.standing(campaign);
  let last = begun;
  const progress = createProgress(context.io, {
    label: 'uploading',
    total: begun.rows,
    from: begun.sent,
    unit: 'rows',
    now: context.clock.monotonic,
  });
  const place = async (chunk: Chunk): Promise<void> => {
    const batch = batchIn(chunk.body);
    const { id, existed } = await uploadBatch(context, { ...batch, filename: file, notifies, serial });
    await queue.done(campaign, chunk, { id, existed });
  };
  /** Another worker may still be at it, though it gives no more signs of life: its lease on the record ends later. */
  const isTaken = async ({ body }: Chunk, error: ErrandError): Promise<boolean> => {
    if (error.category !== 'conflict') return false;
    const record = (await context.journal()).find(batchIn(body).key, context.settings.baseUrl.value);
    return isBeingSent(record) || (record?.order_id ?? null) !== null;
  };
  const waits = async (): Promise<boolean> => {
    const { state, open } = await look();
    return state === 'open' && open > 0;
  };
  try {
    for await (const _ of team.work('place', place, { waits, isTaken })) await look();
    await queue.finish(campaign);
  } catch (error) {
    let isKnown = true;
    const { rows, sent, workers } = await queue.standing(campaign).catch(() => {
      isKnown = false;
      return last;
    });
    const how = isKnown && workers > 1 ? 'the other workers go on' : 'the same command goes on from there';
    context.note(`${isKnown ? '' : 'at least '}${rowsText(sent)} of ${rows} are uploaded; ${how}`);
    throw cutShort(context, error);
  } finally {
    progress.end();
  }

  async function look() {
    const standing = await queue.standing(campaign);
    last = standing;
    progress.update(standing.sent, standing.workers > 1 ? workersText(standing.workers) : '');
    return standing;
  }
}
