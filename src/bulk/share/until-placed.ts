import { uuidPattern } from '../../api/limits.ts';
import { ShareQueue } from '../../journal/postgres/queue.ts';
import { Deadline } from '../../platform/clock.ts';
import type { Context } from '../../run/context.ts';
import { workersText } from './place-together.ts';

/** How often it is looked how far the workers are, ms. */
const pauseMs = 500;

/**
 * Waits while workers somewhere still place uploads that they share, so that all their batches can be followed.
 * @param words of a command line: names of uploads, ids of batches. @returns how long may still be waited, ms; undefined
 * where there is no end to it. @throws StorageError.
 */
export async function untilPlaced(context: Context, words: readonly string[]): Promise<number | undefined> {
  const { clock, settings, signal } = context;
  const waitMs = context.waitMs();
  const names = words.filter((word) => word !== '-' && !uuidPattern.test(word));
  if (!settings.database || names.length === 0) return waitMs;
  const deadline = new Deadline(clock, waitMs);
  const owner = { baseUrl: settings.baseUrl.value, account: (await context.sender()).account };
  // Whoever opens the journal makes the tables.
  await context.journal();
  const queue = new ShareQueue(settings.database, signal);
  try {
    for (const name of names) {
      const { own } = await queue.enter(owner, name);
      if (own?.state === 'open') await placed(name, () => queue.standing(own));
    }
  } finally {
    await queue.leave();
  }
  return waitMs === undefined ? undefined : deadline.leftMs;

  async function placed(name: string, look: () => ReturnType<ShareQueue['standing']>): Promise<void> {
    const begun = await look();
    const progress = await context.progress({
      ...{
        label: `uploading ${name}`,
        total: begun.rows,
        from: begun.sent,
        unit: 'rows',
        now: clock.monotonic,
      },
    });
    try {
      for (let now = begun; now.state === 'open' && now.workers > 0; now = await look()) {
        progress.update(now.sent, workersText(now.workers));
        if (!(await deadline.pause(pauseMs, signal))) return;
      }
    } finally {
      progress.end();
    }
  }
}
