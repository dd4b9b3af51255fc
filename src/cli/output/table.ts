import { type CellOptions, cellMood, cellText, columnValue } from '../../format/cell.ts';
import type { Column } from '../../format/result.ts';
import { ShortIds } from '../../format/short-ids.ts';
import {
  breakCell,
  cut,
  cutMiddle,
  cutUrl,
  isNarrow,
  leastOfUrl,
  type Measure,
  measureFor,
} from '../../format/width.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { gap, type Layout, layOut, leastText, type Need, type PlacedColumn } from './layout.ts';
import { type Paint, paintMood } from './paint.ts';
import type { Writer } from './writer.ts';

export interface TableOptions extends CellOptions {
  /** Columns of the terminal; undefined for a pipe, where nothing is hidden or cut. */
  readonly width: number | undefined;
  readonly paint: Paint;
  /** What this terminal calls the program, so that a command line is known. */
  readonly command?: string | undefined;
  /** Every row is one line, whatever has to be cut for it. */
  readonly isOneLine?: boolean;
}

/** Rows that are drawn at a time. */
const pageSize = 100;

/** Rows as lines: a header, then one line each, or several where a sentence is broken. For what is drawn whole; a list is printed with `printTable`. */
export async function tableLines(
  rows: readonly unknown[],
  columns: readonly Column[],
  options: TableOptions,
): Promise<{ readonly lines: string[] } & Layout> {
  const table = await Table.begin(rows, columns, options);
  const lines = await table.firstPage(rows.slice(0, pageSize));
  for (let at = pageSize; at < rows.length; at += pageSize)
    lines.push(...(await table.page(rows.slice(at, at + pageSize))));
  return { lines, ...table.layout };
}

/**
 * Prints a list as it comes. The widths come from its first rows; a later text that is longer is cut on a terminal,
 * and sticks out in a pipe. Where the source fails before the table has begun, nothing is printed.
 */
export async function printTable(
  rows: Iterable<unknown> | AsyncIterable<unknown>,
  columns: readonly Column[],
  options: TableOptions,
  out: Writer,
): Promise<{ readonly count: number } & Layout> {
  let table: Table | undefined;
  let count = 0;
  try {
    for await (const batch of headFirst(rows, { size: pageSize, waitMs: 100 })) {
      const begun: Table | undefined = table;
      table ??= await Table.begin(batch, columns, options);
      const lines = await (begun ? table.page(batch) : table.firstPage(batch));
      count += batch.length;
      await out.write(`${lines.join('\n')}\n`);
      if (out.isClosed) break;
    }
  } finally {
    await out.flush();
  }
  return { count, ...(table?.layout ?? { shown: [], below: [], hidden: [], narrowed: [] }) };
}

/** A table whose widths are settled. */
class Table {
  readonly #missed = new Set<string>();

  private constructor(
    readonly placed: Layout,
    readonly columns: readonly Column[],
    readonly options: TableOptions,
    readonly ids: ShortIds,
  ) {}

