import { countText } from '../../format/counts.ts';
import { ErrandError, exitCodes, toError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { RequestPreview } from '../../run/request-preview.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';

/** Maximum number of groups to process at the same time. */
const maxInFlight = 4;

interface Work<T, R> {
  /** Items of the same group are processed one after another. */
  group(item: T, at: number): unknown;
  act(item: T): Promise<R>;
  /** Result for an item whose processing failed, and whether to try the other items nevertheless. */
  failed(item: T, error: ErrandError): { readonly row: R; readonly goesOn: boolean };
  untried(item: T): R;
  /** Whether processing the item has changed something. */
  isDone(row: R): boolean;
}

/**
 * Processes items, several at once, and yields their results in the given order. After a failure that concerns all
 * items, the remaining items are yielded as untried. @param report is called with such a failure after all results.
 * @throws RequestPreview with all requests of a preview.
 */
export async function* eachInOrder<T, R>(
  context: Pick<Context, 'clock' | 'signal'>,
  items: readonly T[],
  { group, act, failed, untried, isDone }: Work<T, R>,
  report: (error: ErrandError) => void,
): AsyncGenerator<R> {
  const previews: RequestPreview[] = [];
  const ended = new Map<number, R>();
  let failure: ErrandError | undefined;
  let next = 0;
  let isPartial = false;
  const isOver = (): boolean => failure !== undefined || context.signal.aborted;
  const groups = new Map<unknown, (readonly [number, T])[]>();
  for (const [at, item] of items.entries()) {
    const key = group(item, at);
    const some = groups.get(key);
    if (some) some.push([at, item]);
    else groups.set(key, [[at, item]]);
  }
  async function* untilOver() {
    for (const some of groups.values()) {
      if (isOver()) return;
      yield some;
    }
  }
  const work = async (some: readonly (readonly [number, T])[]): Promise<void> => {
    for (const [at, item] of some) {
      if (isOver()) return;
      try {
        const row = await act(item);
        isPartial ||= isDone(row);
        ended.set(at, row);
      } catch (error) {
        if (error instanceof RequestPreview) {
          previews.push(error);
          continue;
        }
        if (!(error instanceof ErrandError)) throw error;
        const { row, goesOn } = failed(item, error);
        if (!goesOn) failure ??= error;
        ended.set(at, row);
      }
    }
  };
  for await (const _ of inFlight(untilOver(), work, { limit: maxInFlight, now: context.clock.monotonic }))
    for (let row = ended.get(next); row; row = ended.get(next)) {
      yield row;
      ended.delete(next);
      next += 1;
    }
  if (previews.length > 0) throw new RequestPreview(previews.map(({ text }) => text).join(''));
  for (const [at, item] of items.entries()) {
    if (at < next) continue;
    const row = ended.get(at);
    if (!row && context.signal.aborted) failure ??= toError(context.signal.reason);
    yield row ?? untried(item);
  }
  if (failure) report(isPartial ? partial(failure) : failure);
  else context.signal.throwIfAborted();
}

/** The error that ends a command after part of its work. The outcome is `unknown`, as for a partial upload. */
const partial = (error: ErrandError): ErrandError =>
  new ErrandError(error.category, error.message, {
    ...error.facts,
    outcome: 'unknown',
    retryable: true,
    hint: error.facts.hint ?? 'The same command goes on from there; nothing is done twice.',
    cause: error,
  });

/** Counts rows by outcome, and derives the exit code. */
export class OutcomeTally<O extends string> {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #counts = new Map<string, number>();
  readonly #ends: { readonly done: readonly O[]; readonly left: readonly O[] };
  /** The failure that ended the command before every row was tried. */
  failure: ErrandError | undefined;

  /**
   * @param texts lists the outcomes in the order in which to show them. @param ends lists the successful outcomes
   * (`done`), and the outcomes that leave something to do (`left`).
   */
  constructor(
    texts: ReadonlyMap<string, string>,
    ends: { readonly done: readonly O[]; readonly left: readonly O[] },
  ) {
    this.#texts = texts;
    this.#ends = ends;
  }

  add(outcome: O): void {
    this.#counts.set(outcome, this.of(outcome) + 1);
  }

  of = (outcome: O): number => this.#counts.get(outcome) ?? 0;

  /** Formats `30 cancelled, 2 too late to cancel`. */
  get text(): string {
    const counted = [...this.#texts].flatMap(([outcome, text]) => {
      const count = this.#counts.get(outcome) ?? 0;
      return count === 0 ? [] : [`${countText(count)} ${text}`];
    });
    return counted.join(', ') || 'no row';
  }

  /**
   * The exit code. An outcome in doubt takes precedence, then the failure that ended the command. Otherwise, if rows
   * are left, it is 7 if some are done, and 5 if none are.
   */
  exitCode(inDoubt: O): number {
    if (this.of(inDoubt) > 0) return exitCodes.in_doubt;
    if (this.failure) return this.failure.exitCode;
    const has = (outcomes: readonly O[]): boolean => outcomes.some((outcome) => this.of(outcome) > 0);
    if (!has(this.#ends.left)) return 0;
    return has(this.#ends.done) ? exitCodes.ended_badly : exitCodes.conflict;
  }
}
