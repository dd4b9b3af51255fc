import type { Verdict, WatchSummary } from './poll.ts';

/** Words for what is watched. */
export interface WatchLabels {
  readonly one: string;
  readonly several: string;
  /** Word for a bad end, such as `failed` or `denied`. */
  readonly badly: string;
  /** Forms of that word to use after `it` and after `they`. Undefined if both are the same as `badly`. */
  readonly verbs?: readonly [one: string, several: string];
}

export interface WatchProgress {
  readonly total: number;
  readonly ended: number;
  /** How many of the items that have ended have failed. */
  readonly failed: number;
}

export const progressOf = ({ reached, failed, waiting }: Pick<WatchSummary, Verdict>): WatchProgress => ({
  total: reached + failed + waiting,
  ended: reached + failed,
  failed,
});

/**
 * Describes how many items have ended and how many are still running:
 * `4 of 6 rows had ended, ✖ 2 of them failed, the others go on`. For a single order: `the order goes on`. Pure.
 */
export function progressText({ total, ended, failed }: WatchProgress, labels: WatchLabels): string {
  const { one, several, badly, verbs = [badly, badly] } = labels;
  const [it, them] = verbs;
  if (total === 1 && ended === 0) return `the ${one} goes on`;
  if (total === 1) return failed > 0 ? `✖ the ${one} ${it}` : `the ${one} had ended`;
  if (ended === 0)
    return `none of ${formatCount(total)} ${several} had ended, ${total === 2 ? 'both' : 'all of them'} go on`;
  const howMany = failed === ended ? 'all of them' : `${formatCount(failed)} of them`;
  return [
    `${formatCount(ended)} of ${formatCount(total)} ${several} had ended`,
    ...(failed > 0 ? [`✖ ${ended === 1 ? `it ${it}` : `${howMany} ${failed === 1 ? it : them}`}`] : []),
    ...(ended < total ? [total - ended === 1 ? 'the other one goes on' : 'the others go on'] : []),
  ].join(', ');
}

/**
 * Status line below a live table: `watching 8 orders: 5 of 8 ended, ✖ 1 failed, 12 s`. If the terminal is narrow, the
 * leading words are dropped first, and then the time. The failures are never dropped.
 * @param room is the width in columns.
 */
export function watchingText(
  { total, ended, failed }: WatchProgress,
  { one, several, badly }: WatchLabels,
  elapsedMs: number,
  room: number,
): string {
  const seconds = `${Math.round(elapsedMs / 1000)} s`;
  if (total === 1) return `watching 1 ${one}, ${seconds}`;
  const counts = `${formatCount(ended)} of ${formatCount(total)} ended`;
  const failures = failed > 0 ? [`✖ ${formatCount(failed)} ${badly}`] : [];
  const shapes = [
    `watching ${formatCount(total)} ${several}: ${[counts, ...failures, seconds].join(', ')}`,
    [counts, ...failures, seconds].join(', '),
  ];
  return shapes.find((shape) => shape.length <= room) ?? [...failures, counts].join(', ');
}

const formatCount = (count: number): string => count.toLocaleString('en-US');
