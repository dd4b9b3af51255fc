import { type CellOptions, cellMood, cellText, columnValue } from '../../format/cell.ts';
import type { Column, ColumnKind } from '../../format/result.ts';
import { ShortIds } from '../../format/short-ids.ts';
import {
  breakCell,
  cut,
  cutMiddle,
  cutUrl,
  isNarrow,
  type Measure,
  measureFor,
  minUrlWidth,
} from '../../format/width.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { type Paint, paintMood } from './paint.ts';
import type { Writer } from './writer.ts';

const gap = 2;

/** Minimum useful width of a column. If there is less room, the least important column is dropped instead. */
const minTextWidth = 12;
/** Minimum width of a status. The status's symbol and first word fit in it. */
const minStatusWidth = 16;
/** Minimum width of prose. A few words fit in a line of it. */
const minProseWidth = 20;
/** Weight that makes a status the last column to be dropped, because a row without its status may look successful. */
const statusFirst = 1000;
/** Columns with less weight, such as an age, are dropped before a status is wrapped. */
const minWeightBeforeStatus = 5;

export interface PlacedColumn {
  /** Index into the given columns. */
  readonly index: number;
  readonly width: number;
  readonly align: 'left' | 'right';
  /** Whether longer text is truncated with `…`. Amounts and ids never are, because their meaning would change. */
  readonly cuts: boolean;
  /** Whether longer text wraps at word boundaries. */
  readonly wraps: boolean;
  /** Which part of a text truncation keeps. Of a URL, it keeps the host, and the end, which identifies the product. */
  readonly keeps: 'start' | 'ends' | 'host';
}

export interface Layout {
  readonly shown: readonly PlacedColumn[];
  /** Columns that did not fit and are shown below each row. */
  readonly below: readonly number[];
  /** Names of the columns that did not fit. Columns that are empty in every row are left out. */
  readonly hidden: readonly string[];
  /** Names of the columns that are shown, but are narrower than their widest text. */
  readonly narrowed: readonly string[];
}

/** Space requirements derived from a column's texts. */
interface Need {
  /** Minimum width that replaces the column's own `minWidth`. */
  readonly minWidth?: number | undefined;
  /** Whether the column is empty in every row. */
  readonly isEmpty?: boolean;
}

interface Candidate extends Omit<PlacedColumn, 'width'> {
  width: number;
  readonly minWidth: number;
  readonly weight: number;
  readonly isStatus: boolean;
  readonly isEmpty: boolean;
  readonly name: string;
}

/**
 * Fits columns into the terminal. Drops the columns with the lowest weights first (among equal weights, the last
 * column), restores dropped columns that still fit, then narrows the widest texts. Empty columns are dropped before all
 * others; extra columns appear only if no other column has to give way.
 * @param natural lists the width of each column's widest text, including its header.
 * @param limit is the terminal width in columns; undefined for a pipe, where everything is shown in full.
 * @param needs lists the space requirements of each column, if its texts have any.
 */
export function layOut(
  columns: readonly Column[],
  natural: readonly number[],
  limit: number | undefined,
  needs: readonly Need[] = [],
): Layout {
  const all = columns.map((column, index) => candidate(column, index, natural[index] ?? 0, needs[index]));
  const isExtra = ({ index }: Candidate): boolean => columns[index]?.isExtra !== undefined;
  let shown = limit === undefined ? all : all.filter((column) => !isExtra(column));
  const dropped: Candidate[] = [];
  if (limit === undefined) return { shown, below: [], hidden: [], narrowed: [] };
  if (total(shown, 'width') > limit) shown = shown.filter(({ isEmpty }) => !isEmpty);
  while (shown.length > 1) {
    const low = shown.reduce((lowest, next) => (next.weight <= lowest.weight ? next : lowest));
    const needed = low.weight < minWeightBeforeStatus ? withWholeStatus(shown) : shown;
    if (total(needed, 'minWidth') <= limit) break;
    shown = shown.filter((column) => column !== low);
    dropped.unshift(low);
  }
  shown = withThoseThatFit(shown, dropped, limit, 'minWidth');
  const extras = all
    .filter((column) => isExtra(column) && !column.isEmpty)
    .sort((a, b) => b.weight - a.weight);
  if (total(shown, 'width') <= limit) shown = withThoseThatFit(shown, extras, limit, 'width');
  narrow(shown, limit);
  const isShown = new Set(shown.map(({ index }) => index));
  const placed = shown.map((column) => ({ ...column, ...onlyOne(shown, limit) }));
  const hidden = all.filter(
    ({ index, isEmpty }) => !isShown.has(index) && !isEmpty && columns[index]?.isExtra !== true,
  );
  const isShownBelow = ({ index }: Candidate): boolean => columns[index]?.wraps === true;
  return {
    shown: placed,
    below: hidden.filter(isShownBelow).map(({ index }) => index),
    hidden: hidden.filter((column) => !isShownBelow(column)).map(({ name }) => name),
    narrowed: names(columns, (index) =>
      placed.some(
        (column) => column.index === index && !column.wraps && column.width < (natural[index] ?? 0),
      ),
    ),
  };
}

