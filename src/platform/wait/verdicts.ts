import { exitCodes } from '../errors.ts';
import type { Interruption } from './poll.ts';

/** Where something that is awaited stands: still on its way, at the awaited state, or at an end that is not it. */
export type Verdict = 'waiting' | 'reached' | 'failed';

/** How many stand where at the end of a watch. */
export interface WatchSummary {
  readonly reached: number;
  readonly failed: number;
  readonly waiting: number;
  readonly requests: number;
  readonly elapsed_ms: number;
}

/** Counts verdicts. Pure. */
export function tallyOf(verdicts: Iterable<Verdict>): Pick<WatchSummary, Verdict> {
  const tally = { reached: 0, failed: 0, waiting: 0 };
  for (const verdict of verdicts) tally[verdict] += 1;
  return tally;
}

export function exitCodeOf({ waiting, failed }: Pick<WatchSummary, 'waiting' | 'failed'>): number {
  if (waiting > 0) return exitCodes.deadline;
  return failed > 0 ? exitCodes.ended_badly : 0;
}

/** What a person is told of a blip, and of its end. */
export const interruptionText = (event: Interruption): string =>
  event.type === 'gap'
    ? `the service does not respond, still trying: ${event.message}`
    : `the service responds again after ${Math.round(event.gap_ms / 1000)} s`;
