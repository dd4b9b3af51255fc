import type { Context } from '../../context.ts';
import type { ServedRequest } from '../../contract/control.ts';
import { writeErr } from '../../output/notice.ts';
import { paintFor } from '../../output/paint.ts';
import { safeText } from '../../output/safe-text.ts';

const methodWidth = 'DELETE'.length;

/**
 * Shows each request of the served sandbox as a line on stderr: time, status, how long its response took to begin, method,
 * target. On a terminal only: who runs the sandbox for a test reads its stderr for failures.
 */
export async function requestLines({
  io,
}: Pick<Context, 'io'>): Promise<((request: ServedRequest) => void) | undefined> {
  if (!io.stderr.isTerminal) return undefined;
  const paint = await paintFor(io.stderr.color);
  return ({ at, method, target, status, tookMs, fault }) => {
    const shown = status === null ? 'cut' : String(status);
    const mood = status === null || status >= 500 ? paint.bad : status >= 400 ? paint.waiting : paint.good;
    const parts = [
      paint.faint(`${new Date(at).toISOString().slice(11, 19)}Z`),
      mood(shown),
      `${Math.round(tookMs)} ms`.padStart('1000 ms'.length),
      safeText(method).padEnd(methodWidth),
      safeText(target),
      ...(fault === null ? [] : [paint.waiting(`(fault ${fault})`)]),
    ];
    writeErr(io, `${parts.join('  ')}\n`);
  };
}
