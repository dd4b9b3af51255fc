import { headFirst } from './batches.ts';
import { type CellOptions, cellText } from './cell.ts';
import { gap, type Layout, layOut, type PlacedColumn } from './layout.ts';
import { type Paint, paintStatus } from './paint.ts';
import type { Column } from './result.ts';
import { safeText } from './safe-text.ts';
import { cut, cutStart, type Measure, measureFor, pad } from './width.ts';
import type { Writer } from './writer.ts';

export interface TableOptions extends CellOptions {
  /** Columns of the terminal; undefined for a pipe, where nothing is hidden or cut. */
  readonly width: number | undefined;
  readonly paint: Paint;
}

/** Rows as lines: a header, then one line each. For what is drawn whole; a list is printed with `printTable`. */
export async function tableLines(
  rows: readonly unknown[],
  columns: readonly Column[],
  options: TableOptions,
): Promise<{ readonly lines: string[]; readonly hidden: readonly string[] }> {
  const table = await Table.begin(rows, columns, options);
  return { lines: [table.header, ...(await table.rows(rows))], hidden: table.layout.hidden };
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
): Promise<{ readonly count: number } & Pick<Layout, 'hidden' | 'narrowed'>> {
  let table: Table | undefined;
  let count = 0;
  try {
    for await (const batch of headFirst(rows, { size: 100, waitMs: 100 })) {
      const begun: boolean = table !== undefined;
      table ??= await Table.begin(batch, columns, options);
      const lines = await table.rows(batch);
      count += lines.length;
      await out.write(`${(begun ? lines : [table.header, ...lines]).join('\n')}\n`);
      if (out.isClosed) break;
    }
  } finally {
    await out.flush();
  }
  return { count, hidden: table?.layout.hidden ?? [], narrowed: table?.layout.narrowed ?? [] };
}

/** A table whose widths are settled. */
class Table {
  readonly header: string;

  private constructor(
    readonly layout: Layout,
    readonly columns: readonly Column[],
    readonly options: TableOptions,
    measure: Measure,
  ) {
    this.header = options.paint.faint(this.#line(columns.map(heading), measure, (text) => text));
  }

  static async begin(
    rows: readonly unknown[],
    columns: readonly Column[],
    options: TableOptions,
  ): Promise<Table> {
    const texts = columns.map((column) => [
      heading(column),
      ...rows.map((row) => cellText(column, row, options)),
    ]);
    const measure = await measureFor(texts.flat());
    const natural = texts.map((column, index) =>
      column.reduce((most, text) => Math.max(most, measure(text)), columns[index]?.room ?? 0),
    );
    return new Table(layOut(columns, natural, options.width), columns, options, measure);
  }

  /** @returns one line for each row. */
  async rows(rows: readonly unknown[]): Promise<string[]> {
    const cells = rows.map((row) => this.columns.map((column) => cellText(column, row, this.options)));
    const measure = await measureFor(cells.flat());
    return cells.map((texts) => this.#line(texts, measure, this.#painted));
  }

  #line(texts: readonly string[], measure: Measure, paint: (text: string, index: number) => string): string {
    const { shown } = this.layout;
    const cells = shown.map((placed, position) => {
      const text = this.#fit(texts[placed.index] ?? '', placed, measure);
      const last = position === shown.length - 1 && placed.align === 'left';
      return paint(last ? text : pad(text, placed.width, placed.align, measure), placed.index);
    });
    return cells.join(' '.repeat(gap)).trimEnd();
  }

  #fit(text: string, { width, cuts, keeps }: PlacedColumn, measure: Measure): string {
    if (!cuts || this.options.width === undefined) return text;
    return (keeps === 'end' ? cutStart : cut)(text, width, measure);
  }

  readonly #painted = (text: string, index: number): string =>
    this.columns[index]?.kind === 'status' ? paintStatus(text.trimEnd(), this.options.paint)(text) : text;
}

const heading = ({ name }: Column): string => safeText(name.toUpperCase());