/**
 * Fills the width freed by a dropped wide column with narrower columns, most important first, without narrowing a
 * status.
 */
function withThoseThatFit(
  shown: readonly Candidate[],
  dropped: readonly Candidate[],
  limit: number,
  key: 'width' | 'minWidth',
): Candidate[] {
  let fitting = [...shown];
  for (const column of dropped) {
    const more = [...fitting, column];
    if (total(withWholeStatus(more), key) <= limit) fitting = more;
  }
  return fitting.sort((a, b) => a.index - b.index);
}

const withWholeStatus = (columns: readonly Candidate[]): Candidate[] =>
  columns.map((one) => (one.isStatus ? { ...one, minWidth: one.width } : one));

function candidate(column: Column, index: number, width: number, need: Need = {}): Candidate {
  const { kind, weight = 0, name } = column;
  const isStatus = kind === 'status';
  const own = isStatus ? minStatusWidth : column.isProse ? minProseWidth : minTextWidth;
  const minWidth = need.minWidth ?? column.minWidth ?? own;
  const cuts = kind === undefined || kind === 'text' || kind === 'url' || isStatus;
  return {
    index,
    width,
    minWidth: cuts ? Math.min(width, minWidth) : width,
    cuts,
    wraps: column.isProse === true || isStatus,
    keeps: column.keeps ?? (kind === 'url' ? 'host' : 'start'),
    align: alignment(kind),
    weight: isStatus ? weight + statusFirst : weight,
    isStatus,
    isEmpty: need.isEmpty === true,
    name,
  };
}

const alignment = (kind: ColumnKind | undefined): 'left' | 'right' =>
  kind === 'money' || kind === 'count' ? 'right' : 'left';

const total = (columns: readonly Candidate[], key: 'width' | 'minWidth'): number =>
  columns.reduce((sum, column) => sum + column[key], gap * Math.max(0, columns.length - 1));

/** Narrows the widest texts one column at a time, and a status last, until everything fits or is at its minimum. */
function narrow(columns: readonly Candidate[], limit: number): void {
  for (let excess = total(columns, 'width') - limit; excess > 0; excess -= 1) {
    const wide = columns.filter(({ width, minWidth }) => width > minWidth);
    const texts = wide.filter(({ isStatus }) => !isStatus);
    const [first, ...more] = texts.length > 0 ? texts : wide;
    if (!first) return;
    const widest = more.reduce((max, next) => (next.width > max.width ? next : max), first);
    widest.width -= 1;
  }
}

/**
 * If only one column remains, truncates it to the terminal width, even if columns of that kind are otherwise never
 * truncated.
 */
function onlyOne(shown: readonly Candidate[], limit: number): Partial<PlacedColumn> {
  const [only] = shown;
  return only && shown.length === 1 && only.width > limit ? { width: limit, cuts: true } : {};
}

const names = (columns: readonly Column[], isSelected: (index: number) => boolean): string[] =>
  columns.filter((_, index) => isSelected(index)).map(({ name }) => name);

export interface TableOptions extends CellOptions {
  /** Terminal width in columns; undefined for a pipe, where nothing is hidden or truncated. */
  readonly width: number | undefined;
  readonly paint: Paint;
  /** Name of the program on this terminal, to recognize command lines. */
  readonly command?: string | undefined;
  /** Keeps each row on one line, truncating as needed. */
  readonly isOneLine?: boolean;
}

/** Rows drawn at once. */
const pageSize = 100;

/**
 * Formats a complete table as a header and one line per row, or several lines if prose wraps. Use `printTable` for
 * lists.
 */
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
 * Streams a list as a table. Column widths come from the first rows; longer text in later rows is truncated on a TTY
 * and overflows in a pipe. Prints nothing if the source fails before the table has begun.
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
      const started: Table | undefined = table;
      table ??= await Table.begin(batch, columns, options);
      const lines = await (started ? table.page(batch) : table.firstPage(batch));
      count += batch.length;
      await out.write(`${lines.join('\n')}\n`);
      if (out.isClosed) break;
    }
  } finally {
    await out.flush();
  }
  return { count, ...(table?.layout ?? { shown: [], below: [], hidden: [], narrowed: [] }) };
}

/** A table with fixed widths. */
class Table {
  readonly #missed = new Set<string>();

  private constructor(
    readonly placed: Layout,
    readonly columns: readonly Column[],
    readonly options: TableOptions,
    readonly ids: ShortIds,
  ) {}

