import type { NextStep } from '../platform/errors.ts';
import { shellWord } from '../platform/shell-word.ts';
import {
  type Standing,
  standingOf,
  standingText,
  type Things,
  watchingText,
} from '../platform/wait/standing.ts';
import { untilStopped } from '../platform/wait/stopped.ts';
import { exitCodeOf, tallyOf, type Verdict, type WatchSummary } from '../platform/wait/verdicts.ts';
import type { Context } from '../run/context.ts';
import { waitFlags } from '../run/context-flags.ts';
import { typedIds } from '../run/typed-id.ts';

interface Followed<E> {
  /** Each once. */
  readonly ids: readonly string[];
  readonly things: Things;
  /** As it is typed, without ids: `errand order watch`. */
  readonly command: string;
  /** What follows the ids: ` --until placed`; empty for none. */
  readonly flags: string;
  /** Whether some may be unknown as yet: no beginning names those. */
  readonly mayBeMissing?: boolean;
  readonly events: AsyncGenerator<E>;
  /** What an event says of one of them. */
  readonly verdictIn: (event: E) => readonly [id: string, verdict: Verdict] | undefined;
}

/** A watch under way, and what it says where it ends before what it follows does. */
export class Following<E> {
  readonly #context: Context;
  readonly #followed: Followed<E>;
  readonly #verdicts: Map<string, Verdict>;

  constructor(context: Context, followed: Followed<E>) {
    this.#context = context;
    this.#followed = followed;
    this.#verdicts = new Map(followed.ids.map((id) => [id, 'waiting']));
  }

  /** Where it is interrupted, what ends it says what was seen, and how to follow on. */
  events(): AsyncGenerator<E> {
    return untilStopped(this.#counted(), this.#context.signal, () => ({
      message: `stopped watching; ${this.#told()}`,
      next: this.#next(),
    }));
  }

  /** The line below a live table. @param room columns. */
  line(elapsedMs: number, room: number): string {
    return watchingText(this.#standing(), this.#followed.things, elapsedMs, room);
  }

  /** The exit code at the end; that the time is up is told as an interruption is. */
  conclude(summary: WatchSummary): number {
    if (summary.waiting > 0 && !this.#context.signal.aborted) {
      const { command, when } = this.#next();
      this.#context.note(`--timeout passed; ${this.#told()}`);
      this.#context.note(`${when}: ${command}`);
    }
    return exitCodeOf(summary);
  }

  #told(): string {
    return standingText(this.#standing(), this.#followed.things);
  }

  #standing(): Standing {
    return standingOf(tallyOf(this.#verdicts.values()));
  }

  #next(): NextStep {
    const open = [...this.#verdicts].flatMap(([id, verdict]) => (verdict === 'waiting' ? [id] : []));
    const { command, flags, mayBeMissing = false } = this.#followed;
    const ids = (mayBeMissing ? open : typedIds(this.#context, open)).map(shellWord).join(' ');
    return { command: `${command} ${ids}${flags}${waitFlags(this.#context)}`, when: 'to go on watching' };
  }

  async *#counted(): AsyncGenerator<E> {
    for await (const event of this.#followed.events) {
      const found = this.#followed.verdictIn(event);
      if (found) this.#verdicts.set(...found);
      yield event;
    }
  }
}
