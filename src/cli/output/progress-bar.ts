import { Writable } from 'node:stream';
import cliProgress from 'cli-progress';
import { cut, fullMeasure, type Measure } from '../../format/width.ts';
import type { OutputStream } from '../../platform/streams.ts';
import { type Paint, paintFor } from './paint.ts';
import type { ProgressFacts } from './progress.ts';
import { mayDraw, openArea } from './writer.ts';

export interface Bar {
  show(done: number, facts: ProgressFacts): void;
  close(): void;
}

const clearLine = '\r\u001b[2K';
/** Escape codes that save and restore the cursor. */
const cursorKeeping: ReadonlySet<unknown> = new Set(['\u001b7', '\u001b8']);

const widestBar = 20;
const narrowBar = 8;

/** Loads what a progress bar needs. @returns a function that opens one on the terminal's last line. */
export async function barOpener(terminal: OutputStream): Promise<(total: number | undefined) => Bar> {
  const drawing = { paint: await paintFor(terminal.color), measure: await fullMeasure() };
  return (total) => openBar(terminal, total, drawing);
}

/** Opens a bar that redraws at most ten times a second and is erased when closed. */
function openBar(terminal: OutputStream, total: number | undefined, drawing: Omit<Drawing, 'width'>): Bar {
  const bar = new cliProgress.SingleBar({
    stream: new BarLine(terminal),
    format: (_, { progress }, payload: ProgressFacts) =>
      barLine(payload, total === undefined ? undefined : progress, {
        ...drawing,
        // Leave the last column free, since some terminals wrap when it is filled.
        width: columnsOf(terminal) - 1,
      }),
    fps: 10,
    linewrap: true,
    // Redraw even an unchanged bar, because output in between erases it.
    forceRedraw: true,
    clearOnComplete: true,
    // Do not handle interruption here. The program itself handles it, and then closes the bar.
    gracefulExit: false,
  });
  const close = openArea({ hide: () => void (started && terminal.stream.write(clearLine)) });
  let started = false;
  return {
    show(done, facts) {
      if (started) bar.update(done, facts);
      else bar.start(total ?? 0, done, facts);
      started = true;
    },
    close() {
      bar.stop();
      close();
    },
  };
}

const columnsOf = (terminal: OutputStream): number => terminal.columns() || 80;

interface Drawing {
  /** Width in columns. */
  readonly width: number;
  readonly paint: Paint;
  readonly measure: Measure;
}

/**
 * Formats the bar and its facts in one line that fits. If space is short, drops or shrinks the bar first, then the
 * rate, then the remaining time, then the label. The count and the note always stay, because the note may report
 * failures.
 * @param progress is 0 to 1; undefined if the total is unknown.
 */
export function barLine(
  { label, count, rate, left, note }: ProgressFacts,
  progress: number | undefined,
  { width, paint, measure }: Drawing,
): string {
  const percent = progress === undefined ? '' : `${Math.floor(progress * 100)}%`;
  const facts = (...parts: string[]): string => parts.filter((part) => part !== '').join('  ');
  const barSize = progress === undefined ? 0 : widestBar;
  const shapes = [
    { size: barSize, name: label, told: facts(percent, count, rate, left) },
    { size: Math.min(barSize, narrowBar), name: label, told: facts(percent, count, rate, left) },
    { size: Math.min(barSize, narrowBar), name: label, told: facts(percent, count, left) },
    { size: Math.min(barSize, narrowBar), name: label, told: facts(percent, count) },
    { size: 0, name: label, told: facts(percent, count) },
    { size: 0, name: label, told: count },
    { size: 0, name: '', told: count },
  ];
  const columnsOfShape = ({ size, name, told }: (typeof shapes)[number]): number =>
    (size === 0 ? 0 : size + 3) + (name === '' ? 0 : measure(name) + (size === 0 ? 2 : 1)) + measure(told);
  const besides = note === '' ? 0 : measure(note) + 2;
  const { size, name, told } = shapes.find((shape) => columnsOfShape(shape) + besides <= width) ?? {
    size: 0,
    name: '',
    told: cut(count, width, measure),
  };
  const done = Math.round((progress ?? 0) * size);
  const bar = `[${paint.good('='.repeat(done))}${paint.faint('-'.repeat(size - done))}] `;
  const head = name === '' ? '' : size === 0 ? `${name}: ` : `${name} `;
  const shownNote = cut(note, Math.max(0, width - columnsOfShape({ size, name, told }) - 2), measure);
  const tail = shownNote === '' ? '' : `  ${shownNote.startsWith('✖') ? paint.bad(shownNote) : shownNote}`;
  return `${head}${size === 0 ? '' : bar}${told}${tail}`;
}

/**
 * The terminal in the form in which the library gets it. The codes that save and restore the cursor are suppressed,
 * since output in between may scroll the saved position away.
 */
class BarLine extends Writable {
  readonly isTTY = true;
  readonly #terminal: OutputStream;

  constructor(terminal: OutputStream) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
  }

  /**
   * A width greater than that of any terminal. The lines already fit the terminal. With the real width, the library
   * would cut them in the middle of a color code.
   */
  get columns(): number {
    return 10_000;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    if (mayDraw() && !cursorKeeping.has(chunk)) this.#terminal.stream.write(chunk);
    done();
  }
}
