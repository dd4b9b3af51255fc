import { isAscii } from 'node:buffer';
import type { Writable } from 'node:stream';
import type { Scrub } from '../../format/result.ts';
import { realMs } from '../../platform/clock.ts';
import { OutputError } from '../../platform/errors.ts';

const chunkSize = 64 * 1024;
const del = 0x7f;
/** How long the output may wait for its reader in all, once the user wants to stop, ms. */
const graceMs = 200;
const lineBreak = 0x0a;

/** Nobody reads any more: `| head` has what it wants. */
const goneCodes = new Set([
  'EPIPE',
  'EOF',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/**
 * Gathers small writes into chunks of 64 KB, sends the rest as soon as the program waits for something, and lets the
 * producer wait for the reader: await what `write` returns.
 */
export class Writer {
  readonly #stream: Writable;
  #pending: string[] = [];
  #length = 0;
  #scrub: Scrub | undefined;
  #sending: Promise<void> = Promise.resolve();
  #idle: NodeJS.Immediate | undefined;
  #failure: Error | undefined;
  #closed = false;
  #signal: AbortSignal | undefined;
  #graceMs = graceMs;
  #before = '';
  #isCutShort = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error) => this.#note(error));
  }

  /** Once the signal is aborted, what the reader does not take within a moment is dropped, and every call throws its reason. */
  endWith(signal: AbortSignal): void {
    this.#signal = signal;
  }

  /** @param before stands before the first text that is written; where none is, it is not written either. */
  beginWith(before: string): void {
    this.#before = before;
  }

  /** True once the reader has gone; what is written then is dropped. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Whether the signal came before the reader, which is still there, had taken everything. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  /**
   * @param scrub applied to the text when it is sent; a chunk that is all ASCII, as most are, is spared it.
   * @throws OutputError where an earlier write failed, other than by a reader that has gone; the reason of the signal.
   */
  write(text: string, scrub?: Scrub): Promise<void> | undefined {
    this.#check();
    if (this.#closed) return undefined;
    if (scrub !== this.#scrub) {
      void this.#push();
      this.#scrub = scrub;
    }
    const whole = this.#before === '' ? text : this.#begun(text);
    this.#pending.push(whole);
    this.#length += whole.length;
    if (this.#length >= chunkSize) return this.#push();
    this.#idle ??= setImmediate(() => void this.#push());
    return undefined;
  }

  async writeBytes(bytes: Uint8Array): Promise<void> {
    this.#check();
    await this.#push();
    if (!this.#closed) await this.#send(bytes);
  }

  /** Resolves when all is out. @throws OutputError where it could not be written; the reason of the signal. */
  async flush(): Promise<void> {
    await this.#push();
    this.#check();
  }

  #begun(text: string): string {
    const before = text === '' ? '' : this.#before;
    if (before !== '') this.#before = '';
    return before + text;
  }

  #push(): Promise<void> {
    clearImmediate(this.#idle);
    this.#idle = undefined;
    const chunk = this.#take();
    if (chunk !== undefined)
      this.#sending = this.#sending.then(() => (this.#closed ? undefined : this.#send(chunk)));
    return this.#sending;
  }

  #take(): Uint8Array | undefined {
    if (this.#length === 0) return undefined;
    const texts = this.#pending;
    this.#pending = [];
    this.#length = 0;
    const bytes = Buffer.from(texts.join(''));
    const scrub = this.#scrub;
    return scrub === undefined || (isAscii(bytes) && !bytes.includes(del))
      ? bytes
      : Buffer.from(texts.map(scrub).join(''));
  }

  #send(chunk: Uint8Array): Promise<void> {
    if ('isTTY' in this.#stream && this.#stream.isTTY === true) makeRoom(chunk.at(-1) === lineBreak);
    const written = new Promise<void>((resolve) => {
      this.#stream.write(chunk, (error) => {
        if (error) this.#note(error);
        resolve();
      });
    });
    return this.#signal ? this.#orCutShort(written, this.#signal) : written;
  }

  #orCutShort(written: Promise<void>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let since = 0;
      const hurry = (): void => {
        since = realMs();
        timer = setTimeout(() => {
          this.#closed = true;
          this.#isCutShort = true;
          resolve();
        }, this.#graceMs);
      };
      if (signal.aborted) hurry();
      else signal.addEventListener('abort', hurry, { once: true });
      void written.then(() => {
        signal.removeEventListener('abort', hurry);
        if (timer) {
          clearTimeout(timer);
          this.#graceMs = Math.max(0, this.#graceMs - (realMs() - since));
        }
        resolve();
      });
    });
  }

  #note(error: NodeJS.ErrnoException): void {
    this.#closed = true;
    if (!goneCodes.has(error.code ?? '')) this.#failure ??= error;
  }

  #check(): void {
    if (this.#isCutShort) this.#signal?.throwIfAborted();
    if (!this.#failure) return;
    throw new OutputError('unexpected', `cannot write the output: ${this.#failure.message}`, {
      cause: this.#failure,
    });
  }
}

const writers = new WeakMap<Writable, Writer>();

/** The one writer of a stream: what it learned (a reader that has gone) holds for every later result. */
export function writerOf(stream: Writable): Writer {
  const known = writers.get(stream);
  if (known) return known;
  const made = new Writer(stream);
  writers.set(stream, made);
  return made;
}

/**
 * What is drawn again and again on the terminal: a bar, a live table. It goes before anything else is printed there, and
 * is drawn anew below it; not in the middle of a line that is still being printed.
 */
interface LiveArea {
  /** Takes what is drawn away, and leaves the cursor at the start of its line. */
  hide(): void;
}

let current: LiveArea | undefined;
let isLineOpen = false;

/** Puts an area on the terminal. @returns how to take it off. */
export function openArea(area: LiveArea): () => void {
  current = area;
  return () => {
    if (current === area) current = undefined;
  };
}

/** Call it before other text is printed on the terminal. @param endsLine whether that text ends with a line break. */
export function makeRoom(endsLine: boolean): void {
  current?.hide();
  isLineOpen = !endsLine;
}

/** Whether an area may be drawn: the cursor stands at the start of a line. */
export const mayDraw = (): boolean => !isLineOpen;
