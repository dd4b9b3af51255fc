import { CsvError, parse } from 'csv-parse/sync';
import { csvRecord } from '../../format/csv.ts';
import { plainAmount, readPlainAmount } from '../../format/money.ts';
import { type Posting, readId, readOpening, walletAccount } from './entries.ts';
import {
  type AccountingContent,
  type AccountingFormat,
  type Broken,
  continued,
  incomplete,
  oneLine,
  unbalanced,
} from './files.ts';

const headings = [
  ...['id', 'wallet', 'date', 'kind', 'account', 'amount', 'currency'],
  ...['basis', 'order_id', 'payee', 'description', 'po_number', 'metadata'],
];

/**
 * CSV with one row per posting. The rows of an entry sum to 0.
 * @param raw tells whether to leave cells unchanged that a spreadsheet would run as formulas. By default, such cells
 * are neutralized.
 */
export function csvAccounting(wallet: string, raw: boolean): AccountingFormat {
  const record = (cells: readonly string[]): string =>
    csvRecord(cells, { delimiter: ',', raw, visible: false });
  const head = record(headings);
  return {
    refuses: (text) => {
      const [first = '', second = ''] = text.split('\n', 2);
      const [names] = tableOf(first).rows;
      if (names === undefined || names.cells.join(',') !== headings.join(','))
        return 'does not begin with the headings that spend export --as csv writes, with commas between them';
      const of = tableOf(second).rows[0]?.cells[1];
      return of === undefined || of === wallet ? undefined : 'belongs to another wallet';
    },
    read: readRows,
    takes: () => true,
    render: ({
      id,
      date,
      kind,
      orderId = '',
      payee,
      text,
      poNumber = '',
      metadata = '',
      isByRule,
      postings,
    }) =>
      postings
        .map(({ account, cents, currency }) =>
          record([
            ...[id, wallet, date, kind, account, plainAmount(cents, currency), currency],
            ...[isByRule ? 'by rule' : 'observed', orderId, oneLine(payee), oneLine(text)],
            ...[oneLine(poNumber), oneLine(metadata, 400)],
          ]),
        )
        .join(''),
    *assemble(_, before, { texts }) {
      if (before !== undefined) return yield* continued(before, texts);
      yield head;
      yield* texts;
    },
  };
}

interface Table {
  readonly rows: readonly TableRow[];
  /** Line number of an unterminated or misplaced quote. */
  readonly failedAt?: number;
}

interface TableRow {
  /** Line number, starting at 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Parses the rows of a CSV table. The table may use any style of quoting that spreadsheets use. */
function tableOf(text: string): Table {
  const rows: TableRow[] = [];
  try {
    parse(text, {
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (cells: string[], { lines }) => {
        rows.push({ line: lines, cells });
        return null;
      },
    });
    return { rows };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { rows, failedAt: Number(error.lines) };
  }
}

interface Rows {
  readonly line: number;
  /** The postings of an entry. Undefined if an amount cannot be parsed. */
  postings: Posting[] | undefined;
}

/** Groups rows with the same id into one entry. */
function readRows(text: string): AccountingContent {
  const { rows, failedAt } = tableOf(text);
  if (failedAt !== undefined)
    return { entries: [], others: 0, broken: incomplete(failedAt, undefined, 'a quote is missing') };
  const found = new Map<string, Rows>();
  let others = 0;
  let broken: Broken | undefined;
  for (const [at, { line, cells }] of rows.entries()) {
    const [id = '', , , , account = '', digits = '', currency = ''] = cells;
    const isOurs = readId(id) !== undefined || readOpening(id) !== undefined;
    const isShort = cells.length < headings.length;
    if (isShort && (isOurs || at === rows.length - 1))
      broken ??= incomplete(line, isOurs ? id : undefined, 'its row has too few cells');
    if (!isOurs && account === walletAccount) others += 1;
    if (!isOurs || isShort) continue;
    const entry: Rows = found.get(id) ?? { line, postings: [] };
    found.set(id, entry);
    const cents = readPlainAmount(digits, currency);
    if (cents === undefined) entry.postings = undefined;
    else entry.postings?.push({ account, cents, currency });
  }
  const entries = [...found].map(([id, rest]) => ({ id, ...rest }));
  for (const { id, line, postings } of entries)
    if (postings && unbalanced(postings).length > 0)
      broken ??= incomplete(line, id, 'its rows do not add up to 0');
  return { entries, others, ...(broken && { broken }) };
}
