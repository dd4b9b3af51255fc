import { csvRecord } from '../../output/csv.ts';
import { plainAmount } from '../../output/money.ts';
import { type BooksFormat, ended, oneLine } from './format.ts';

const headings = [
  ...['id', 'wallet', 'date', 'kind', 'account', 'amount', 'currency'],
  ...['basis', 'order_id', 'payee', 'description', 'po_number', 'metadata'],
];

/** A table with one row for each posting; the rows of an id add up to 0. @param raw leave what a spreadsheet would run. */
export function csvBooks(wallet: string, raw: boolean): BooksFormat {
  const record = (cells: readonly string[]): string =>
    csvRecord(cells, { delimiter: ',', raw, visible: false });
  const head = record(headings);
  return {
    refuses: (text) => {
      if (!text.startsWith(head)) return 'was not written by spend export --as csv';
      const [, first = ''] = text.split('\n', 2);
      return first === '' || first.split(',', 2)[1] === wallet ? undefined : 'belongs to another wallet';
    },
    *ids(text) {
      // No cell has a line break, so each line is a row.
      for (const [, id = ''] of text.matchAll(/^([\w.-]+),/gm)) yield id;
    },
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
      yield before === undefined ? head : ended(before);
      yield* texts;
    },
  };
}