  /** As it turned out: a column that was empty where the table began may have texts later. */
  get layout(): Layout {
    return { ...this.placed, hidden: [...this.placed.hidden, ...this.#missed] };
  }

  static async begin(
    rows: readonly unknown[],
    columns: readonly Column[],
    given: TableOptions,
  ): Promise<Table> {
    const ids = new ShortIds();
    learnIds(ids, rows, columns);
    const options = given.isScreen ? { ...given, spellId: (id: string) => ids.short(id) } : given;
    const texts = columns.map((column) => [
      heading(column),
      ...rows.map((row) => cellText(column, row, options)),
    ]);
    const measure = await measureFor(texts.flat());
    const natural = texts.map((column, index) =>
      column.reduce((most, text) => Math.max(most, measure(text)), columns[index]?.room ?? 0),
    );
    const needs = texts.map(
      ([, ...column], index): Need => ({
        isEmpty: column.length > 0 && column.every((text) => text === ''),
        ...(columns[index]?.kind === 'url' && {
          least: column.reduce((most, url) => Math.max(most, leastOfUrl(url, measure)), leastText),
        }),
      }),
    );
    return new Table(layOut(columns, natural, options.width, needs), columns, options, ids);
  }

  /** @returns the header, then the lines of each row: one, unless a column wraps. */
  async firstPage(rows: readonly unknown[]): Promise<string[]> {
    const [header = '', ...lines] = await this.#draw(
      [this.columns.map(heading), ...this.#texts(rows)],
      [undefined, ...rows],
    );
    return [this.options.paint.strong(header), ...lines];
  }

  /** @returns the lines of each row. */
  page(rows: readonly unknown[]): Promise<string[]> {
    learnIds(this.ids, rows, this.columns);
    const texts = this.#texts(rows);
    this.#noteMissed(texts);
    return this.#draw(texts, rows);
  }

  #texts(rows: readonly unknown[]): string[][] {
    return rows.map((row) => this.columns.map((column) => cellText(column, row, this.options)));
  }

  #noteMissed(rows: readonly (readonly string[])[]): void {
    const { shown, below, hidden } = this.placed;
    for (const [index, { name, isExtra }] of this.columns.entries()) {
      const isTold = hidden.includes(name) || below.includes(index) || isExtra === true;
      if (isTold || shown.some((column) => column.index === index)) continue;
      if (rows.some((texts) => texts[index])) this.#missed.add(name);
    }
  }

  /** @param records what the rows were made of; the header has none. */
  async #draw(rows: readonly (readonly string[])[], records: readonly unknown[]): Promise<string[]> {
    const { shown } = this.placed;
    const measure = await measureFor(rows.flat());
    const heights: number[] = [];
    const cells = rows.flatMap((texts, line) => {
      const fitted = shown.map((placed) => this.#fit(texts[placed.index] ?? '', placed, measure));
      const height = Math.max(1, ...fitted.map(({ length }) => length));
      heights.push(height);
      return Array.from({ length: height }, (_, below) =>
        shown.map((placed, at): Cell => {
          const text = fitted[at]?.[below] ?? '';
          const column = this.columns[placed.index];
          const mood = column && records[line] !== undefined ? cellMood(column, records[line]) : undefined;
          return mood === undefined ? { text } : { text, paint: paintMood(mood, this.options.paint) };
        }),
      );
    });
    const lines = await drawRows(cells, shown, measure);
    if (this.placed.below.length === 0) return lines;
    let at = 0;
    return rows.flatMap((texts, index) => {
      const drawn = lines.slice(at, at + (heights[index] ?? 1));
      at += drawn.length;
      return records[index] === undefined ? drawn : [...drawn, ...this.#below(texts, measure)];
    });
  }

  /** What of a row stands below it, set in. */
  #below(texts: readonly string[], measure: Measure): string[] {
    const width = (this.options.width ?? Number.POSITIVE_INFINITY) - setIn.length;
    return this.placed.below
      .flatMap((index) => (texts[index] ? breakCell(texts[index], width, measure) : []))
      .map((line) => setIn + line);
  }

  /** The lines of a cell: one, unless the column wraps. */
  #fit(text: string, { width, cuts, wraps, keeps }: PlacedColumn, measure: Measure): string[] {
    if (!cuts || this.options.width === undefined) return [text];
    if (wraps && !this.options.isOneLine) return breakCell(text, width, measure);
    return [cutting[keeps](text, width, measure)];
  }
}

const setIn = '    ';

const cutting = { start: cut, ends: cutMiddle, host: cutUrl } as const;

function learnIds(ids: ShortIds, rows: readonly unknown[], columns: readonly Column[]): void {
  for (const column of columns) if (column.names) for (const row of rows) ids.learn(columnValue(column, row));
}

const heading = ({ name }: Column): string => safeText(name.toUpperCase());

const late = Symbol('late');

