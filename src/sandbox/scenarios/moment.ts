import { parseDuration } from '../../platform/duration.ts';
import type { ScenarioProblem } from './problem.ts';
import type { Stage } from './stage.ts';

/** Something that is done to the sandbox at a time, ms since the epoch. */
export interface Moment {
  readonly at: number;
  readonly path: ScenarioProblem['path'];
  readonly run: (stage: Stage) => Promise<ScenarioProblem[]> | ScenarioProblem[];
}

/** The longest that anything lies before the beginning, days. */
const mostDays = 100_000;

/** A time of the scenario, ms since the epoch. */
export const timeOf = (written: string, now: number): number =>
  written.startsWith('-') ? now - parseDuration(written.slice(1), 'a time', mostDays) : Date.parse(written);

/** What cannot have been: it is told when its time comes, with all else. */
export const refusedAt = (at: number, path: Moment['path'], message: string): Moment => ({
  at,
  path,
  run: () => [{ path, message }],
});

export interface Present {
  readonly now: number;
  readonly speed: number;
}
