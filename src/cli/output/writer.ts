import { isAscii } from 'node:buffer';
import type { Writable } from 'node:stream';
import type { Scrub } from '../../format/result.ts';
import { realMs } from '../../platform/clock.ts';
import { OutputError } from '../../platform/errors.ts';

const chunkSize = 64 * 1024;
const del = 0x7f;
/** Total time, in ms, for which the output may still wait for its reader after an abort. */
const graceMs = 200;
const lineBreak = 0x0a;

/** Error codes that mean that the reader has closed, such as `| head` when it has enough. */
const goneCodes = new Set([
  'EPIPE',
  'EOF',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/**
 * Buffers small writes into 64 KB chunks, flushes when the program becomes idle, and applies backpressure. Callers must
 * therefore await what `write` returns.
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

  /**
   * Sets the signal that ends the output. After it aborts, whatever the reader does not accept within a grace period is
   * dropped, and every call then throws the abort reason.
   */
  endWith(signal: AbortSignal): void {
    this.#signal = signal;
  }

  /**
   * @param before is a prefix, which is written just before the first text. If no text is ever written, neither is the
   * prefix.
   */
  beginWith(before: string): void {
    this.#before = before;
  }

  /** Whether the reader has closed; further writes are dropped. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Whether the signal aborted before a reader that was still open had received everything. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  /**
   * @param scrub is applied to text as it is sent, except to chunks of pure ASCII, which are frequent.
   * @throws OutputError if an earlier write failed, unless the reader had merely closed; the abort reason after an
   * abort.
   */
  write(text: string, scrub?: Scrub): Promise<void> | undefined {
    this.#check();
    if (this.#closed) return undefined;
    if (scrub !== this.#scrub) {
      void this.#push();
      this.#scrub = scrub;
    }
    const whole = this.#before === '' ? text : this.#prefixed(text);
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

  /**
   * Resolves once everything is written. @throws OutputError if something could not be written, or the abort reason.
   */
  async flush(): Promise<void> {
    await this.#push();
    this.#check();
  }

  #prefixed(text: string): string {
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

/**
 * Returns the one writer of a stream. All results share this writer, so that its state, such as a closed reader,
 * carries over from one result to the next.
 */
export function writerOf(stream: Writable): Writer {
  const known = writers.get(stream);
  if (known) return known;
  const made = new Writer(stream);
  writers.set(stream, made);
  return made;
}

/**
 * A redrawn area of the terminal, such as a progress bar or live table. Before other output is printed, the area is
 * hidden, and then it is redrawn below that output. While a line is incomplete, the area stays hidden.
 */
interface LiveArea {
  /** Erases the area, leaving the cursor at the start of its line. */
  hide(): void;
}

let current: LiveArea | undefined;
let isLineOpen = false;

/** Installs an area on the terminal. @returns a function that removes it. */
export function openArea(area: LiveArea): () => void {
  current = area;
  return () => {
    if (current === area) current = undefined;
  };
}

/**
 * Must be called before other text is printed on the terminal.
 * @param endsLine tells whether that text ends with a line break.
 */
export function makeRoom(endsLine: boolean): void {
  current?.hide();
  isLineOpen = !endsLine;
}

/** Whether an area may be drawn, which requires the cursor to be at the start of a line. */
export const mayDraw = (): boolean => !isLineOpen;
