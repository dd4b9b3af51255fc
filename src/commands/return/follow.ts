import type { Context } from '../../context.ts';
import type { ReturnStatus } from '../../contract/enums.ts';
import type { Received } from '../../contract/received.ts';
import { shellWord } from '../../shell-word.ts';
import { Deadline, stopwatch } from '../../wait/deadline.ts';
import { type Interruption, type Pace, watchWithSummary } from '../../wait/poll.ts';
import { untilStopped } from '../../wait/stopped.ts';
import { tallyOf, type Verdict, type WatchSummary } from '../../wait/verdicts.ts';
import { whereFlags } from '../../where-flags.ts';

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

/** The events of a watch; where it is interrupted, what ends it says what goes on, and how to follow it again. */
export function stoppable(
  context: Context,
  ids: readonly string[],
  options: FollowOptions,
): AsyncGenerator<FollowEvent> {
  const ended = new Set<string>();
  return untilStopped(counted(), context.signal, () => {
    const open = ids.filter((id) => !ended.has(id));
    const until = options.until === 'approved' ? '' : ` --until ${options.until}`;
    const command = `errand return watch ${open.map(shellWord).join(' ')}${until}${whereFlags(context)}`;
    const message = `stopped watching; ${ended.size} of ${ids.length} returns had ended, the others go on`;
    return { message, next: { command, when: 'to go on watching' } };
  });

  async function* counted(): AsyncGenerator<FollowEvent> {
    for await (const event of followReturns(context, ids, options)) {
      if (event.type === 'change' && event.verdict !== 'waiting') ended.add(event.return.id);
      yield event;
    }
  }
}
