import { cut, fullMeasure, type Measure } from '../../format/width.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { Io } from '../../platform/streams.ts';
import { writeQuietly } from './notice.ts';
import { mayDraw, openArea } from './writer.ts';

export interface Live {
  /**
   * Replaces the previously drawn lines, and draws the footer below the new ones. Lines wider than the terminal are
   * cut. If there are more lines than fit, the last line shows how many were left out. The footer is always visible.
   */
  draw(lines: readonly string[], footer?: string): void;
  /** Leaves the last lines in place and restores the cursor. Must always be called, even after a failure. */
  done(): void;
}

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const clearLine = '\u001b[2K';
const clearBelow = '\u001b[J';
const colour = /(\u001b\[[\d;]*m)/;
const reset = '\u001b[0m';

/** Whether stdout is a terminal with a movable cursor; otherwise changes are printed one per line. */
export const canDrawLive = ({ stdout }: Pick<Io, 'stdout'>): boolean =>
  stdout.isTerminal && stdout.isDumb !== true;

/** Creates a redrawable area on a terminal (stdout unless another is given). Requires `canDrawLive`. */
export async function createLive({ stdout }: Pick<Io, 'stdout'>): Promise<Live> {
  const measure = await fullMeasure();
  const columns = (): number => stdout.columns() || 100;
  let drawn: readonly number[] = [];
  let active = false;
  let close = (): void => {};
  const hide = (): void => {
    if (drawn.length > 0) writeQuietly(stdout.stream, `${up(rowsOf(drawn, columns()))}${clearBelow}`);
    drawn = [];
  };
  return {
    draw(lines, footer) {
      if (!mayDraw()) return;
      if (!active) close = openArea({ hide });
      const width = columns();
      const below = footer === undefined ? [] : [footer];
      const room = (stdout.rows?.() || 24) - 1 - below.length;
      const fitting = [...fold(lines, room), ...below].map((line) => cutPainted(line, width, measure));
      const body = fitting.map(({ text }) => `${clearLine}${text}\n`).join('');
      writeQuietly(
        stdout.stream,
        `${active ? '' : hideCursor}${up(rowsOf(drawn, width))}${body}${clearBelow}`,
      );
      drawn = fitting.map(({ columns: used }) => used);
      active = true;
    },
    done() {
      if (active) writeQuietly(stdout.stream, showCursor);
      close();
      active = false;
      drawn = [];
    },
  };
}

const up = (rows: number): string => (rows > 0 ? `\u001b[${rows}A\r` : '\r');

/**
 * Counts the terminal rows that lines of these widths occupy now. If the terminal has become narrower since the lines
 * were drawn, it has wrapped them.
 */
const rowsOf = (widths: readonly number[], columns: number): number =>
  widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);

/** Returns at most `limit` lines; if some are omitted, the last line counts them. */
function fold(lines: readonly string[], limit: number): readonly string[] {
  const room = Math.max(1, limit);
  if (lines.length <= room) return lines;
  return [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more`];
}

/** Truncates a line to `width` columns. Color codes take no width; other control characters are made visible. */
function cutPainted(
  line: string,
  width: number,
  measure: Measure,
): { readonly text: string; readonly columns: number } {
  let text = '';
  let used = 0;
  let painted = false;
  for (const [index, part] of line.split(colour).entries()) {
    if (index % 2 === 1) {
      text += part;
      painted = true;
      continue;
    }
    const safe = safeText(part);
    const fitting = cut(safe, width - used, measure);
    text += fitting;
    used += measure(fitting);
    if (fitting !== safe) break;
  }
  return { text: painted ? text + reset : text, columns: used };
}