interface BatchOptions {
  /** Rows of the first batch. */
  readonly size: number;
  /** How long the first batch waits for more rows once it has one, in ms. */
  readonly waitMs: number;
}

/**
 * The rows in batches: first as many as `size`, or those that came within `waitMs` of the first one; then one by one.
 * So whoever needs to see some rows before the first is shown (a table its widths) holds up nobody for long.
 */
export async function* headFirst<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  { size, waitMs }: BatchOptions,
): AsyncGenerator<readonly T[]> {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  const patience = new Patience(waitMs);
  let ended = false;
  let coming: Promise<IteratorResult<T>> | undefined;
  const next = async (): Promise<IteratorResult<T>> => {
    try {
      const step = await iterator.next();
      ended = step.done === true;
      return step;
    } catch (error) {
      ended = true;
      throw error;
    }
  };
  try {
    const head: T[] = [];
    while (head.length < size && !ended) {
      coming ??= next();
      const step = head.length === 0 ? await coming : await Promise.race([coming, patience.over()]);
      if (step === late) break;
      coming = undefined;
      if (!step.done) head.push(step.value);
    }
    // The row that came too late for the first batch may yet fail, while nobody waits for it.
    coming?.catch(() => {});
    if (head.length > 0) yield head;
    while (coming || !ended) {
      const step: IteratorResult<T> = await (coming ?? next());
      coming = undefined;
      if (!step.done) yield [step.value];
    }
  } finally {
    patience.end();
    if (!ended) await stop(iterator, coming !== undefined);
  }
}

/** Ends a source before its time; one that is busy ends when it gets to it, which nobody need wait for. */
async function stop(iterator: Iterator<unknown> | AsyncIterator<unknown>, busy: boolean): Promise<void> {
  const stopped = Promise.resolve(iterator.return?.());
  if (busy) stopped.catch(() => {});
  else await stopped;
}

/** One timer for the whole first batch, started when it is first requested. */
class Patience {
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;
  #over: Promise<typeof late> | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  over(): Promise<typeof late> {
    this.#over ??= new Promise((resolve) => {
      this.#timer = setTimeout(resolve, this.#ms, late);
    });
    return this.#over;
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

interface Cell {
  /** Plain, and cut to its column where it may be. */
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/** Stands for a column of a text that cli-table3 would measure wrongly; in no narrow text. */
const placeholder = '\ue000';

const unpainted = (text: string): string => text;

const borderless = {
  chars: {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
    left: '',
    'left-mid': '',
    mid: '',
    'mid-mid': '',
    right: '',
    'right-mid': '',
    middle: ' '.repeat(gap),
  },
  style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
};

/**
 * Draws one page, a line for each row, without borders or trailing spaces. cli-table3 measures wide, combining and
 * emoji characters by an older Unicode than terminals do, and cuts a text that is wider than its column: such texts are
 * measured here, and put in place of placeholders of their width. Its time grows with the square of the rows.
 */
export async function drawRows(
  rows: readonly (readonly Cell[])[],
  columns: readonly PlacedColumn[],
  measure: Measure,
): Promise<string[]> {
  const { default: CliTable } = await import('cli-table3');
  const table = new CliTable({
    ...borderless,
    colWidths: columns.map(({ width }) => width),
    colAligns: columns.map(({ align }) => align),
  });
  const measured: string[] = [];
  for (const row of rows) {
    table.push(
      columns.map(({ width, align }, index) => {
        const { text, paint = unpainted }: Cell = row[index] ?? { text: '' };
        if (isNarrow(text) && text.length <= width) return paint(text);
        const spaces = ' '.repeat(Math.max(0, width - measure(text)));
        measured.push(align === 'left' ? paint(text) + spaces : spaces + paint(text));
        return placeholder.repeat(Math.max(1, width));
      }),
    );
  }
  const texts = measured.values();
  return table
    .toString()
    .split('\n')
    .map((line) => line.replace(/\ue000+/g, () => texts.next().value ?? '').trimEnd());
}
