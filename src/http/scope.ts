/** Why a call was cut short. */
export type CutShort = 'deadline' | 'interrupted';

/** The life of one call: it ends by itself, at its deadline, or with one of the signals it was made under. */
export class Scope {
  readonly #controller = new AbortController();
  readonly #outer: readonly AbortSignal[];
  readonly #timeoutMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cut: CutShort | undefined;

  /** @param timeoutMs how long the call may take; undefined for as long as it takes. */
  constructor(outer: readonly (AbortSignal | undefined)[], timeoutMs: number | undefined) {
    this.#outer = outer.filter((signal) => signal !== undefined);
    for (const signal of this.#outer) signal.addEventListener('abort', this.#interrupt);
    if (this.#outer.some(({ aborted }) => aborted)) this.#interrupt();
    this.#timeoutMs = timeoutMs;
    this.restartDeadline();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cutShort(): CutShort | undefined {
    return this.#cut;
  }

  /** What the signal that ended it was aborted with. */
  get reason(): unknown {
    return this.#outer.find(({ aborted }) => aborted)?.reason;
  }

  /** The response has begun to come: from here on the pauses within it are bounded, not its whole length. */
  liftDeadline(): void {
    clearTimeout(this.#timer);
  }

  /** The next piece of the response is waited for: the time begins anew. */
  restartDeadline(): void {
    this.liftDeadline();
    const ms = this.#timeoutMs;
    if (ms !== undefined) this.#timer = setTimeout(() => this.#end('deadline'), Math.min(ms, 2 ** 31 - 1));
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const signal of this.#outer) signal.removeEventListener('abort', this.#interrupt);
  }

  readonly #interrupt = (): void => this.#end('interrupted');

  #end(why: CutShort): void {
    this.#cut ??= why;
    this.#controller.abort(this.reason);
  }
}
