import { writerOf } from '../../cli/output/writer.ts';
import type { EventLog } from '../../journal/events.ts';
import type { Context } from '../../run/context.ts';

/** Notes which events were shown. One whose text is not out when this process ends is shown by the next listener. */
export class Shown {
  readonly #context: Pick<Context, 'io' | 'output'>;
  readonly #log: EventLog;
  readonly #held: number[] = [];

  constructor(context: Pick<Context, 'io' | 'output'>, log: EventLog) {
    this.#context = context;
    this.#log = log;
  }

  /** An event was handed to the output. With --query nothing is written before all of them are there. */
  async handedOut(id: number): Promise<void> {
    if (this.#context.output.query !== undefined) this.#held.push(id);
    else await this.#noteOnceOut([id]);
  }

  /** All that was handed out is written. */
  allOut(): Promise<void> {
    return this.#noteOnceOut(this.#held.splice(0));
  }

  async #noteOnceOut(ids: readonly number[]): Promise<void> {
    const out = writerOf(this.#context.io.stdout.stream);
    await out.flush();
    // Nobody reads any more.
    if (out.isClosed) return;
    for (const id of ids) await this.#log.noteShown(id);
  }
}
