import { shardOption } from '../../bulk/check/check.ts';
import { errorsOption, savesErrors } from '../../bulk/check/issues.ts';
import { notifyOnComplete, tableOptions } from '../../bulk/csv/table-options.ts';
import {
  earlierOptions,
  maxTotalOption,
  nameOption,
  uploadOptions,
  workerOptions,
} from '../../bulk/upload/prepare.ts';
import { defineCommand } from '../../cli/define.ts';
import { UsageError } from '../../platform/errors.ts';
import { declinedExit, policyExit, policyOptions } from '../../spending/options.ts';
import { distributeFile, placeFile, sentOutput } from './place-file.ts';

export const upload = defineCommand({
  name: 'upload',
  summary: 'Place the orders of a CSV, one for each row',
  description:
    'The file is checked first, as by bulk validate; on a terminal errand asks which headings are the columns that it lacks. Each row is compared with earlier orders: by its reference, where a column names one (--reference-column), which is looked up at the service; else by product and recipient with the orders of the last days, whatever the spelling, the ceiling or other columns. What is placed already is counted and not sent; what failed is sent again. Rows that are only like earlier orders stop the upload before anything is sent: --skip-duplicates orders the others, and --run NAME orders all of it as another occasion. So the same file again, after a crash or by mistake, places nothing twice. The upload has a name, that of its file or --name: `bulk watch`, `get`, `results`, `report` and `retry` take it, and `bulk resume` goes on with one that was cut short. Several machines divide a file whose rows have references with --shard: each row falls to one of the parts by its key, wherever it stands, so all parts together are the whole file, and parts that overlap place nothing twice. Where a database is named (ERRAND_DATABASE_URL), --share does that for any number of workers: the first reads the file, all of them check and place its rows, and a worker that dies leaves its rows to the others.',
  arguments: [
    {
      name: 'file',
      completes: 'files',
      description: 'CSV file or .xlsx workbook; - reads stdin; with --share --name it may be left out',
    },
  ],
  options: {
    ...tableOptions,
    ...errorsOption,
    ...nameOption,
    ...uploadOptions,
    ...earlierOptions,
    ...maxTotalOption,
    ...shardOption,
    ...workerOptions,
    notifyOnComplete,
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    ...policyOptions,
    watch: { kind: 'flag', description: 'follow the batches to their end' },
  },
  examples: [
    { command: 'errand bulk upload orders.csv --watch', note: 'checked, placed, and followed to the end' },
    {
      command: 'errand bulk upload orders.csv --run again -o id',
      note: 'the same file once more, on purpose',
    },
    {
      command: 'errand bulk upload orders.csv --skip-duplicates',
      note: 'without the rows that are like earlier orders',
    },
    {
      command: 'errand bulk upload orders.csv --share',
      note: 'on each of several machines that share a database',
    },
  ],
  output: sentOutput,
  operations: ['bulk.create', 'bulk.validate'],
  exitCodes: {
    5: 'rows are like earlier orders, in doubt, or were taken back, and nothing was sent; or rows differ from the orders of their references, and only the others were sent',
    6: 'the wallet cannot cover it; nothing was sent',
    7: 'a row is invalid and nothing was sent; with --watch: a row failed',
    10: 'in doubt: a batch was sent and no response came; the same command again finds out',
    11: `${policyExit}; or the orders may cost more than --max-total`,
    130: declinedExit,
  },
  writesCsv: savesErrors,
  related: ['bulk validate', 'bulk uploads', 'bulk watch', 'bulk resume', 'bulk retry'],
  run(context, { file, share = false, ...given }) {
    // A preview never joins the shared queue.
    if (share && !context.previewsRequests) return distributeFile(context, file, given);
    if (given.rate !== undefined && !share) throw new UsageError('--rate is for the workers of --share');
    if (file === undefined) throw new UsageError('bulk upload needs a file; - reads stdin');
    return placeFile(context, file, given);
  },
});
