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
import { policyExit, policyOptions } from '../../spending/options.ts';
import { distributeFile, placeFile, sentOutput } from './place-file.ts';

export const upload = defineCommand({
  name: 'upload',
  summary: 'Place the orders of a CSV, one for each row',
  description:
    'The file is checked first, as by bulk validate; on a terminal errand asks which headings are the columns that it lacks. Each row gets a key derived from its order, so uploading the same file again, after a crash or by mistake, places nothing twice. The upload has a name, that of its file or --name: `bulk watch`, `get`, `results`, `report` and `retry` take it, and `bulk resume` goes on with one that was cut short. To order the same rows again on purpose, give the upload a new --run. Several machines divide a file with --shard: each row falls to one of the parts by its key, wherever it stands, so all parts together are the whole file, and parts that overlap place nothing twice. Where a database is named (ERRAND_DATABASE_URL), --share does that for any number of workers: the first reads the file, all of them check and place its rows, and a worker that dies leaves its rows to the others.',
  arguments: [
    {
      name: 'file',
      completes: 'files',
      description: 'CSV file; - reads stdin; with --share --name it may be left out',
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
    { command: 'errand bulk upload orders.csv --shard 1/2', note: 'half of it; 2/2 on another machine' },
    {
      command: 'errand bulk upload orders.csv --share',
      note: 'on each of several machines that share a database',
    },
  ],
  output: sentOutput,
  operations: ['bulk.create', 'bulk.validate'],
  exitCodes: {
    6: 'the wallet cannot cover it; nothing was sent',
    7: 'a row is invalid and nothing was sent; with --watch: a row failed',
    10: 'in doubt: a batch was sent and no response came; the same command again finds out',
    11: `${policyExit}; or the orders may cost more than --max-total`,
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
