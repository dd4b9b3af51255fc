import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import type { Attempt } from '../../journal/attempts.ts';
import { firstKeyOf } from '../../orders/needs/row-key.ts';
import { confirmSpending } from '../../orders/spending-lines.ts';
import { readyToSend } from '../../orders/submit/submit.ts';
import { ErrandError, exitCodes, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { type Consent, consentOf } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/policy-gate.ts';
import { type Shard, shardText } from '../check/check.ts';
import type { FileCheck, Scope } from '../check/file-check.ts';
import { checkedFile } from '../check/file-check.ts';
import { rowsText } from '../check/row-sample.ts';
import { isShort, leftOutText, previewSpend, type Spend, shortOf, spendLine } from '../check/spend.ts';
import { readReading } from '../csv/reading.ts';
import { referenceFlags, type TableFlags, tableFlags } from '../csv/table-options.ts';
import { type DecidedRows, decideRows, type RowsAsked } from '../needs/decide-rows.ts';
import { blockedRows, countsLine, differsLines } from '../needs/refused-rows.ts';
import { defaultBatchRows } from './batches.ts';
import { uploadName } from './begin.ts';
import type { UploadFileRow } from './file-rows.ts';
import { knownUpload, unsentIn } from './named.ts';
import type { Source } from './source.ts';
import { serializeSource } from './source.ts';
import { proposedByUpload, type Upload } from './upload.ts';
import { UploadWarnings } from './upload-warnings.ts';
import { ceilingsOf } from './uploaded-rows.ts';

/**
 * What the user says about how to read a file and which of its rows to take. An upload, a plan and several workers use
 * these options.
 */
export interface FileGiven extends TableFlags {
  readonly batchSize?: number | undefined;
  readonly run?: string | undefined;
  readonly skipInvalid?: boolean | undefined;
  readonly skipDuplicates?: boolean | undefined;
  readonly again?: boolean | undefined;
  readonly notifyOnComplete?: boolean | undefined;
}

/** What the user says about an upload, including the consent to spend. */
export interface UploadGiven extends FileGiven, Omit<Consent, 'plan'> {
  readonly name?: string | undefined;
  readonly errors?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly watch?: boolean | undefined;
  readonly maxTotal?: number | undefined;
}

/** Options of an upload by several workers, or of a part of a file. */
interface Special extends Pick<Scope, 'shard' | 'checkRows'> {
  /** Whether several workers send the upload. */
  readonly isShared?: boolean;
}

/** An upload that is ready to be sent. */
export interface PreparedUpload {
  readonly check: FileCheck;
  readonly upload: Upload;
  /** Facts to print once the upload is sent. */
  readonly facts: readonly string[];
  /**
   * Exit code, set if rows are not sent because they differ from their orders, or if a preview shows that sending would
   * fail.
   */
  readonly exitCode: number | undefined;
}

/**
 * Validates a file, shows its cost and obtains the user's consent to spend. Sends nothing. @returns undefined if the
 * shard has no row. @throws ErrandError.
 */
export async function prepareUpload(
  context: Context,
  source: Source,
  given: UploadGiven,
  { shard, checkRows, isShared = false }: Special,
): Promise<PreparedUpload | undefined> {
  const { batchSize = defaultBatchRows, run = '', skipInvalid = false, yes = false } = given;
  const { skipDuplicates = false, again = false } = given;
  const notifies = given.notifyOnComplete ?? false;
  const { options, flags: table } = await readReading(context, source, given);
  const warnings = new UploadWarnings();
  const check = await checkedFile(context, source, options, {
    skipInvalid,
    errors: given.errors,
    ...{ run, warnings, shard, checkRows, spare: source.spare },
    validate: `errand bulk validate ${shellWord(source.path)}${tableFlags(table)}`,
  });
  if (check.isEmptyShard()) return undefined;
  await readyToSend(context);
  const fingerprint = await check.fingerprint();
  const { name, facts: named } = await uploadName(context, {
    given: given.name,
    file: source.name,
    ...{ identity: fingerprint, shard },
  });
  const goesOn = await batchesOfInterrupted(context, name);
  const asked: RowsAsked = { door: 'upload', run, skipDuplicates, again, goesOn };
  const rows = {
    batches: () => check.batches(batchSize),
    isOfFile: ({ key }: Pick<Attempt, 'key'>) => warnings.hasKey(key) || warnings.hasKey(firstKeyOf(key)),
  };
  const decided = await decideRows(context, rows, asked);
  if (shard && shard.of > 1 && decided.unnamed > 0 && !context.settings.database)
    throw shardWithout(source, shard);
  if (decided.isBlocked) await leaveOutOrStop(context, decided, source.name);
  const preview = context.previewsRequests
    ? await previewSpend(context, { rows: decided.counts.new, cents: decided.cents.new })
    : undefined;
  const spend = preview?.spend ?? spendOfNew(check, decided);
  checkTotal(spend.estimate + againOf(check, decided), given.maxTotal);
  const leftOut = { count: check.tally.invalid, first: [...check.leftOut].sort((one, other) => one - other) };
  const from = {
    path: source.isPipe ? null : resolve(source.path),
    sha256: await sha256Of(source),
    table: {
      ...{ preset: options.preset?.name, map: options.map },
      isAsBefore: options.isAsBefore ?? false,
      ...referenceFlags(options.reference),
      ...{ ...options.cellFlags, amounts: options.amounts },
    },
    ...{ batchSize, run, skipInvalid, skipDuplicates, again, notifies, isShared },
    shard: shard && shardText(shard),
  };
  const upload = {
    ...{ name: source.name, batchSize, notifies, decided },
    namedUpload: {
      name,
      upload: {
        identity: fingerprint,
        file: source.name,
        rows: await rowsOfUpload(context, name, decided, batchSize),
        source: serializeSource(from, leftOut),
      },
      fileRows: () => withDecisions(check.rows(), decided),
    },
    ...consentOf(given),
  };
  const { counts } = decided;
  if (isShort(spend) && counts.inDoubt === 0) throw shortOf(context, spend);
  const lines = spendLines(source, check, spend, decided, shard);
  const warningLines = [...warnings.lines(), ...check.textLines(), ...(await differsLines(context, decided))];
  let wereShown = counts.new + counts.inDoubt === 0;
  if (!wereShown)
    await confirmSpending(context, {
      yes,
      question: placeQuestion(counts.new + counts.inDoubt),
      lines: async () => {
        wereShown = true;
        return [
          ...[...lines, ...warningLines].map((line) => `  ${line}`),
          ...(await policyLines(context, await proposedByUpload(context, upload))),
        ];
      },
    });
  const policy = context.previewsRequests
    ? await notePolicy(context, await proposedByUpload(context, upload), upload)
    : undefined;
  if (context.isRehearsal() || counts.new + counts.inDoubt === 0)
    for (const line of lines) context.note(line);
  if (!wereShown || counts.new + counts.inDoubt === 0) for (const line of warningLines) context.note(line);
  const facts = [...named, ...(check.tally.orders === check.tally.rows ? [] : lines.slice(0, 1))];
  const refused = counts.refused > 0 ? exitCodes.conflict : undefined;
  const exitCode = decided.unseen?.exitCode ?? preview?.exitCode ?? policy ?? refused;
  return { check, upload, facts, exitCode };
}

/**
 * Error for a shard whose rows have no references. Without a common database, machines recognize each other's orders
 * only by reference.
 */
const shardWithout = ({ name }: Source, shard: Shard): UsageError =>
  new UsageError(
    `--shard ${shardText(shard)} of ${name}: rows without a reference are compared with the orders of this machine alone`,
    {
      hint: 'Name the column that names each row with --reference-column, or a database that all machines share (ERRAND_DATABASE_URL).',
    },
  );

/** On a terminal, asks whether to continue with the other rows. @throws ErrandError conflict if nobody can answer. */
export async function leaveOutOrStop(
  context: Context,
  decided: DecidedRows,
  file: string,
  verb: 'order' | 'plan' = 'order',
): Promise<void> {
  const refusal = await blockedRows(context, decided, file);
  if (decided.unseen) {
    context.note(refusal.message);
    throw decided.unseen;
  }
  const others = decided.counts.new + decided.counts.inDoubt;
  if (!context.interactive.yes || refusal.facts.outcome !== 'not_sent' || others === 0) throw refusal;
  context.note(refusal.message.replace('; nothing was sent', ''));
  const question = `Leave ${decided.blocked === 1 ? 'this row' : 'these rows'} out, and ${verb} the other ${countText(others)}?`;
  if (await context.confirm(question)) return decided.leaveOut();
  const { facts } = refusal;
  throw new ErrandError('interrupted', 'nothing was ordered', {
    outcome: 'not_sent',
    ...(facts.next && { next: facts.next }),
  });
}

/**
 * Cost of the rows to send. The service's estimate is for all rows of the file. The fee per row is derived from that
 * estimate.
 */
export function spendOfNew({ spend, tally }: FileCheck, decided: DecidedRows): Spend {
  const { counts, cents } = decided;
  if (counts.new === tally.orders) return spend;
  return { ...spend, estimate: cents.new + Math.ceil(feeOf(spend, decided) * counts.new) };
}

/** The service's fee for a row, as the estimate of the whole file has it, in cents. */
const feeOf = ({ estimate }: Spend, { counts, cents }: DecidedRows): number =>
  Math.max(0, (estimate - cents.all) / Math.max(1, counts.rows));

/** What the rows in doubt may cost, which are sent again, with the service's fee for each. */
function againOf({ spend }: FileCheck, decided: DecidedRows): number {
  const again = decided.settling().flatMap(({ rows }) => rows);
  return ceilingsOf(again) + Math.ceil(feeOf(spend, decided) * again.length);
}

/** Journal keys of the batches of an interrupted upload; undefined if all of it was sent and reported. */
async function batchesOfInterrupted(
  context: Context,
  name: string,
): Promise<ReadonlySet<string> | undefined> {
  const known = await knownUpload(context, name);
  if (!known) return undefined;
  const keys = new Set(known.batches.map(({ key }) => key));
  if (unsentIn(known) > 0) return keys;
  const journal = await context.journal();
  return journal.list().some((record) => keys.has(record.key)) ? keys : undefined;
}

/** Number of the file's rows that the upload has sent or is going to send. */
async function rowsOfUpload(
  context: Context,
  name: string,
  decided: DecidedRows,
  batchSize: number,
): Promise<number> {
  const known = await knownUpload(context, name);
  const { counts } = decided;
  if (!known) return counts.new + counts.inDoubt;
  const numbers = new Set(known.batches.flatMap(({ layout }) => layout.numbers));
  for (const batch of decided.settling()) for (const number of batch.numbers) numbers.add(number);
  for await (const batch of decided.batches(batchSize))
    for (const number of batch.numbers) numbers.add(number);
  return numbers.size;
}

/** The rows of a file, each with the decision about it. */
async function* withDecisions(
  rows: AsyncIterable<readonly UploadFileRow[]>,
  { leftOut }: DecidedRows,
): AsyncGenerator<readonly UploadFileRow[]> {
  for await (const some of rows)
    yield some.map((row) => (row.leftOut ? row : { ...row, leftOut: leftOut.get(row.number) }));
}

export const placeQuestion = (rows: number): string =>
  `Place ${rows === 1 ? 'this order' : `these ${countText(rows)} orders`} with real money?`;

function spendLines(
  { name }: Source,
  { tally }: FileCheck,
  spend: Spend,
  { counts }: DecidedRows,
  shard: Shard | undefined,
): string[] {
  const counted = countsLine(counts);
  return [
    `${name}${shard ? `, shard ${shardText(shard)}` : ''}: ${leftOutText(tally) ?? rowsText(tally.orders)}`,
    ...(counted === undefined ? [] : [counted]),
    ...(counts.new > 0 ? [spendLine(spend)] : []),
  ];
}

export async function sha256Of(source: Source): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of (source.bytes ?? source.chunks)()) hash.update(chunk);
  return hash.digest('hex');
}

