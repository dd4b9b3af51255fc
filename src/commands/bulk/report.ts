import type { Output } from '../../api/outputs/index.ts';
import {
  type Grouping,
  groupingNamed,
  groupings,
  groupList,
  groupOfRow,
  groupsOf,
  hiddenColumn,
  recordOf,
} from '../../bulk/report/groups.ts';
import { type Report, readReport } from '../../bulk/report/read.ts';
import type { ReportRow } from '../../bulk/report/rows.ts';
import { headingsOf } from '../../bulk/report/rows.ts';
import { missingLines, reportColumns, reportScreen, summaryLines } from '../../bulk/report/summary.ts';
import {
  batchesArgument,
  leftOutLines,
  type NamedBatches,
  namedBatches,
  unsentLines,
} from '../../bulk/upload/named.ts';
import { retryLines } from '../../bulk/upload/retried.ts';
import { defineCommand } from '../../cli/define.ts';
import { checkPage, pageOptions, savePage } from '../../cli/page-options.ts';
import type { ListResult, Row } from '../../format/result.ts';
import { UsageError } from '../../platform/errors.ts';
import { didYouMean } from '../../platform/near-words.ts';
import { readRetailers } from '../../spending/report/read.ts';
import { reportZone } from '../../spending/report/time-zone.ts';

export const report = defineCommand({
  name: 'report',
  summary: 'Report what became of each row of an upload and what it cost, with totals',
  description:
    'One line for each row of the file: state, your own columns, ceiling, what was charged, refunded and credited, fee, tracking and the reason of a failure. A failed order has no charge; quoted is what it was refused at. A row that was retried is one line, with its latest attempt and the amounts of all. Totals are what the orders took from the wallet. A terminal shows those of your columns that tell rows apart; -o csv and -o json have all.',
  arguments: [batchesArgument],
  options: {
    by: {
      kind: 'text',
      placeholder: 'what',
      suggests: [...groupings, 'metadata.KEY'],
      description: 'list totals in place of rows; any column of the file, too',
    },
    timeZone: {
      kind: 'text',
      placeholder: 'zone',
      description: "zone of days: America/Chicago; else the policy's, else UTC",
    },
    ...pageOptions('to hand on; without names and streets'),
  },
  examples: [
    { command: 'errand bulk report december', note: 'row by row' },
    { command: 'errand bulk report december -o csv > report.csv', note: 'for a spreadsheet, in cents' },
    { command: 'errand bulk report december --by metadata.team', note: 'what each team spent' },
    { command: 'errand bulk report december --html report.html --force', note: 'a page to hand on' },
  ],
  output: [{ list: 'BulkReportRow' }, { list: 'BulkReportGroup', when: 'with --by' }],
  operations: ['bulk.get', 'order.list', 'wallet.get', 'retailer.list'],
  related: ['bulk results', 'bulk retry', 'spend', 'reconcile'],
  async run(context, { ids: given, by: named, timeZone: zoneGiven, html, force = false }) {
    const batches = await namedBatches(context, given);
    const { timeZone, note } = await reportZone(context, zoneGiven);
    checkPage(html, force);
    const read = await readReport(context, batches);
    const { rows } = read;
    const headings = headingsOf(rows);
    const by = named === undefined ? undefined : checkGrouping(named, headings);
    const retailers =
      by?.kind === 'retailer' || html !== undefined ? await readRetailers(await context.client()) : () => '';
    const lines = [
      ...summaryLines(read),
      ...missingLines(read),
      ...unsentLines(batches.uploads),
      ...leftOutLines(batches.uploads),
    ];
    const groupOf = (what: Grouping) => groupOfRow(what, { timeZone, retailers });
    if (html !== undefined) {
      const { reportPage } = await import('../../bulk/report/report-page.ts');
      const what = by ?? ({ kind: 'retailer' } as const);
      const groups = groupsOf(rows, groupOf(what), what.kind === 'day');
      const made = { title: titleOf(batches, read), rows, lines, by: named ?? 'retailer', groups };
      const service = context.settings.baseUrl.value;
      await savePage(context, html, reportPage({ ...made, service, now: context.serviceClock.now() }), {
        force,
        mode: 0o600,
      });
    }
    const next = await retryLines(context, { batches: batches.counted(read.batches), named: batches });
    if (by === undefined || named === undefined) return rowList(rows, headings, [...lines, ...next]);
    const hidden = hiddenColumn(by, headings);
    const notes = [
      ...lines,
      ...(by.kind === 'day' ? [note] : []),
      ...(hidden === undefined ? [] : [`by the column of the file: --by ${hidden}`]),
    ];
    return groupList(context, named, rows, groupsOf(rows, groupOf(by), by.kind === 'day'), notes);
  },
});

/** Title of the report: the names of the uploads if the user gave names, otherwise the names of the files. */
function titleOf({ ids, uploads, words }: NamedBatches, { batches }: Report): string {
  if (uploads.length === words.length && ids.length > 0) return words.join(', ');
  return [...new Set(batches.map(({ filename }) => String(filename ?? 'an upload')))].join(', ');
}

/** @throws UsageError listing the available groupings. */
function checkGrouping(text: string, headings: readonly string[]): Grouping {
  const found = groupingNamed(text, headings);
  if (found) return found;
  const near = didYouMean(text, [...groupings, ...headings]);
  throw new UsageError(
    `--by takes ${groupings.join(', ')}, metadata.KEY or a column of the file, not "${text}"${near}`,
    { hint: `The columns are ${headings.slice(0, 40).join(', ')}.` },
  );
}

function rowList(
  rows: readonly ReportRow[],
  headings: readonly string[],
  lines: readonly string[],
): ListResult<Output<'BulkReportRow'>> {
  const madeOf = new WeakMap<Row, ReportRow>();
  function* records(): Generator<Output<'BulkReportRow'>> {
    for (const row of rows) {
      const record = recordOf(row);
      madeOf.set(record, row);
      yield record;
    }
  }
  return {
    kind: 'list',
    rows: records(),
    columns: reportColumns({ headings, isNumbered: rows.every(({ number }) => number !== undefined) }),
    screen: reportScreen(rows, (record) => madeOf.get(record)),
    id: 'order_id',
    empty: 'no row is there yet',
    hints: () => lines,
    isByName: true,
  };
}
