import type { Mood } from '../../api/order-state.ts';
import { moodOf } from '../../format/cell.ts';

/** Colours for a terminal. Meaning is never in the colour alone. */
export interface Paint {
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly waiting: (text: string) => string;
  /** What can be typed. */
  readonly command: (text: string) => string;
}

const same = (text: string): string => text;
/** Where nothing is coloured. */
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

/** The colour of a mood. */
export function paintMood(mood: Mood | undefined, paint: Paint): (text: string) => string {
  if (mood === undefined) return same;
  return mood === 'past' ? paint.faint : paint[mood];
}

/** The colour of a status, by its last word, so that a value not known today may still find one. */
export const paintStatus = (status: string, paint: Paint): ((text: string) => string) =>
  paintMood(moodOf(status), paint);

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Between two frames, ms. */
export const spinnerEveryMs = 120;

/** The sign at the beginning of a line that moves. @param frame which of them, from 0, endlessly. */
export const spinnerSign = (frame: number): string => frames[frame % frames.length] ?? '';
