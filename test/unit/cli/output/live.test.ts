import { describe, expect, test } from 'vitest';
import { canDrawLive, createLive } from '../../../../src/cli/output/live.ts';
import { Screen } from '../../../support/screen.ts';
import { capture } from '../../../support/streams.ts';

async function liveOn(columns: number, rows: number) {
  const size = { columns, rows };
  const { io, out } = capture({ terminal: true });
  const terminal = { ...io, stdout: { ...io.stdout, columns: () => size.columns, rows: () => size.rows } };
  let shown = new Screen(columns, rows);
  let seen = 0;
  const screen = (): Screen => {
    shown.write(out.text.slice(seen));
    seen = out.text.length;
    return shown;
  };
  const narrow = (to: number): void => {
    shown = screen().narrowed(to);
    size.columns = to;
  };
  return { live: await createLive(terminal), screen, narrow, out };
}

describe('the live area', () => {
  test('draws in place: the last lines are all that stands', async () => {
    const { live, screen } = await liveOn(40, 10);
    live.draw(['order a  pending', 'order b  pending', 'order c  pending']);
    expect(screen().lines()).toEqual(['order a  pending', 'order b  pending', 'order c  pending']);
    live.draw(['order a  placed', 'order b  pending']);
    expect(screen().lines()).toEqual(['order a  placed', 'order b  pending']);
    live.draw(['order a  placed', 'order b  placed', 'done']);
    expect(screen().lines()).toEqual(['order a  placed', 'order b  placed', 'done']);
  });

  test('hides the cursor while it draws and gives it back', async () => {
    const { live, screen } = await liveOn(40, 10);
    live.draw(['x']);
    expect(screen().cursorShown).toBe(false);
    live.done();
    expect(screen().cursorShown).toBe(true);
    expect(screen().lines()).toEqual(['x']);
  });

  test('that never drew writes nothing', async () => {
    const { live, out } = await liveOn(40, 10);
    live.done();
    expect(out.text).toBe('');
  });

  test('cuts lines at the width, so that none wraps', async () => {
    const { live, screen } = await liveOn(10, 10);
    live.draw(['0123456789', '0123456789a', '日本日本日本']);
    expect(screen().lines()).toEqual(['0123456789', '012345678…', '日本日本…']);
  });

  test('counts the lines that are more than the terminal is high', async () => {
    const { live, screen } = await liveOn(40, 5);
    live.draw(Array.from({ length: 10 }, (_, index) => `order ${index}`));
    expect(screen().lines()).toEqual(['order 0', 'order 1', 'order 2', '… and 7 more']);
  });

  test('keeps the footer below them, which is none of those counted', async () => {
    const { live, screen } = await liveOn(40, 5);
    live.draw(
      Array.from({ length: 10 }, (_, index) => `order ${index}`),
      'watching 10 orders',
    );
    expect(screen().lines()).toEqual(['order 0', 'order 1', '… and 8 more', 'watching 10 orders']);
  });

  test('redraws cleanly after the terminal was made narrower', async () => {
    const { live, screen, narrow } = await liveOn(30, 20);
    live.draw(['a line of twenty-five chars', 'short']);
    narrow(10);
    live.draw(['now narrower than before', 'short']);
    expect(screen().lines()).toEqual(['now narro…', 'short']);
  });

  test('keeps colours out of the width and closes them where it cuts', async () => {
    const { live, out, screen } = await liveOn(8, 10);
    live.draw(['\u001b[32mdelivered\u001b[39m at noon']);
    expect(screen().lines()).toEqual(['deliver…']);
    expect(out.text).toContain('\u001b[32mdeliver…\u001b[0m');
  });

  test('obeys no control in the lines but colours', async () => {
    const { live, screen } = await liveOn(60, 10);
    live.draw(['a\u001b[2Jb\u001b]0;x\u0007\rc']);
    expect(screen().lines()).toEqual(['a␛[2Jb␛]0;x␇␍c']);
  });

  test('is for a terminal whose cursor moves', () => {
    expect(canDrawLive(capture({ terminal: true }).io)).toBe(true);
    expect(canDrawLive(capture({ terminal: true, dumb: true }).io)).toBe(false);
    expect(canDrawLive(capture().io)).toBe(false);
  });
});
