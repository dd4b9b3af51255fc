import type { Mood } from '../contract/order-state.ts';

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

/** The sign of each mood, which alone carries it where there is no colour. */
const signs: Readonly<Record<Mood, string>> = { good: '✔', bad: '✖', waiting: '●', past: '○' };

/** A state with its sign: `✔ delivered`. One whose mood nothing tells has none. */
export const signed = (text: string, mood: Mood | undefined): string =>
  mood === undefined || text === '' ? text : `${signs[mood]} ${text}`;

/** The colour of a mood. */
export function paintMood(mood: Mood | undefined, paint: Paint): (text: string) => string {
  if (mood === undefined) return same;
  return mood === 'past' ? paint.faint : paint[mood];
}

const bad =
  /(?:^|_)(?:(?:failed|error|denied|declined|undeliverable|unsupported|invalid|cancelled|refused|trouble)$|cancelled_by_\w)/;
// An order that was placed may have ended well or badly: its status alone does not tell.
const good =
  /(?:^|_)(?:success|ok|(?<!order_)placed|delivered|completed|approved|credited|verified|captured|pickup|held)$/;
const waiting = /(?:^|_)(?:pending|progress|processing|transit|open|skipped|untested)$/;
const past = /(?:^|_)(?:expired|used|released|closed)$/;

/** How a status stands, by its last word, so that a value not known today may still be told; undefined where no word says it. */
export function moodOf(status: string): Mood | undefined {
  if (bad.test(status)) return 'bad';
  if (good.test(status)) return 'good';
  if (waiting.test(status)) return 'waiting';
  return past.test(status) ? 'past' : undefined;
}

/** The colour of a status, by its last word, so that a value not known today may still find one. */
export const paintStatus = (status: string, paint: Paint): ((text: string) => string) =>
  paintMood(moodOf(status), paint);
