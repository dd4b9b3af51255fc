import type { ReturnStatus } from '../../api/enums.ts';
import type { Received } from '../../api/received.ts';
import { Following } from '../../orders/following.ts';
import { Deadline, stopwatch } from '../../platform/wait/deadline.ts';
import { type Interruption, type Pace, watchWithSummary } from '../../platform/wait/poll.ts';
import type { Things } from '../../platform/wait/standing.ts';
import { tallyOf, type Verdict, type WatchSummary } from '../../platform/wait/verdicts.ts';
import type { Context } from '../../run/context.ts';

export type ReturnRecord = Received<'return.get'>;

export const untilValues = ['approved', 'credited'] as const;
export type Until = (typeof untilValues)[number];

const denied: readonly unknown[] = ['denied'] satisfies ReturnStatus[];
/** An earlier version of the service calls a return that is over `completed`. */
const over: readonly unknown[] = ['completed', 'credited'] satisfies ReturnStatus[];

/** Where one return stands. A status that is not known is waited on. Pure. */
export function verdictOf({ status }: Pick<ReturnRecord, 'status'>, until: Until): Verdict {
  if (denied.includes(status)) return 'failed';
  if (over.includes(status)) return 'reached';
  return until === 'approved' && status === 'approved' ? 'reached' : 'waiting';
}

export interface FollowOptions {
  readonly until: Until;
  readonly pace: Pace;
}

export type FollowEvent =
  | { readonly type: 'ready'; readonly returns: number; readonly until: Until }
  | { readonly type: 'change'; readonly return: ReturnRecord; readonly verdict: Verdict }
  | Interruption
  | ({ readonly type: 'summary' } & WatchSummary);

/**
 * Follows returns until each has reached what is awaited, was denied, or the deadline has passed. Yields one `change` for
 * each return whose status is new. A blip of the network is a `gap`, not an end.
 * @throws ErrandError not_found for an unknown id, and whatever polling cannot mend.
 */
async function* followReturns(
  context: Context,
  ids: readonly string[],
  { until, pace }: FollowOptions,
): AsyncGenerator<FollowEvent> {
  const { clock, signal } = context;
  const client = await context.client();
  const elapsedMs = stopwatch(clock);
  const verdicts = new Map<string, Verdict>(ids.map((id) => [id, 'waiting']));
  const seen = new Map<string, unknown>();
  let requests = 0;
  const isOver = (): boolean => tallyOf(verdicts.values()).waiting === 0;
  const deadline = new Deadline(clock, context.waitMs());
  const hasResponded = (): boolean => seen.size > 0;
  yield* watchWithSummary<FollowEvent>(
    { type: 'ready', returns: ids.length, until },
    { look, isOver, hasResponded, pace, deadline, clock, signal },
    summary,
  );

  async function* look(): AsyncGenerator<FollowEvent> {
    for (const id of ids.filter((one) => verdicts.get(one) === 'waiting')) {
      requests += 1;
      const { body } = await client.call('return.get', { path: { return_request_id: id } });
      if (seen.has(id) && seen.get(id) === body.status) continue;
      const verdict = verdictOf(body, until);
      seen.set(id, body.status);
      verdicts.set(id, verdict);
      yield { type: 'change', return: body, verdict };
    }
  }

  function summary(): FollowEvent {
    return { type: 'summary', ...tallyOf(verdicts.values()), requests, elapsed_ms: elapsedMs() };
  }
}

/** Returns, in the words of a watch. */
const watched: Things = {
  one: 'return',
  several: 'returns',
  badly: 'denied',
  verbs: ['was denied', 'were denied'],
};

export function followingOf(
  context: Context,
  ids: readonly string[],
  options: FollowOptions,
): Following<FollowEvent> {
  return new Following(context, {
    ids,
    things: watched,
    command: 'errand return watch',
    flags: options.until === 'approved' ? '' : ` --until ${options.until}`,
    events: followReturns(context, ids, options),
    verdictIn: (event) => (event.type === 'change' ? [event.return.id, event.verdict] : undefined),
  });
}
