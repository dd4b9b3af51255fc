import type { Mood } from '../api/order-state.ts';

/** The sign of each mood, which alone carries it where there is no colour. */
const signs: Readonly<Record<Mood, string>> = { good: '✔', bad: '✖', waiting: '●', past: '○' };

/** A state with its sign: `✔ delivered`. One whose mood nothing tells has none. */
export const signed = (text: string, mood: Mood | undefined): string =>
  mood === undefined || text === '' ? text : `${signs[mood]} ${text}`;

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
