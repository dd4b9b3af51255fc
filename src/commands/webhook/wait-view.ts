import { canDrawLive, createLive } from '../../cli/output/live.ts';
import { spinnerEveryMs, spinnerSign } from '../../cli/output/spinner.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { stopwatch } from '../../platform/wait/deadline.ts';
import type { Context } from '../../run/context.ts';
import { typedId } from '../../run/typed-id.ts';

/**
 * Shows on a terminal's stderr what is waited for, and for how long already; elsewhere nothing.
 * @param what the event, in words. @returns what takes the line away; call it whatever happens.
 */
export async function showWaiting(context: Context, what: string, orderId: string): Promise<() => void> {
  const { stderr } = context.io;
  if (!canDrawLive({ stdout: stderr })) return () => {};
  const live = await createLive({ stdout: stderr });
  const elapsedMs = stopwatch(context.clock);
  let frame = 0;
  const draw = (): void => {
    frame += 1;
    const time = `${Math.round(elapsedMs() / 1000)} s`;
    const shapes = [
      `waiting for ${what} of order ${typedId(context, orderId)}, ${time}`,
      `waiting for ${what}, ${time}`,
      `waiting, ${time}`,
    ];
    const room = (stderr.columns() || 80) - 2;
    const said = shapes.find((shape) => shape.length <= room) ?? time;
    live.draw([`${spinnerSign(frame)} ${safeText(said)}`]);
  };
  draw();
  const timer = setInterval(draw, spinnerEveryMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    live.draw([]);
    live.done();
  };
}
