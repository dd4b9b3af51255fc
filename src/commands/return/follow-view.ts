import { paintFor } from '../../cli/output/paint.ts';
import { spinnerEveryMs, spinnerSign } from '../../cli/output/spinner.ts';
import { tableLines } from '../../cli/output/table.ts';
import type { Following } from '../../orders/following.ts';
import { stopwatch } from '../../platform/wait/deadline.ts';
import type { Context } from '../../run/context.ts';
import { returnColumns } from './columns.ts';
import type { FollowEvent, ReturnRecord } from './follow.ts';

interface FollowView {
  /** Whether it shows each change itself. */
  readonly isLive: boolean;
  show(returns: ReadonlyMap<string, ReturnRecord>): Promise<void>;
  /** `settled` when the returns are printed next; else what was last seen of them stays. */
  done(outcome: 'settled' | 'broken off'): void;
}

/** What a return goes through has room from the start, so that the columns do not move. */
const columns = returnColumns.map((column) => (column.name === 'status' ? { ...column, room: 12 } : column));
const nothing: FollowView = { isLive: false, show: async () => {}, done: () => {} };

/** The returns that are followed as a table that is redrawn, where stdout is a terminal; else nothing. */
export async function followView(context: Context, following: Following<FollowEvent>): Promise<FollowView> {
  const { canDrawLive, createLive } = await import('../../cli/output/live.ts');
  const { io, output } = context;
  if (output.format !== 'table' || !canDrawLive(io)) return nothing;
  const live = await createLive(io);
  const paint = await paintFor(io.stdout.color);
  const elapsedMs = stopwatch(context.clock);
  let lines: readonly string[] = [];
  let frame = 0;
  const draw = (): void => {
    frame += 1;
    const room = (io.stdout.columns() || 100) - 2;
    live.draw(lines, `${spinnerSign(frame)} ${following.line(elapsedMs(), room)}`);
  };
  const drawn = async (returns: readonly ReturnRecord[]): Promise<readonly string[]> => {
    const { lines } = await tableLines(returns, columns, {
      width: io.stdout.columns(),
      paint,
      now: output.now,
      utc: output.utc === true,
      isScreen: true,
      isOneLine: true,
    });
    return lines;
  };
  const timer = setInterval(draw, spinnerEveryMs);
  let isOver = false;
  return {
    isLive: true,
    async show(returns) {
      if (returns.size > 0) lines = await drawn([...returns.values()]);
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
