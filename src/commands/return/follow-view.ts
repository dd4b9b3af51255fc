import type { Context } from '../../context.ts';
import { paintFor } from '../../output/paint.ts';
import { tableLines } from '../../output/table.ts';
import { stopwatch } from '../../wait/deadline.ts';
import { returnColumns } from './columns.ts';
import type { ReturnRecord } from './follow.ts';

interface FollowView {
  /** Whether it shows each change itself. */
  readonly isLive: boolean;
  /** @param ended how many are no more waited for. */
  show(returns: ReadonlyMap<string, ReturnRecord>, ended: number): Promise<void>;
  /** `settled` when the returns are printed next; else what was last seen of them stays. */
  done(outcome: 'settled' | 'broken off'): void;
}

const refreshMs = 1_000;
const nothing: FollowView = { isLive: false, show: async () => {}, done: () => {} };

/** The returns that are followed as a table that is redrawn, where stdout is a terminal; else nothing. */
export async function followView(context: Context, ids: readonly string[]): Promise<FollowView> {
  const { canDrawLive, createLive } = await import('../../output/live.ts');
  const { io, output } = context;
  if (output.format !== 'table' || !canDrawLive(io)) return nothing;
  const live = await createLive(io);
  const paint = await paintFor(io.stdout.color);
  const elapsedMs = stopwatch(context.clock);
  let lines: readonly string[] = [];
  let ended = 0;
  const draw = (): void => {
    live.draw(lines, `${ended} of ${ids.length} ended, ${Math.round(elapsedMs() / 1000)} s`);
  };
  const timer = setInterval(draw, refreshMs);
  let isOver = false;
  return {
    isLive: true,
    async show(returns, count) {
      ended = count;
      const table = await tableLines([...returns.values()], returnColumns, {
        width: io.stdout.columns(),
        paint,
        now: output.now,
        utc: output.utc === true,
      });
      lines = table.lines;
      draw();
    },
    done(outcome) {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      live.draw(outcome === 'settled' ? [] : lines);
      live.done();
    },
  };
}
