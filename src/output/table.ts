import { headFirst } from './batches.ts';
import { type CellOptions, cellMood, cellText, columnValue } from './cell.ts';
import { type Cell, drawRows } from './draw-rows.ts';
import { type Layout, layOut, leastText, type PlacedColumn } from './layout.ts';
import { type Paint, paintMood } from './paint.ts';
import type { Column } from './result.ts';
import { safeText } from './safe-text.ts';
import { ShortIds } from './short-ids.ts';
import { breakWords, cut, cutMiddle, cutUrl, leastOfUrl, type Measure, measureFor } from './width.ts';
import type { Writer } from './writer.ts';

export interface TableOptions extends CellOptions {
  /** Columns of the terminal; undefined for a pipe, where nothing is hidden or cut. */
  readonly width: number | undefined;
  readonly paint: Paint;
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
  return { count, ...(table?.layout ?? { shown: [], hidden: [], narrowed: [] }) };
}

/** A table whose widths are settled. */
class Table {
  private constructor(
    readonly layout: Layout,
    readonly columns: readonly Column[],
    readonly options: TableOptions,
    readonly ids: ShortIds,
  ) {}

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
    const least = texts.map(([, ...column], index) =>
      columns[index]?.kind === 'url'
        ? column.reduce((most, url) => Math.max(most, leastOfUrl(url, measure)), leastText)
        : undefined,
    );
    return new Table(layOut(columns, natural, options.width, least), columns, options, ids);
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
    return this.#draw(this.#texts(rows), rows);
  }

  #texts(rows: readonly unknown[]): string[][] {
    return rows.map((row) => this.columns.map((column) => cellText(column, row, this.options)));
  }

  /** @param records what the rows were made of; the header has none. */
  async #draw(rows: readonly (readonly string[])[], records: readonly unknown[]): Promise<string[]> {
    const { shown } = this.layout;
    const measure = await measureFor(rows.flat());
    const cells = rows.flatMap((texts, line) => {
      const fitted = shown.map((placed) => this.#fit(texts[placed.index] ?? '', placed, measure));
      const height = Math.max(1, ...fitted.map(({ length }) => length));
      return Array.from({ length: height }, (_, below) =>
        shown.map((placed, at): Cell => {
          const text = fitted[at]?.[below] ?? '';
          const column = this.columns[placed.index];
          const mood = column && records[line] !== undefined ? cellMood(column, records[line]) : undefined;
          return mood === undefined ? { text } : { text, paint: paintMood(mood, this.options.paint) };
        }),
      );
    });
    return drawRows(cells, shown, measure);
  }

  /** The lines of a cell: one, unless the column wraps. */
  #fit(text: string, { width, cuts, wraps, keeps }: PlacedColumn, measure: Measure): string[] {
    if (!cuts || this.options.width === undefined) return [text];
    if (wraps) return breakWords(text, width, measure).map((line) => cut(line, width, measure));
    return [cutting[keeps](text, width, measure)];
  }
}

const cutting = { start: cut, ends: cutMiddle, host: cutUrl } as const;

function learnIds(ids: ShortIds, rows: readonly unknown[], columns: readonly Column[]): void {
  for (const column of columns) if (column.names) for (const row of rows) ids.learn(columnValue(column, row));
}

const heading = ({ name }: Column): string => safeText(name.toUpperCase());
