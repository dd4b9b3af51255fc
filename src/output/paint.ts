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
const noPaint: Paint = { faint: same, strong: same, good: same, bad: same, waiting: same, command: same };

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

const bad =
  /(?:^|_)(?:(?:failed|error|denied|declined|undeliverable|unsupported|invalid|cancelled)$|cancelled_by_\w)/;
const good = /(?:^|_)(?:success|ok|placed|delivered|completed|approved|credited|verified|captured|pickup)$/;
const waiting = /(?:^|_)(?:pending|progress|processing|transit|open|skipped|untested)$/;

/** The colour of a status, by its last word, so that a value not known today may still find one. */
export function paintStatus(status: string, paint: Paint): (text: string) => string {
  if (bad.test(status)) return paint.bad;
  if (good.test(status)) return paint.good;
  return waiting.test(status) ? paint.waiting : same;
}