  /** Final layout. Its hidden columns include columns that were empty in the first rows but had text in later rows. */
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
      column.reduce((max, text) => Math.max(max, measure(text)), columns[index]?.room ?? 0),
    );
    const needs = texts.map(
      ([, ...column], index): Need => ({
        isEmpty: column.length > 0 && column.every((text) => text === ''),
        ...(columns[index]?.kind === 'url' && {
          minWidth: column.reduce((max, url) => Math.max(max, minUrlWidth(url, measure)), minTextWidth),
        }),
      }),
    );
    return new Table(layOut(columns, natural, options.width, needs), columns, options, ids);
  }

  /** @returns the header, then the lines of each row. A row has one line unless a column wraps. */
  async firstPage(rows: readonly unknown[]): Promise<string[]> {
    const [header = '', ...lines] = await this.#draw(
      [this.columns.map(heading), ...this.#texts(rows)],
      [undefined, ...rows],
    );
    return [this.options.paint.strong(header), ...lines];
  }

  /** @returns each row's lines. */
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
      const isReported = hidden.includes(name) || below.includes(index) || isExtra === true;
      if (isReported || shown.some((column) => column.index === index)) continue;
      if (rows.some((texts) => texts[index])) this.#missed.add(name);
    }
  }

  /** @param records the rows' records; undefined for the header. */
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

  /** Columns shown below a row, indented. */
  #below(texts: readonly string[], measure: Measure): string[] {
    const width = (this.options.width ?? Number.POSITIVE_INFINITY) - setIn.length;
    return this.placed.below
      .flatMap((index) => (texts[index] ? breakCell(texts[index], width, measure) : []))
      .map((line) => setIn + line);
  }

  /** The lines of a cell. There is only one line unless the column wraps. */
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
  /** Maximum rows of the first batch. */
  readonly size: number;
  /** How long, in ms, the first batch waits, after its first row has arrived, for more rows. */
  readonly waitMs: number;
}

/**
 * Batches rows, so that a table can compute its widths from several rows without much delay. The first batch has up to
 * `size` rows, or those that arrive within `waitMs` of the first row. Later rows come one at a time.
 */
export async function* headFirst<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  { size, waitMs }: BatchOptions,
): AsyncGenerator<readonly T[]> {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  const timeout = new WaitTimeout(waitMs);
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
      const step = head.length === 0 ? await coming : await Promise.race([coming, timeout.over()]);
      if (step === late) break;
      coming = undefined;
      if (!step.done) head.push(step.value);
    }
    // Mark the promise as handled. It belongs to the row that came too late for the first batch, and may reject while
    // nobody awaits it.
    coming?.catch(() => {});
    if (head.length > 0) yield head;
    while (coming || !ended) {
      const step: IteratorResult<T> = await (coming ?? next());
      coming = undefined;
      if (!step.done) yield [step.value];
    }
  } finally {
    timeout.end();
    if (!ended) await stop(iterator, coming !== undefined);
  }
}

/** Stops a source early. If the source is busy, it stops later, and nobody waits for that. */
async function stop(iterator: Iterator<unknown> | AsyncIterator<unknown>, busy: boolean): Promise<void> {
  const stopped = Promise.resolve(iterator.return?.());
  if (busy) stopped.catch(() => {});
  else await stopped;
}

/** A single timer for the whole first batch, started on first use. */
class WaitTimeout {
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
  /** Plain text, truncated to its column if allowed. */
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/** Private-use placeholder for one column of a text. */
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
 * Returns the text that cli-table3 puts before, between and after the columns of a line. It is cached per table,
 * because a layout takes 150 µs.
 */
async function layoutOf(columns: readonly PlacedColumn[]): Promise<readonly string[]> {
  const known = layouts.get(columns);
  if (known) return known;
  const { default: CliTable } = await import('cli-table3');
  const table = new CliTable({
    ...borderless,
    colWidths: columns.map(({ width }) => width),
    colAligns: columns.map(({ align }) => align),
  });
  table.push(columns.map(({ width }) => placeholder.repeat(Math.max(1, width))));
  const layout = table.toString().split(/\ue000+/);
  layouts.set(columns, layout);
  return layout;
}

const layouts = new WeakMap<readonly PlacedColumn[], readonly string[]>();

/**
 * Draws a page with one line per row, and without borders or trailing spaces. Texts are measured here and not by
 * cli-table3, which measures wide, combining and emoji characters by an older Unicode version than terminals do.
 */
export async function drawRows(
  rows: readonly (readonly Cell[])[],
  columns: readonly PlacedColumn[],
  measure: Measure,
): Promise<string[]> {
  if (rows.length === 0) return [];
  const layout = await layoutOf(columns);
  return rows.map((row) => {
    let line = layout[0] ?? '';
    for (const [index, { width, align }] of columns.entries()) {
      const { text, paint = unpainted }: Cell = row[index] ?? { text: '' };
      const taken = isNarrow(text) ? text.length : measure(text);
      const spaces = ' '.repeat(Math.max(0, width - taken));
      line += align === 'left' ? paint(text) + spaces : spaces + paint(text);
      line += layout[index + 1] ?? '';
    }
    return line.trimEnd();
  });
}
