import { Writable } from 'node:stream';
import cliProgress from 'cli-progress';
import type { OutputStream } from '../io.ts';
import { mayDraw, openArea } from './live-area.ts';
import type { ProgressFacts } from './progress.ts';

export interface Bar {
  show(done: number, facts: ProgressFacts): void;
  close(): void;
}

const clearLine = '\r\u001b[2K';
/** Saving and restoring the cursor. */
const cursorKeeping: ReadonlySet<unknown> = new Set(['\u001b7', '\u001b8']);

/** A bar on the last line of a terminal, redrawn at most ten times a second and taken away when closed. */
export function openBar(terminal: OutputStream, total: number | undefined): Bar {
  const bar = new cliProgress.SingleBar({
    stream: new BarLine(terminal),
    format: total === undefined ? '{label}: {facts}' : '{label} [{bar}] {percentage}%  {facts}',
    barsize: 20,
    fps: 10,
    linewrap: true,
    // What was printed in between has taken the bar away.
    forceRedraw: true,
    clearOnComplete: true,
    // Whoever interrupts is handled by the program, which then ends the bar.
    gracefulExit: false,
  });
  const close = openArea({ hide: () => void (started && terminal.stream.write(clearLine)) });
  let started = false;
  return {
    show(done, { label, count, rate, left, note }) {
      const payload = { label, facts: [count, rate, left, note].filter((part) => part !== '').join('  ') };
      if (started) bar.update(done, payload);
      else bar.start(total ?? 0, done, payload);
      started = true;
    },
    close() {
      bar.stop();
      close();
    },
  };
}

/**
 * The terminal as the library sees it. Saving and restoring the cursor is left out: what was printed in between would
 * have scrolled the saved place away.
 */
class BarLine extends Writable {
  readonly isTTY = true;
  readonly #terminal: OutputStream;

  constructor(terminal: OutputStream) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
  }

  get columns(): number {
    return this.#terminal.columns() ?? 80;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    if (mayDraw() && !cursorKeeping.has(chunk)) this.#terminal.stream.write(chunk);
    done();
  }
}
