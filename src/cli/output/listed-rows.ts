import { type CellOptions, cellText } from '../../format/cell.ts';
import { accessor } from '../../format/path.ts';
import {
  type Column,
  type LastListRow,
  type LastListRows,
  type ListResult,
  maxListed,
  type RecordKind,
  type Row,
} from '../../format/result.ts';

/** Number of rows in the first batch of a long list. */
const rowsOfPage = 100;

/** Maximum length of a label. A longer label would not make a row easier to identify. */
const maxTextLength = 200;

/** Numbers the rows of a list as they are printed, and stores what identifies them. */
export class RowCounter {
  readonly #numbers = new WeakMap<object, number>();
  readonly #rows: (LastListRow | null)[] = [];
  readonly #kind: RecordKind;
  readonly #result: ListResult;
  readonly #options: CellOptions;
  readonly #read: (row: unknown) => unknown;
  readonly #labels: readonly Column[];

  private constructor(kind: RecordKind, result: ListResult, options: CellOptions) {
    this.#kind = kind;
    this.#result = result;
    this.#options = options;
    this.#read = accessor(idPath(result));
    this.#labels = labelColumns(result.screen ?? result.columns);
  }

  /**
   * Creates a counter. Undefined if the records have no ids that a row number could replace, or if the user already had
   * to name the records to get the list.
   */
  static of(result: ListResult, options: CellOptions): RowCounter | undefined {
    const kind = result.columns.find(({ path }) => path === idPath(result))?.names;
    return result.isByName || !kind ? undefined : new RowCounter(kind, result, options);
  }

  get lastList(): LastListRows {
    return { kind: this.#kind, rows: this.#rows };
  }

  /** Column with the row numbers; empty for rows beyond the stored ones. */
  get column(): Column {
    const rows = this.#rows;
    return {
      name: '@',
      path: '@',
      kind: 'count',
      weight: Number.POSITIVE_INFINITY,
      value: (row: Row): number | undefined => this.#numbers.get(row),
      // Column widths are fixed once the first rows arrive, so reserve room for the highest row number of a longer
      // list.
      get room() {
        return rows.length < rowsOfPage ? 0 : String(maxListed).length;
      },
    };
  }

  async *count(rows: ListResult['rows']): AsyncGenerator<Row> {
    for await (const row of rows) {
      if (this.#rows.length < maxListed) {
        this.#rows.push(this.#listRow(row));
        this.#numbers.set(row, this.#rows.length);
      }
      yield row;
    }
  }

  #listRow(row: Row): LastListRow | null {
    const id = this.#read(row);
    if ((typeof id !== 'string' && typeof id !== 'number') || id === '') return null;
    const texts = this.#labels.map((column) => cellText(column, row, this.#options)).filter(Boolean);
    const facts = Object.entries(this.#result.facts?.(row) ?? {});
    return {
      id: String(id),
      label: texts.join(', ').slice(0, maxTextLength),
      facts: Object.fromEntries(
        facts.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      ),
    };
  }
}

const idPath = ({ id = 'id' }: ListResult): string => id;

const uninformativeKinds: readonly Column['kind'][] = ['time', 'date', 'flag', 'count'];

/** The three most informative columns of a row, in order. */
function labelColumns(columns: readonly Column[]): readonly Column[] {
  const telling = columns.filter(
    ({ names, kind, isExtra, weight = 0 }) =>
      names === undefined && !isExtra && weight >= 6 && !uninformativeKinds.includes(kind),
  );
  const best = telling.toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0)).slice(0, 3);
  return telling.filter((column) => best.includes(column));
}
