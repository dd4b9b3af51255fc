import { type CellOptions, cellMood, cellText, columnValue } from '../../format/cell.ts';
import type { Column } from '../../format/result.ts';
import { ShortIds } from '../../format/short-ids.ts';
import {
  breakCell,
  cut,
  cutMiddle,
  cutUrl,
  leastOfUrl,
  type Measure,
  measureFor,
} from '../../format/width.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { headFirst } from './batches.ts';
import { type Cell, drawRows } from './draw-rows.ts';
import { type Layout, layOut, leastText, type Need, type PlacedColumn } from './layout.ts';
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