/** Options that determine an upload's batches, whether a plan or an upload makes them. */
export const uploadOptions = {
  batchSize: {
    kind: 'integer',
    min: 1,
    max: 5000,
    description: `rows in one request (default ${defaultBatchRows})`,
  },
  run: {
    kind: 'text',
    maxLength: 100,
    description: 'the same rows under another --run are new orders',
  },
  skipInvalid: { kind: 'flag', description: 'upload the valid rows of a file that has others too' },
} as const;

/** Options for rows that were ordered before. */
export const earlierOptions = {
  skipDuplicates: {
    kind: 'flag',
    description:
      'leave out the rows that are like earlier orders, or were cancelled or returned, and order the others',
  },
  again: { kind: 'flag', description: 'order again what was cancelled or sent back' },
} as const;

/** Option for the name by which later commands refer to the upload. */
export const nameOption = {
  name: {
    kind: 'text',
    placeholder: 'name',
    maxLength: 100,
    description: 'what the upload is called from now on (default: the name of its file)',
  },
} as const;

/** Options that make a process one of several workers. */
export const workerOptions = {
  share: {
    kind: 'flag',
    description: 'be one of several workers that upload it together, from a queue in the database',
  },
  rate: {
    kind: 'integer',
    min: 1,
    max: 1000,
    placeholder: 'n',
    description: 'with --share: requests a second of all workers together, at most',
  },
} as const;

/** Option for the caller's limit on the total cost of a command's orders. */
export const maxTotalOption = {
  maxTotal: {
    kind: 'money',
    description: "refuse all of it where the orders may cost more together: '$20,000'",
  },
} as const;

/**
 * @param cents is the maximum that the orders can cost together. @param maxTotal is the caller's limit, in cents.
 * @throws ErrandError if the cost exceeds the limit.
 */
export function checkTotal(cents: number, maxTotal: number | undefined): void {
  if (maxTotal === undefined || cents <= maxTotal) return;
  throw new ErrandError(
    'policy',
    `the orders may cost ${formatMoney(cents)}, and --max-total is ${formatMoney(maxTotal)}; nothing was sent`,
    {
      code: 'max_total_exceeded',
      outcome: 'not_sent',
      details: { total_cents: cents, max_total_cents: maxTotal },
      hint: 'Leave rows out, lower their ceilings, or raise --max-total.',
    },
  );
}
