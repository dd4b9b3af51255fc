import type { ServedRequest } from '../../api/control.ts';
import { writeErr } from '../../cli/output/notice.ts';
import { paintFor } from '../../cli/output/paint.ts';
import { cut, cutMiddle, fullMeasure } from '../../format/width.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { Context } from '../../run/context.ts';

const methodWidth = 'DELETE'.length;
const gap = '  ';
/** A target needs so much room to be told from another; below, a terminal shows less of how its request went. */
const leastTarget = 24;

/**
 * Shows each request of the served sandbox as one line on stderr: time, status, how long its response took to begin,
 * method, target, cut in its middle, what it did or why it was refused. On a terminal only: who runs the sandbox for a test reads its stderr for failures.
 */
export async function requestLines({
  io,
}: Pick<Context, 'io'>): Promise<((request: ServedRequest) => void) | undefined> {
  if (!io.stderr.isTerminal) return undefined;
  const paint = await paintFor(io.stderr.color);
  const measure = await fullMeasure();
  return ({ at, method, target, status, tookMs, fault, did }) => {
    const shown = status === null ? 'cut' : String(status);
    const mood = status === null || status >= 500 ? paint.bad : status >= 400 ? paint.waiting : paint.good;
    const time = `${new Date(at).toISOString().slice(11, 19)}Z`;
    const took = `${Math.round(tookMs)} ms`.padStart('1000 ms'.length);
    const noted = fault === null ? paint.faint : paint.waiting;
    const verb = safeText(method).padEnd(methodWidth);
    const deed = did === null ? '' : `${gap}${safeText(did)}`;
    const why = `${deed}${fault === null ? '' : `${gap}(fault ${safeText(fault)})`}`;
    const columns = io.stderr.columns() || 80;
    const roomBeside = (...parts: readonly string[]): number => columns - parts.join(gap).length - gap.length;
    const least = measure(why) + Math.min(leastTarget, measure(safeText(target)));
    const hasTime = roomBeside(time, shown, took, verb) >= least;
    const hasTook = roomBeside(shown, took, verb) >= least;
    const before = [...(hasTime ? [time] : []), shown, ...(hasTook ? [took] : []), verb];
    const room = Math.max(1, roomBeside(...before));
    const path = cutMiddle(
      safeText(target),
      Math.max(Math.min(leastTarget / 2, room), room - measure(why)),
      measure,
    );
    const parts = [
      ...(hasTime ? [paint.faint(time)] : []),
      mood(shown),
      ...(hasTook ? [took] : []),
      verb,
      path + noted(cut(why, Math.max(0, room - measure(path)), measure)),
    ];
    writeErr(io, `${parts.join(gap)}\n`);
  };
}
