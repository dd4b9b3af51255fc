import type { Mood } from '../../api/order-state.ts';
import { moodOf } from '../../format/cell.ts';

/** Terminal colors. Color never carries meaning alone. */
export interface Paint {
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly waiting: (text: string) => string;
  /** A command that can be typed. */
  readonly command: (text: string) => string;
}

const same = (text: string): string => text;
/** Paint without colors. */
export const noPaint: Paint = {
  faint: same,
  strong: same,
  good: same,
  bad: same,
  waiting: same,
  command: same,
};

export async function paintFor(color: boolean): Promise<Paint> {
  if (!color) return noPaint;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return {
    faint: chalk.dim,
    strong: chalk.bold,
    good: chalk.green,
    bad: chalk.red,
    waiting: chalk.yellow,
    command: chalk.cyan,
  };
}

export function paintMood(mood: Mood | undefined, paint: Paint): (text: string) => string {
  if (mood === undefined) return same;
  return mood === 'past' ? paint.faint : paint[mood];
}

/** Color of a status. It is chosen by the last word of the status, so that an unknown status may still get a color. */
export const paintStatus = (status: string, paint: Paint): ((text: string) => string) =>
  paintMood(moodOf(status), paint);

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Frame interval, in ms. */
export const spinnerEveryMs = 120;

/**
 * Symbol of the spinner.
 * @param frame is an index from 0. It wraps around.
 */
export const spinnerFrame = (frame: number): string => frames[frame % frames.length] ?? '';
